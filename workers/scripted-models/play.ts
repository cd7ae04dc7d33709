/**
 * Scripted models: the embedded parts behind a wire. Whoever asks them over HTTP runs the real code of a role, from
 * its prompt to its parser, without a key, a GPU or a network.
 */
import type { Action } from '../../benchmarks/contract.ts';
import type { Judge, PolicyFactory, Proposer, Selector } from '../../models/contract.ts';
import { asAssertion, assertionsAbout, questionText } from '../../models/embedded/assertion-grammar.ts';
import { callMarks } from '../../models/providers/tool-call.ts';
import { evaluateAssertion } from '../../workflows/method/assertion.ts';
import type { SeenAtState } from '../../workflows/method/types.ts';
import { answerRequest, judgeRequest, policyRequest, proposeRequest, voteRequest } from './requests.ts';
import type { PlayedReply } from './wire.ts';

export interface ScriptedParts {
  readonly policies: PolicyFactory;
  readonly judge: Judge;
  readonly selector: Selector;
  readonly proposer: Proposer;
}

/** Answers a role's request, which a scripted model reads in place of its prompt. Throws for one that is none. */
export type Play = (role: string, request: unknown) => Promise<PlayedReply>;

export function playWith(parts: ScriptedParts): Play {
  const roles: Readonly<Record<string, (request: unknown) => Promise<PlayedReply>>> = {
    policy: (request) => act(parts.policies, request),
    judge: (request) => judge(parts.judge, request),
    'self-verifier': answer,
    selector: (request) => vote(parts.selector, request),
    proposer: (request) => propose(parts.proposer, request),
  };
  return async (role, request) => {
    const play = roles[role];
    if (play === undefined) throw new RangeError(`There is no role "${role}"`);
    return play(request);
  };
}

const never = new AbortController().signal;

// ---- policy ------------------------------------------------------------------------------------------------

/** The base policy, whatever name it is asked by. Its one token is the call that it chose. */
async function act(policies: PolicyFactory, json: unknown): Promise<PlayedReply> {
  const request = policyRequest.parse(json);
  const policy = await policies.open(null);
  const { action, tokenIds, logProbs } = await policy.decide(request, never);
  const text = callText(action);
  const [id = 0] = tokenIds;
  const [logProb = 0] = logProbs;
  const tokens = [
    token(text, logProb, id),
    // As real models do, it ends its turn with a token that is no part of the call.
    token('', 0, END_OF_TURN),
  ];
  return { text, tokens, promptTokenIds: [...Buffer.from(request.observation.url)] };
}

const END_OF_TURN = 1_000_000;

function callText({ tool, ...args }: Action): string {
  return `${callMarks.open}${JSON.stringify({ name: tool, arguments: args })}${callMarks.close}`;
}

const token = (text: string, logProb: number, id: number) => ({
  text,
  bytes: [...Buffer.from(text)],
  logProb,
  alternatives: [],
  id,
});

// ---- judge, self-verifier, selector, proposer ----------------------------------------------------------------

async function judge(part: Judge, json: unknown): Promise<PlayedReply> {
  const noPage = () => Promise.reject(new Error('A scripted judge reads no pages'));
  const { reply } = await part.judge(judgeRequest.parse(json), noPage, never);
  if (!reply.ok) return { text: reply.text };
  const attempts = reply.judged.map((judged, index) => ({ attempt: index + 1, ...judged }));
  return { text: JSON.stringify({ attempts }) };
}

const CERTAINTY = 0.9;

/** Questions as the scripted proposer words them; a model that does not know what is asked says NO. */
async function answer(json: unknown): Promise<PlayedReply> {
  const { seen, questions } = answerRequest.parse(json);
  const says = questions.every(({ text }) => holds(text, seen)) ? ['YES', ' Yes'] : ['NO', ' No'];
  const other = says[0] === 'YES' ? 'NO' : 'YES';
  const alternatives = [
    ...says.map((text) => ({ text, logProb: Math.log(CERTAINTY / says.length) })),
    { text: other, logProb: Math.log(1 - CERTAINTY) },
  ];
  const [text = ''] = says;
  return { text, tokens: [{ ...token(text, Math.log(CERTAINTY / says.length), 0), alternatives }] };
}

/** What nothing in the state suggests does not hold in it. */
function holds(text: string, seen: SeenAtState): boolean {
  const asked = assertionsAbout([seen]).find((node) => questionText(node) === text);
  return asked !== undefined && evaluateAssertion(asAssertion(asked), seen);
}

/** In the order in which the two were shown, as a model would see them. */
async function vote(part: Selector, json: unknown): Promise<PlayedReply> {
  const request = voteRequest.parse(json);
  const { label, reason } = await part.vote(request, never);
  const isSwapped = request.vote % 2 === 1;
  const shown = !isSwapped || label === 'TIE' ? label : label === 'A' ? 'B' : 'A';
  return { text: JSON.stringify({ reason, vote: shown }) };
}

/** Without the assertions that it has them from, so that the self-verifier has questions to answer. */
async function propose(part: Proposer, json: unknown): Promise<PlayedReply> {
  const request = proposeRequest.parse(json);
  const { drafts } = await part.propose(request, never);
  const questions = drafts.map(({ text, scope, polarity, groupId }) => ({
    pair: request.pairs.findIndex((pair) => pair.groupId === groupId) + 1,
    ...{ text, scope, polarity },
    assertion: null,
  }));
  return { text: JSON.stringify({ questions }) };
}
