import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import type { DemoReport } from '../../../cli/report/demo-report.ts';
import type { ReportedOutcome } from '../../../cli/report/evaluation-results.ts';
import type { PaperDifference } from '../../../cli/report/paper-differences.ts';
import { renderDemoReport } from '../../../cli/report/render-demo-report.ts';
import { plainPaint, WIDTH } from '../../../cli/report/terminal-text.ts';
import { outcomeRates } from '../../../workflows/method/rates.ts';
import { hostileText } from '../fabricated-runs.ts';

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 100 }),
  fc.constantFrom(
    hostileText,
    '',
    '\u001b]8;;http://evil\u0007link',
    '漢字'.repeat(40),
    '👩‍👩‍👧‍👦'.repeat(30),
  ),
);
const count = fc.nat(100_000);
const share = fc.double({ min: 0, max: 1, noNaN: true });
const signedShare = fc.double({ min: -1, max: 1, noNaN: true });
const known = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });

const outcome: fc.Arbitrary<ReportedOutcome> = fc.constantFrom(
  { kind: 'success' },
  { kind: 'failure' },
  { kind: 'unscored', cause: 'infra' },
  { kind: 'unscored', cause: 'insufficient_evidence' },
  { kind: 'unscored', cause: 'not_finished' },
);
const interval = fc.record({ n: count, mean: signedShare, low: signedShare, high: signedShare });
const costs = fc.array(
  fc.record({
    purpose: fc.constantFrom('policy', 'judge', 'selector'),
    ...{ calls: count, inputTokens: count, outputTokens: count, lostReplies: count },
    costUsd: known(fc.double({ min: 0, max: 1e6, noNaN: true })),
  }),
  { maxLength: 3 },
);
const training = fc.record({
  ...{ runId: text, seed: count, shards: count, steps: count, learningRate: share, committed: count },
  stepOutcomes: fc.constant({ updated: 3, below_quorum: 1 }),
  rollouts: fc.record({ success: count, failure: count, unscored: count }),
  judgeScore: fc.record({ first: known(share), last: known(share) }),
  updates: known(
    fc.record({
      count,
      ...{ reward: known(share), verifierShare: known(share), deadShare: known(share) },
      ...{ kl: known(share), clipShare: known(share) },
    }),
  ),
  costs,
  codeVersions: fc.constant([]),
});
const question = {
  ...{ id: text, version: count, text },
  polarity: fc.constantFrom(1 as const, -1 as const, 0 as const),
  source: fc.constantFrom('seed' as const, 'cegar' as const, 'repair' as const),
};
const tier = fc.constantFrom('path' as const, 'host' as const, 'global' as const);
const cell = { tier, key: text, n: count, lift: known(signedShare) };
const reasons = fc.subarray([
  'neutral',
  'n',
  'lift',
  'evidence',
  'recency',
  'suspended',
  'vetoed',
  'bank',
] as const);
const bank = fc.record({
  digest: known(fc.constant('ab'.repeat(32))),
  questions: count,
  certified: fc.array(
    fc.record({
      ...question,
      cells: fc.array(fc.record({ ...cell, weight: signedShare }), { minLength: 1, maxLength: 3 }),
    }),
    { maxLength: 20 },
  ),
  refused: fc.array(fc.record({ ...question, nearest: known(fc.record({ ...cell, reasons })) }), {
    maxLength: 20,
  }),
  sources: fc.constant({ seed: 4, cegar: 2 }),
  ...{ retired: count, repaired: count },
});
const rollout = fc.record({
  ...{
    rolloutId: text,
    outcome,
    trace: fc.array(text, { maxLength: 6 }),
    answer: known(text),
    evidence: signedShare,
  },
});
const swap = fc.record({
  ...{ taskId: text, instruction: text, greedy: rollout, emitted: rollout },
  change: fc.constantFrom('improve' as const, 'tie' as const, 'regress' as const, 'unscored' as const),
  evidence: fc.array(
    fc.record({ text, pathKey: text, weight: signedShare, greedy: known(share), emitted: known(share) }),
    { maxLength: 20 },
  ),
  comparisons: fc.array(
    fc.record({
      ...{ incumbent: text, challenger: text, swap: fc.boolean() },
      votes: fc.array(
        fc.record({ vote: fc.nat(2), label: fc.constantFrom('A' as const, 'B' as const, 'TIE' as const) }),
        {
          maxLength: 3,
        },
      ),
    }),
    { maxLength: 3 },
  ),
});
const parameter: fc.Arbitrary<PaperDifference['value']> = fc.oneof(
  ...[fc.constant(null), fc.boolean(), share, fc.constant('max1' as const), fc.constant([0.2, 0.5])],
);
const report: fc.Arbitrary<DemoReport> = fc.record({
  runs: fc.record({ base: text, clift: text, training: text }),
  paperDifferences: fc.array(
    fc.record({
      name: text,
      paper: parameter,
      value: parameter,
      kinds: fc.subarray(['train', 'evaluate'] as const),
    }),
    { maxLength: 3 },
  ),
  arms: fc.array(
    fc.record({
      ...{ name: text, runId: text, rates: fc.array(outcome, { maxLength: 40 }).map(outcomeRates) },
      stepsOnSuccess: known(fc.double({ min: 0, max: 100, noNaN: true })),
      againstBase: known(fc.record({ pairs: count, difference: known(interval) })),
    }),
    { maxLength: 4 },
  ),
  rolloutBudget: count,
  selection: fc.array(
    fc.record({
      app: text,
      improve: count,
      tie: count,
      regress: count,
      unscored: count,
      swapped: count,
      tasks: count,
    }),
    { maxLength: 3 },
  ),
  training,
  grpoTraining: known(training),
  evaluationCosts: costs,
  bank,
  ...{ swap: known(swap), exampleTask: known(text) },
  digests: fc.constant({ bank: null, adapter: 'cd'.repeat(32), selections: 'ef'.repeat(32) }),
});

const place = { home: '/home/clift', blobDirectory: '/home/clift/blobs' };

describe('the demo report on a terminal', () => {
  test('keeps to its width, shows no control character and no number that is none', () => {
    fc.assert(
      fc.property(report, (given) => {
        const rendered = renderDemoReport(given, place, plainPaint);
        const lines = rendered.split('\n');
        expect(lines.filter((line) => stringWidth(line) > WIDTH)).toEqual([]);
        expect(lines.filter((line) => /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(line))).toEqual([]);
        expect(rendered).not.toMatch(/\bNaN\b|\bundefined\b|\bInfinity\b|\[object/);
      }),
      { numRuns: 40 },
    );
  });
});
