/**
 * Mines questions from trajectories that the bank fails to separate: assertions that hold more often in the better
 * one than in the worse one, or the other way round, over as many pairs as possible.
 */

import { evaluateAssertion } from '../../workflows/method/assertion.ts';
import { duplicateKind } from '../../workflows/method/duplicates.ts';
import { scopeMatchesState } from '../../workflows/method/scope.ts';
import type { AssertionNode } from '../../workflows/method/types.ts';
import type {
  ProposeRequest,
  Proposer,
  ProposerTrajectory,
  QuestionDraft,
  UndiscriminatedPair,
} from '../contract.ts';
import { asAssertion, assertionsAbout, namesLiterals, questionText } from './assertion-grammar.ts';
import { freeOfCharge } from './policy.ts';

interface Idea {
  readonly draft: QuestionDraft;
  /** Answer in the better trajectory minus that in the worse one, for each pair; in [-1, 1]. */
  readonly differences: readonly number[];
}

/** A pair that a chosen question separates needs the next one less. */
const separatedDiscount = 0.3;
/** Questions of one application must separate that much more than general ones to be preferred. */
const literalDiscount = 0.6;
/** Hosts without a certified question come first. */
const uncoveredBonus = 1.5;

export function createAssertionMiner(): Proposer {
  return {
    identity: { provider: 'embedded', model: 'assertion-miner', revision: '1' },
    propose: async (request) => ({ drafts: chooseDrafts(request), cost: freeOfCharge }),
  };
}

/** The best idea first; each further one for what is still mixed up. Fewer than asked when nothing is left. */
function chooseDrafts({ pairs, existing, uncoveredHosts, count }: ProposeRequest): QuestionDraft[] {
  const ideas = ideasOf(pairs).filter(
    ({ draft }) => !existing.some((question) => duplicateKind(draft, question) !== null),
  );
  const need = pairs.map(({ better, worse }) => better.judgeScore - worse.judgeScore);
  const chosen: QuestionDraft[] = [];
  while (chosen.length < count.max) {
    const open = ideas.filter(({ draft }) => chosen.every((other) => duplicateKind(draft, other) === null));
    const best = bestIdea(open, need, uncoveredHosts);
    if (best === null) break;
    chosen.push(best.draft);
    for (const [p, difference] of best.differences.entries()) {
      if (difference * best.draft.polarity > 0) need[p] = (need[p] ?? 0) * separatedDiscount;
    }
  }
  return chosen;
}

function ideasOf(pairs: readonly UndiscriminatedPair[]): Idea[] {
  const ideas = new Map<string, Idea>();
  for (const { better, worse } of pairs) {
    for (const { states } of [better, worse]) {
      for (const node of assertionsAbout(states)) {
        const scope = namesLiterals(node) ? (states[0]?.pages[0]?.hostKey ?? '*') : '*';
        const key = JSON.stringify([scope, node]);
        const idea = ideas.has(key) ? null : ideaOf(node, scope, pairs);
        if (idea !== null) ideas.set(key, idea);
      }
    }
  }
  return [...ideas.values()];
}

function ideaOf(node: AssertionNode, scope: string, pairs: readonly UndiscriminatedPair[]): Idea | null {
  const text = questionText(node);
  const differences = pairs.map(({ better, worse }) => {
    const [left, right] = [answerIn(better, node, scope), answerIn(worse, node, scope)];
    return left === null || right === null ? 0 : left - right;
  });
  const sum = differences.reduce((total, difference) => total + difference, 0);
  const widest = Math.max(...differences.map((difference) => difference * Math.sign(sum)));
  const source = pairs[differences.findIndex((difference) => difference * Math.sign(sum) === widest)];
  if (text === null || sum === 0 || source === undefined) return null;
  const polarity = sum > 0 ? 1 : -1;
  return {
    draft: { text, scope, polarity, assertion: asAssertion(node), groupId: source.groupId },
    differences,
  };
}

/** Share of the states in scope at which the assertion holds, as a tracker sees it; null if none is in scope. */
function answerIn({ states }: ProposerTrajectory, node: AssertionNode, scope: string): number | null {
  const inScope = states.filter((state) => scopeMatchesState(scope, state.pages));
  if (inScope.length === 0) return null;
  return inScope.filter((state) => evaluateAssertion(asAssertion(node), state)).length / inScope.length;
}

/** Ties go to the idea found first; null when none separates anything. */
function bestIdea(
  ideas: readonly Idea[],
  need: readonly number[],
  uncoveredHosts: readonly string[],
): Idea | null {
  let best: Idea | null = null;
  let bestValue = 0;
  for (const idea of ideas) {
    const value = worthOf(idea, need, uncoveredHosts);
    if (value > bestValue) [best, bestValue] = [idea, value];
  }
  return best;
}

/** What it separates in the right direction minus what it confuses. */
function worthOf(
  { draft, differences }: Idea,
  need: readonly number[],
  uncoveredHosts: readonly string[],
): number {
  const separated = differences.reduce(
    (sum, difference, p) => sum + difference * draft.polarity * (need[p] ?? 0),
    0,
  );
  const general = draft.scope === '*' ? 1 : literalDiscount;
  return separated * general * (uncoveredHosts.includes(draft.scope) ? uncoveredBonus : 1);
}
