import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { collectDemoReport, type DemoReport, sumCosts } from '../../../cli/report/demo-report.ts';
import { renderDemoReport } from '../../../cli/report/render-demo-report.ts';
import { renderCosts } from '../../../cli/report/render-training.ts';
import { jsonLine, plainPaint } from '../../../cli/report/terminal-text.ts';
import {
  fabricateDemo,
  fabricateEvaluation,
  heldOut,
  openTestStore,
  success,
  type TestStore,
} from '../fabricated-runs.ts';

let place: TestStore;
let report: DemoReport;
const [won, kept] = heldOut;

beforeAll(async () => {
  place = await openTestStore();
  report = await collectDemoReport(place.store, await fabricateDemo(place.store, 'demo-s1-1'));
});
afterAll(() => place.close());

const arm = (name: string) => report.arms.find((each) => each.name === name);

describe('a demo report read from stored runs', () => {
  test('an unscored task stays in the denominator of all tasks and leaves that of scored ones', () => {
    expect(arm('base')?.rates).toMatchObject({
      ofAll: { successes: 1, total: 4 },
      ofScored: { successes: 1, total: 3 },
      unscored: { infra: 1 },
    });
    expect(arm('CLIFT')?.rates.unscored).toEqual({ blocked: 1 });
  });

  test('the CLIFT arm is the greedy rollout and the CTS arm the emitted one', () => {
    expect(arm('CLIFT')?.rates.ofAll?.successes).toBe(1);
    expect(arm('CLIFT+CTS')?.rates.ofAll?.successes).toBe(2);
    expect(arm('CLIFT')?.stepsOnSuccess).toBe(3);
    expect(arm('CLIFT+CTS')?.stepsOnSuccess).toBe(4);
  });

  test('a task without a verdict in one of two arms is no pair', () => {
    expect(arm('CLIFT+CTS')?.againstBase).toMatchObject({ pairs: 3, difference: { n: 3, mean: 1 / 3 } });
    expect(arm('base')?.againstBase).toBeNull();
  });

  test('what selection changed is counted app by app', () => {
    expect(report.selection).toEqual([
      { app: 'mail', improve: 1, tie: 1, regress: 0, unscored: 0, swapped: 1, tasks: 2 },
      { app: 'shop', improve: 0, tie: 1, regress: 0, unscored: 1, swapped: 0, tasks: 2 },
    ]);
  });

  test('only what differs from the paper is listed, with the kinds of run that had it', () => {
    const differences = Object.fromEntries(report.paperDifferences.map((each) => [each.name, each]));
    expect(Object.keys(differences).sort()).toEqual(['groupSize', 'nMin', 'quorum', 'rolloutBudget']);
    expect(differences['nMin']).toEqual({ name: 'nMin', value: 12, paper: 50, kinds: ['train', 'evaluate'] });
    expect(differences['rolloutBudget']).toMatchObject({ value: 2, kinds: ['evaluate'] });
  });

  test('means of the updates leave out the step that made none', () => {
    expect(report.training).toMatchObject({
      committed: 4,
      stepOutcomes: { updated: 3, below_quorum: 1 },
      rollouts: { success: 3, failure: 3, unscored: 2 },
      judgeScore: { first: 0.05, last: 0.35 },
    });
    expect(report.training.updates?.count).toBe(3);
    expect(report.training.updates?.verifierShare).toBeCloseTo(0.1, 12);
    expect(report.training.costs).toMatchObject([{ purpose: 'judge', calls: 1, costUsd: 0.25 }]);
  });

  test('a question is either certified or refused with its reasons, and retired ones are counted', () => {
    expect(report.bank.certified.map(({ text }) => text)).toEqual(['Did the page confirm the change?']);
    expect(report.bank.refused.map(({ source, nearest }) => [source, nearest?.reasons ?? null])).toEqual([
      ['cegar', ['n', 'lift']],
      ['seed', null],
    ]);
    expect(report.bank).toMatchObject({ sources: { seed: 3, cegar: 1 }, retired: 1, repaired: 0 });
  });

  test('the swap shown is one that won its task, with the differing answers first', () => {
    expect(report.swap).toMatchObject({
      taskId: won.id,
      change: 'improve',
      greedy: { outcome: { kind: 'failure' }, evidence: -0.4 },
      emitted: { outcome: { kind: 'success' }, evidence: 0.4 },
      evidence: [{ pathKey: 'mail.sandbox/list', weight: 0.4, greedy: 0, emitted: 1 }],
      comparisons: [{ swap: true, votes: [{ label: 'B' }, { label: 'B' }] }],
    });
    expect(report.swap?.emitted.trace).toHaveLength(5);
  });

  test('the text names every arm, both reasons of a refusal and the commands to go on with', () => {
    const text = renderDemoReport(
      report,
      { home: '/home/clift', blobDirectory: '/home/clift/blobs' },
      plainPaint,
    );
    for (const part of [
      'CLIFT+CTS',
      '1/4  25.0 %',
      'too few answers, no lift that way',
      'no judged answers',
      'the emitted rollout succeeds where the greedy one fails',
      `clift audit ${won.id}`,
      'clift bank show demo-s1-1',
    ]) {
      expect(text).toContain(part);
    }
  });

  test('the text never shows the password of the database', () => {
    const databaseUrl = 'postgres://clift:secret@db.example/clift';
    const text = renderDemoReport(report, { home: '/h', blobDirectory: '/h/blobs', databaseUrl }, plainPaint);
    expect(text).toContain('db.example/clift');
    expect(text).not.toContain('secret');
  });

  test('the document for programs says the same as the report', () => {
    expect(JSON.parse(jsonLine(report))).toEqual(JSON.parse(JSON.stringify(report)));
  });
});

