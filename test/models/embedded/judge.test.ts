import { describe, expect, test } from 'vitest';
import type { Subgoal, TraceStep } from '../../../benchmarks/contract.ts';
import type { JudgedTrajectory } from '../../../models/contract.ts';
import { createRubricJudge } from '../../../models/embedded/judge.ts';
import { click, never, target, task, trace } from './support.ts';

const pressed = (name: string, weight: number): Subgoal => ({
  id: name,
  description: `pressed ${name}`,
  weight,
  reachedAt: (steps) => steps.find((step) => step.target?.name === name && step.result.ok)?.index ?? null,
});

const stopped: Subgoal = {
  id: 'stopped',
  description: 'stopped once the work was done',
  weight: 0.2,
  reachedAt: (steps) => {
    const last = steps.at(-1);
    return last?.action.tool === 'stop' && steps.at(-2)?.target?.name === 'Save' ? last.index : null;
  },
};

const rubric = [pressed('Open', 0.3), pressed('Save', 0.5), stopped, pressed('Delete everything', -0.5)];
const judge = createRubricJudge(() => rubric);

const press = (name: string, role = 'button') => ({ action: click('e'), target: target(role, name) });
const stop = { action: { tool: 'stop', answer: null } } as const;
const failing = { ...press('Save'), result: { ok: false, code: 'covered', message: 'News' } } as const;

const perfect = trace(press('Open', 'link'), press('Save'), stop);

/** The rubric judge reads traces only. */
const readNoPage = () => Promise.reject(new Error('the rubric judge reads no page'));

async function judgeAll(...traces: readonly (readonly TraceStep[])[]): Promise<readonly JudgedTrajectory[]> {
  const request = {
    task: task(),
    traces: traces.map((steps) => ({ steps, answer: null, observationDigests: [] })),
    repair: null,
  };
  const { reply } = await judge.judge(request, readNoPage, never);
  if (!reply.ok) throw new Error('the rubric judge always replies');
  return reply.judged;
}

const scoresOf = (judged: readonly JudgedTrajectory[]): number[] => judged.map(({ score }) => score);

test('every trajectory gets a score, every step one too, all in [0, 1]', async () => {
  const traces = [perfect, trace(stop), trace(press('Delete everything'), failing, stop), trace()];
  const judged = await judgeAll(...traces);
  expect(judged).toHaveLength(4);
  for (const [index, { score, stepScores }] of judged.entries()) {
    expect(stepScores).toHaveLength(traces[index]?.length ?? -1);
    for (const value of [score, ...stepScores]) {
      expect(value).toBeGreaterThanOrEqual(0);
      expect(value).toBeLessThanOrEqual(1);
    }
  }
});

describe('trajectory scores', () => {
  test('rise with what was reached', async () => {
    const scores = scoresOf(
      await judgeAll(
        trace(stop),
        trace(press('Open', 'link'), stop),
        trace(press('Open', 'link'), press('Save'), press('Sent', 'link'), stop),
        perfect,
      ),
    );
    expect(scores).toEqual(scores.toSorted((a, b) => a - b));
    expect(new Set(scores).size).toBe(4);
    expect(scores.at(-1)).toBe(1);
  });

  test('fall with mistakes, failed and repeated steps', async () => {
    const [best = 0, mistaken = 0, failed = 0, repeated = 0] = scoresOf(
      await judgeAll(
        perfect,
        trace(press('Open', 'link'), press('Delete everything'), press('Save'), stop),
        trace(press('Open', 'link'), failing, press('Save'), stop),
        trace(press('Open', 'link'), press('Open', 'link'), press('Save'), stop),
      ),
    );
    for (const worse of [mistaken, failed, repeated]) expect(worse).toBeLessThan(best);
    expect(mistaken).toBeLessThan(failed);
  });

  test('are comparative: the same trace scores higher beside a more wasteful one', async () => {
    const wasteful = trace(press('Open', 'link'), failing, press('Save'), stop);
    const worse = trace(press('Open', 'link'), failing, failing, failing, failing, press('Save'), stop);
    const [beside] = scoresOf(await judgeAll(wasteful, worse));
    const [alone] = scoresOf(await judgeAll(wasteful, perfect));
    expect(beside).toBeGreaterThan(alone ?? 1);
  });

  test('do not depend on the order of presentation', async () => {
    const other = trace(press('Save'), stop);
    const [a, b] = scoresOf(await judgeAll(perfect, other));
    expect(scoresOf(await judgeAll(other, perfect))).toEqual([b, a]);
  });
});

describe('step scores', () => {
  const stepScores = async (steps: readonly TraceStep[]) => (await judgeAll(steps))[0]?.stepScores ?? [];

  test('reward the step that reached a subgoal above one that only led there, and that above a detour', async () => {
    const [approach = 0, progress = 0] = await stepScores(trace(press('Inbox', 'link'), press('Save')));
    const [, detour = 0] = await stepScores(trace(press('Save'), press('Inbox', 'link')));
    expect(progress).toBeGreaterThan(approach);
    expect(approach).toBeGreaterThan(detour);
  });

  test('tell a stop with the work done from one that comes too soon', async () => {
    expect((await stepScores(perfect)).at(-1)).toBe(1);
    expect((await stepScores(trace(press('Open', 'link'), stop))).at(-1)).toBe(0);
  });

  test('still honour a late stop, but not what came between', async () => {
    const scores = await stepScores(trace(press('Open', 'link'), press('Save'), press('Star'), stop));
    expect(scores.at(-1)).toBe(1);
    expect(scores[2]).toBeLessThan(0.1);
  });

  test('give nothing for a mistake', async () => {
    expect(await stepScores(trace(press('Delete everything')))).toEqual([0]);
  });
});

test('a rationale names subgoals reached and missed, mistakes, and the first useless step', async () => {
  const steps = trace(press('Open', 'link'), failing, press('Delete everything'), stop);
  const [{ rationale } = { rationale: '' }] = await judgeAll(steps);
  expect(rationale).toContain('Reached: pressed Open.');
  expect(rationale).toContain('Missing: pressed Save; stopped once the work was done.');
  expect(rationale).toContain('Mistakes: pressed Delete everything.');
  expect(rationale).toContain('First useless step: 2. click button "Save"');
  expect(rationale).toContain('ended before the work was done');
});
