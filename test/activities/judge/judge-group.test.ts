import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { createJudgeActivities } from '../../../activities/judge/index.ts';
import type { Judge, JudgeReply, JudgeRequest } from '../../../models/contract.ts';
import { createStorePlace, type Store } from '../../bank-store/fixtures.ts';
import { inActivity } from '../bank/in-activity.ts';
import {
  infra,
  type Member,
  playGroup,
  range,
  startTraining,
  type Training,
} from '../bank/training-scene.ts';

let store: Store;
beforeAll(async () => {
  store = await (await createStorePlace()).openStore();
});

const page = 'http://a.example/';

/** Its answer says which score it deserves; as many steps as its place in the group. */
const worth = (score: number, steps = 1): Member => ({
  urls: range(steps + 1).map(() => page),
  answer: String(score),
});

interface Bench {
  readonly asked: JudgeRequest[];
  judge(training: Training, step?: number): Promise<unknown>;
}

function seat(reply: (request: JudgeRequest, call: number) => unknown): Bench {
  const asked: JudgeRequest[] = [];
  const judge: Judge = {
    identity: { provider: 'test', model: 'scripted-judge', revision: '1' },
    judge: async (request) => {
      asked.push(request);
      // A judge behind an API gives whatever its model says.
      const json: JudgeReply = JSON.parse(JSON.stringify(reply(request, asked.length - 1)));
      return { reply: json, cost: { usage: { inputTokens: 1, outputTokens: 1 }, costUsd: 0 } };
    },
  };
  const activities = createJudgeActivities({
    store,
    judgeFor: () => judge,
    proposerFor: () => {
      throw new Error('nobody proposes here');
    },
  });
  return {
    asked,
    judge: (training, step = 0) =>
      inActivity(() => activities.judgeGroup({ runId: training.runId, groupId: training.groupId(step) })),
  };
}

/** Scores every trace by what it says, whatever its place. */
const fair = ({ traces }: JudgeRequest) => ({
  ok: true,
  judged: traces.map(({ answer, steps }) => ({
    score: Number(answer),
    stepScores: steps.map(({ index }) => index / 100),
    rationale: `deserves ${answer}`,
  })),
});

const answers = ({ traces }: JudgeRequest) => traces.map(({ answer }) => answer);

describe('judging a group', () => {
  it('gives each rollout its own judgement, whatever place it was shown at', async () => {
    const training = await startTraining(store, 'judge-order', { hyperparameters: { groupSize: 5 } });
    const bench = seat(fair);
    const scores = [0.1, 0.3, 0.5, 0.7, 0.9];
    for (const step of range(4)) {
      const rolloutIds = await playGroup(
        training,
        step,
        scores.map((score, index) => worth(score, index + 1)),
      );
      expect(await bench.judge(training, step)).toEqual({ ok: true, judged: 5, meanScore: 0.5 });
      const stored = await store.judgementsOf(training.groupId(step));
      expect(stored).toEqual(
        scores.map((score, index) => ({
          rolloutId: rolloutIds[index],
          score,
          stepScores: range(index + 1).map((t) => t / 100),
          rationale: `deserves ${score}`,
        })),
      );
    }
    const orders = bench.asked.map((request) => answers(request).join());
    expect(new Set(orders).size).toBeGreaterThan(1);
    expect(orders.some((order) => order !== scores.join())).toBe(true);
  });

  it('shows the same order in every run of the same seed, and another in one of another seed', async () => {
    const bench = seat(fair);
    const play = async (runId: string, seed: number) => {
      const training = await startTraining(store, runId, { seed, hyperparameters: { groupSize: 6 } });
      await playGroup(
        training,
        0,
        range(6).map((index) => worth(index / 10)),
      );
      await bench.judge(training);
    };
    await play('judge-seed-a', 1);
    await play('judge-seed-b', 1);
    await play('judge-seed-c', 2);
    const [a, b, c] = bench.asked.map(answers);
    expect(a).toEqual(b);
    expect(a).not.toEqual(c);
  });

  it('shows nobody a rollout without a verdict', async () => {
    const training = await startTraining(store, 'judge-unscored');
    const bench = seat(fair);
    const rolloutIds = await playGroup(training, 0, [
      worth(0.2),
      { ...worth(0.9), outcome: infra },
      worth(0.4),
    ]);
    expect(await bench.judge(training)).toMatchObject({ judged: 2 });
    expect(bench.asked.flatMap(answers).toSorted()).toEqual(['0.2', '0.4']);
    expect((await store.judgementsOf(training.groupId(0))).map(({ rolloutId }) => rolloutId)).toEqual([
      rolloutIds[0],
      rolloutIds[2],
    ]);
  });

  it('pays for one call, however often and however concurrently it is asked', async () => {
    const training = await startTraining(store, 'judge-once');
    const bench = seat(fair);
    await playGroup(training, 0, [worth(0.2), worth(0.4)]);
    const results = await Promise.all(range(3).map(() => bench.judge(training)));
    results.push(await bench.judge(training));
    for (const result of results) expect(result).toEqual(results[0]);
    expect(bench.asked).toHaveLength(1);
  });
});

