import { beforeAll, describe, expect, it } from 'vitest';
import type { ComparisonResult } from '../../../activities/contracts.ts';
import { createLlmActivities } from '../../../activities/llm/index.ts';
import type { Selector, VoteLabel, VoteRequest } from '../../../models/contract.ts';
import { createEvidenceSelector } from '../../../models/embedded/index.ts';
import { translateFailure } from '../../../workers/failure-interceptor.ts';
import { createStorePlace, question, type Store } from '../../bank-store/fixtures.ts';
import { type EvaluationSketch, freezeBank, playEvaluation, task } from '../bank/evaluation-scene.ts';
import { inActivity } from '../bank/in-activity.ts';
import { inForce, type Member, range, startTraining } from '../bank/training-scene.ts';

let store: Store;
let bankDigest: string;
beforeAll(async () => {
  store = await (await createStorePlace()).openStore();
  await startTraining(store, 'votes-bank');
  bankDigest = await freezeBank(store, 'votes-bank', {
    questions: [question('q')],
    certificates: [inForce('q', 0.5)],
  });
});

const page = 'http://a.example/list';

const believing = (pYes: number): Member => ({
  ...{ urls: [page, page], answer: `believes ${pYes}` },
  answers: [{ url: page, qid: 'q', pYes }],
});

/** Votes as told, call by call. */
function voting(labels: readonly VoteLabel[]) {
  const asked: VoteRequest[] = [];
  const selector: Selector = {
    identity: { provider: 'test', model: 'scripted-selector', revision: '1' },
    vote: async (request) => {
      const label = labels[asked.length];
      asked.push(request);
      if (label === undefined) throw new Error('nobody should have asked for this vote');
      return { label, reason: 'as told', cost: { usage: { inputTokens: 1, outputTokens: 1 }, costUsd: 0 } };
    },
  };
  return { asked, cast: castWith(selector) };
}

function castWith(selector: Selector) {
  const activities = createLlmActivities({
    store,
    selfVerifierFor: () => {
      throw new Error('nobody answers here');
    },
    selectorFor: () => selector,
  });
  return (runId: string, rolloutIds: readonly string[]): Promise<ComparisonResult> => {
    const [incumbent = '', challenger = ''] = rolloutIds;
    return inActivity(() => activities.castVotes({ runId, taskId: task.id, incumbent, challenger }));
  };
}

const play = (runId: string, sketch: Partial<EvaluationSketch> = {}) =>
  playEvaluation(store, runId, { bankDigest, members: [believing(0), believing(1)], ...sketch });

describe('the votes of one comparison', () => {
  it.each([
    ['AA', false, 'AA'],
    ['BB', true, 'BB'],
    ['ABB', true, 'ABB'],
    ['ABA', false, 'ABA'],
    ['BTB', true, 'BTB'],
    ['TT', false, 'TT'],
    ['BTA', false, 'BTA'],
    // Each INVALID is asked for once more; the second reply counts.
    ['IBB', true, 'BB'],
    ['IIBII', false, 'IBI'],
    ['IIII', false, 'II'],
    ['BIIB', true, 'BIB'],
  ])('are asked for until the decision stands: %s', async (script, swap, counted) => {
    const names: Record<string, VoteLabel> = { A: 'A', B: 'B', T: 'TIE', I: 'INVALID' };
    const labels = (text: string) => [...text].flatMap((letter) => names[letter] ?? []);
    const rolloutIds = await play(`votes-${script}`);
    const { asked, cast } = voting(labels(script));
    const result = await cast(`votes-${script}`, rolloutIds);
    expect(result).toEqual({ swap, votes: labels(counted) });
    // A repeat finds every reply, the invalid ones too, in the journal.
    expect(await cast(`votes-${script}`, rolloutIds)).toEqual(result);
    expect(asked).toHaveLength(script.length);
  });

  it('need one from each order under the order guard', async () => {
    const rolloutIds = await play('votes-guard', { hyperparameters: { orderGuard: true } });
    const { cast } = voting(['B', 'A', 'B']);
    expect(await cast('votes-guard', rolloutIds)).toEqual({ swap: false, votes: ['B', 'A'] });
  });

  it('compare both evidence sheets, traces and final states', async () => {
    const rolloutIds = await play('votes-seen');
    const { asked, cast } = voting(['B', 'B']);
    await cast('votes-seen', rolloutIds);
    const [request] = asked;
    expect(request).toMatchObject({
      ...{ task: { id: task.id }, vote: 0, temperature: 0.7 },
      incumbent: { answer: 'believes 0', sheet: { rolloutId: rolloutIds[0], evidence: -0.5 } },
      challenger: { answer: 'believes 1', sheet: { rolloutId: rolloutIds[1], evidence: 0.5 } },
    });
    expect(request?.challenger.trace).toHaveLength(1);
    expect(request?.challenger.finalObservation?.url).toBe(page);
    expect(request?.challenger.sheet.lines).toEqual([
      expect.objectContaining({ questionId: 'q', tier: 'global', weight: 0.5, pYes: 1 }),
    ]);
  });

  it('are seeded by generation order and vote, whatever the run is called', async () => {
    const seeds = [];
    for (const runId of ['votes-seeds-a', 'votes-seeds-b']) {
      const rolloutIds = await play(runId, {
        seed: 9,
        members: [believing(0), believing(0.5), believing(1)],
      });
      const { asked, cast } = voting(['INVALID', 'A', 'B', 'A']);
      await cast(runId, [rolloutIds[0] ?? '', rolloutIds[2] ?? '']);
      seeds.push(asked.map(({ seed }) => seed));
    }
    expect(seeds[0]).toEqual(seeds[1]);
    expect(seeds[0]).toEqual([
      [9, task.id, 0, 2, 0],
      [9, task.id, 0, 2, 0, 'again'],
      [9, task.id, 0, 2, 1],
      [9, task.id, 0, 2, 2],
    ]);
  });

  it('of the embedded selector follow the evidence, alike in runs of equal seed', async () => {
    const cast = castWith(createEvidenceSelector());
    let swaps = 0;
    for (const seed of range(6)) {
      const results = [];
      for (const name of ['a', 'b']) {
        const runId = `votes-embedded-${seed}-${name}`;
        results.push(await cast(runId, await play(runId, { seed })));
      }
      expect(results[1]).toEqual(results[0]);
      if (results[0]?.swap) swaps += 1;
    }
    // With an evidence difference of 1 each vote is for the challenger with probability 0.986 (METHOD 6.1).
    expect(swaps).toBe(6);
  });

  it('wait until a bank whose file is gone is back', async () => {
    const rolloutIds = await play('votes-lost-bank', { bankDigest: 'a'.repeat(64) });
    const failure = await voting([]).cast('votes-lost-bank', rolloutIds).catch(translateFailure);
    expect(failure).toMatchObject({ type: 'BasisLost', nonRetryable: true });
  });

  it('cannot be had without a bank', async () => {
    const rolloutIds = await play('votes-no-bank', { bankDigest: null });
    const failure = await voting([]).cast('votes-no-bank', rolloutIds).catch(translateFailure);
    expect(failure).toMatchObject({ type: 'SpecInvalid', nonRetryable: true });
  });
});
