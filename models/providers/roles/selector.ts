/** A language model compares two trajectories (METHOD 6). */
import { z } from 'zod';
import type { Candidate, ModelEndpoint, Selector, VoteLabel, VoteRequest } from '../../contract.ts';
import { type ChatReply, costOf } from '../client.ts';
import { createFence } from '../fence.ts';
import { observationText, shorten, traceText } from '../page-text.ts';
import { loadPiece, loadPrompt } from '../prompt.ts';
import { openRole } from '../role.ts';
import { outputSchema, parseReply } from '../structured-output.ts';

/** Characters of a candidate's last page and of its evidence sheet. */
const LONGEST_PAGE = 16_000;
const LONGEST_SHEET = 16_000;

const prompt = loadPrompt('selector');
const fences = loadPiece('fences');

const voteSchema = z.object({ reason: z.string(), vote: z.enum(['A', 'B', 'TIE']) });
const schema = { name: 'vote', schema: outputSchema(voteSchema) };

export function createProviderSelector(endpoint: ModelEndpoint): Selector {
  const role = openRole(endpoint, {
    name: 'selector',
    protocol: 1,
    prompts: [prompt, fences],
    wishes: { temperature: 'by call', maxOutputTokens: 1024, logProbs: false, tokenIds: false },
    timeoutMs: 180_000,
    streamed: false,
  });
  return {
    identity: role.identity,
    mostUsd: ({ incumbent, challenger }) =>
      role.mostUsd({ characters: candidateText(incumbent).length + candidateText(challenger).length }),
    vote: async (request, signal) => {
      const { task, incumbent, challenger, temperature, seed } = request;
      const fence = createFence(request);
      const [a, b] = isSwapped(request) ? [challenger, incumbent] : [incumbent, challenger];
      const { system, user } = prompt.fill({
        fences: fences.fill({}),
        task: task.instruction,
        a: fence.around('attempt A', candidateText(a)),
        b: fence.around('attempt B', candidateText(b)),
      });
      const reply = await role.ask({ system, user, schema, temperature, seed, request }, signal);
      return { ...readVote(reply, request), cost: costOf(endpoint, [reply], fence.flags(reply.text)) };
    },
  };
}

/** Odd votes show the challenger first. */
const isSwapped = ({ vote }: Pick<VoteRequest, 'vote'>): boolean => vote % 2 === 1;

/** In the terms of the contract, whatever the order in which the two were shown. */
export function readVote(
  reply: ChatReply,
  request: Pick<VoteRequest, 'vote'>,
): { readonly label: VoteLabel; readonly reason: string } {
  const parsed = parseReply(voteSchema, reply);
  if (!parsed.ok) return { label: 'INVALID', reason: parsed.problem };
  const { vote, reason } = parsed.value;
  const label = vote === 'TIE' || !isSwapped(request) ? vote : vote === 'A' ? 'B' : 'A';
  return { label, reason };
}

function candidateText({ sheet, trace, answer, finalObservation }: Candidate): string {
  const lines = sheet.lines.map(
    ({ pathKey, text, tier, weight, lift, pYes }) =>
      `- at ${pathKey}: ${JSON.stringify(text)} YES ${number(pYes)}, weight ${number(weight)}` +
      ` (${tier}, lift ${lift === null ? 'unknown' : number(lift)})`,
  );
  return [
    `Evidence sheet, in all ${number(sheet.evidence)}:`,
    shorten(lines.join('\n'), LONGEST_SHEET) || '(no certified question was asked)',
    'Actions:',
    traceText(trace),
    'Last page:',
    finalObservation === null ? '(not recorded)' : observationText(finalObservation, LONGEST_PAGE),
    answer === null ? 'No final answer.' : `Final answer: ${JSON.stringify(answer)}`,
  ].join('\n');
}

const number = (value: number): string => value.toFixed(2);