describe('a demo report of unfinished runs', () => {
  test('a task without a result is counted as not finished', async () => {
    const adapter = { adapterDigest: null, bankDigest: null };
    const base = 'started-base';
    await fabricateEvaluation(place.store, base, adapter, {
      [kept.id]: { rollouts: [{ outcome: success, steps: 1 }], selected: 0 },
    });
    const { arms, swap, exampleTask } = await collectDemoReport(place.store, {
      base,
      clift: base,
      training: 'demo-s1-1',
    });
    expect(arms.map(({ rates }) => rates.unscored)).toEqual(Array(3).fill({ not_finished: 3 }));
    expect(arms[0]?.rates.ofAll).toMatchObject({ successes: 1, total: 4 });
    expect(swap).toBeNull();
    expect(exampleTask).toBe(won.id);
  });
});

test('what calls without a usable reply may have cost beside the sum is said, and only where there were any', () => {
  const cost = (lostReplies: number) => ({
    ...({ purpose: 'judge', calls: 9 } as const),
    ...{ inputTokens: 2, outputTokens: 3, costUsd: 1, lostReplies },
  });
  const shown = (...lost: readonly number[]) => renderCosts(lost.map(cost), plainPaint).join('\n');
  expect(shown(0, 0)).not.toContain('may have been paid for');
  expect(shown(0, 1)).toMatch(/\n1 more call gave no usable reply and may have been paid for$/);
  expect(shown(2, 1)).toContain('3 more calls gave no usable reply and may have been paid for');
});

test('a cost is unknown as soon as one price is', () => {
  const cost = {
    ...({ purpose: 'judge', calls: 1 } as const),
    ...{ inputTokens: 2, outputTokens: 3, costUsd: 1, lostReplies: 4 },
  };
  expect(sumCosts([[cost], [cost]])).toEqual([
    { ...cost, calls: 2, inputTokens: 4, outputTokens: 6, costUsd: 2, lostReplies: 8 },
  ]);
  expect(sumCosts([[cost], [{ ...cost, costUsd: null }]])[0]?.costUsd).toBeNull();
});