describe('a reply that does not fit the group', () => {
  const judged = (change: object) => ({
    ok: true,
    judged: [
      { score: 0.5, stepScores: [0.5], rationale: '' },
      { score: 0.5, stepScores: [0.5], rationale: '', ...change },
    ],
  });

  it.each([
    ['a judgement too few', { ok: true, judged: judged({}).judged.slice(1) }],
    ['a judgement too many', { ok: true, judged: [...judged({}).judged, ...judged({}).judged] }],
    ['a score above 1', judged({ score: 1.01 })],
    ['a negative step score', judged({ stepScores: [-0.1] })],
    ['a step score too few', judged({ stepScores: [] })],
    ['a step score too many', judged({ stepScores: [0.5, 0.5] })],
    ['no score', judged({ score: null })],
    ['no rationale', judged({ rationale: null })],
    ['a reply that the judge itself refused', { ok: false, problem: 'no JSON', text: 'Sorry.' }],
    ['something else', 'Sorry.'],
  ])('is no judgement and never a number: %s', async (name, reply) => {
    const training = await startTraining(store, `judge-bad-${name}`);
    const bench = seat(() => reply);
    await playGroup(training, 0, [worth(0.2), worth(0.4)]);
    const result = await bench.judge(training);
    expect(result).toMatchObject({ ok: false });
    expect(await store.judgementsOf(training.groupId(0))).toEqual([]);
    // One attempt to repair it, which sees what was wrong; a repeat pays for neither again.
    expect(bench.asked.map(({ repair }) => repair?.ok)).toEqual([undefined, false]);
    expect(await bench.judge(training)).toEqual(result);
    expect(bench.asked).toHaveLength(2);
  });

  it('counts when the attempt to repair it succeeds', async () => {
    const training = await startTraining(store, 'judge-repaired');
    const bench = seat((request, call) => (call === 0 ? judged({ score: 7 }) : fair(request)));
    await playGroup(training, 0, [worth(0.25), worth(0.75)]);
    expect(await bench.judge(training)).toEqual({ ok: true, judged: 2, meanScore: 0.5 });
    expect(bench.asked[1]?.repair).toMatchObject({ problem: expect.stringContaining('score') });
  });

  it('is reported in less than 2 KB, whatever it says', async () => {
    const training = await startTraining(store, 'judge-long', { steps: 99 });
    let step = 0;
    const problem = fc.string({ unit: 'binary', minLength: 400, maxLength: 2000 });
    await fc.assert(
      fc.asyncProperty(problem, async (text) => {
        const bench = seat(() => ({ ok: false, problem: text, text }));
        await playGroup(training, step, [worth(0.2), worth(0.4)]);
        const result = await bench.judge(training, step);
        step += 1;
        expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(2048);
      }),
      { numRuns: 4, examples: [['\u0001'.repeat(2000)], ['\ud83d'.repeat(2000)]] },
    );
  });
});
