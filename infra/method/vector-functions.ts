import { z } from 'zod';
import { nextAlpha } from '../../workflows/method/aci.ts';
import { stratifiedAdvantages } from '../../workflows/method/advantage.ts';
import { deficiency, groupDeficiency } from '../../workflows/method/deficiency.ts';
import { selectByEBh } from '../../workflows/method/e-bh.ts';
import { groupEvidence } from '../../workflows/method/group-evidence.ts';
import { grpoAdvantages } from '../../workflows/method/grpo.ts';
import type { Hyperparameters } from '../../workflows/method/hyperparameters.ts';
import { plainLift } from '../../workflows/method/lift.ts';
import { lookUp } from '../../workflows/method/lookup.ts';
import { policyLoss } from '../../workflows/method/loss.ts';
import { randomGenerator } from '../../workflows/method/random.ts';
import { recalibrate } from '../../workflows/method/recalibrate.ts';
import { discountedReturns } from '../../workflows/method/returns.ts';
import { scopeMatches } from '../../workflows/method/scope.ts';
import { decide, selectByChain } from '../../workflows/method/selection.ts';
import { tokenAdvantages } from '../../workflows/method/token-advantage.ts';
import { urlState } from '../../workflows/method/url-state.ts';
import { verifierScore } from '../../workflows/method/verifier-score.ts';
import { runPipeline } from './vector-pipeline.ts';
import { runMerge, runTracker } from './vector-trackers.ts';

/** Evaluates the input of one vector; throws where the input has not the function's form (METHOD 9). */
type VectorFunction = (input: unknown, constants: Hyperparameters) => unknown;

const numbers = z.array(z.number());
const rows = z.array(numbers);
const bit = z.union([z.literal(0), z.literal(1)]);
const vote = z.enum(['A', 'B', 'TIE', 'INVALID']);
const span = z.tuple([z.number(), z.number()]);

const liftInput = z.object({ obs: z.array(z.tuple([bit, z.number()])), polarity: z.number().optional() });
const evidenceInput = z.array(z.object({ a: z.array(bit), s: numbers }));
const aciInput = z.object({
  errs: z.array(bit),
  alpha1: z.number(),
  alphaStar: z.number(),
  eta: z.number(),
  alphaMax: z.number(),
});
const eBhInput = z.object({ logE: numbers, alpha: z.number() });
const consulted = z.object({
  weight: z.number(),
  vetoed: z.boolean().default(false),
  n: z.number().default(0),
});
const lookupInput = z.object({
  certs: z.record(z.string(), consulted),
  at: z.array(z.tuple([z.string(), z.string()])),
  vetoBlocks: z.boolean().default(true),
  blockFallbackAfter: z.number().nullable().default(null),
});
const scoreInput = z.object({
  items: z.array(z.array(z.tuple([z.number(), z.number()]))),
  normaliser: z.enum(['max1', 'sumAbs']).default('max1'),
  mode: z.enum(['signed', 'yesOnly']).default('signed'),
});
const advantagesInput = z.object({
  returns: rows,
  paths: z.array(z.array(z.string())),
  hosts: z.array(z.array(z.string())),
  trajectoryScores: numbers,
});
const returnsInput = z.object({
  r: numbers.optional(),
  r_short: numbers.optional(),
  r_long: numbers.optional(),
  gamma: z.number(),
});
const tokensInput = z.object({ length: z.number(), spans: z.array(span.nullable()), adv: numbers });
const lossInput = z.object({
  lpNew: rows,
  lpOld: rows,
  lpRef: rows.optional(),
  adv: rows,
  mask: z.array(z.array(bit)),
  spans: z.array(z.array(span)).optional(),
  epsLo: z.number(),
  epsHi: z.number(),
  kl: z.number(),
});
const deficiencyInput = z.object({ S: numbers, V: numbers });
const decideInput = z.array(
  z.object({ votes: z.array(vote), m: z.number(), guard: z.boolean().default(false) }),
);
const chainInput = z.object({
  n: z.number(),
  m: z.number(),
  guard: z.boolean().default(false),
  votes: z.record(z.string(), z.array(vote)),
});
const recalibrateInput = z.array(
  z.object({
    p: numbers,
    passed: z.array(z.union([bit, z.boolean()])),
    task: z.array(z.union([z.string(), z.number()])).optional(),
    polarity: z.union([z.literal(1), z.literal(-1), z.literal(0)]).default(0),
    guard: z.boolean().default(false),
    polarityMismatch: z.enum(['resign', 'veto']).default('resign'),
  }),
);

export const vectorFunctions: Readonly<Record<string, VectorFunction>> = {
  url_keys: (input) =>
    z
      .array(z.string())
      .parse(input)
      .map((url) => {
        const { hostKey, pathKey, canonical } = urlState(url);
        return { host: hostKey, path: pathKey, canonical };
      }),

  scope_match: (input) =>
    z
      .array(z.tuple([z.string(), z.string()]))
      .parse(input)
      .map(([scope, url]) => scopeMatches(scope, urlState(url))),

  lift: (input) => {
    const { obs, polarity = 1 } = liftInput.parse(input);
    const lift = plainLift(obs.map(([pYes, judge]) => ({ pYes, judge })));
    return { lift, signed: lift === null ? null : polarity * lift };
  },

  group_evidence: (input, constants) =>
    evidenceInput.parse(input).map(({ a, s }) =>
      groupEvidence(
        a.map((pYes, i) => ({ pYes, judge: s[i] ?? Number.NaN })),
        constants,
      ),
    ),

  aci_run: (input) => {
    const { errs, alpha1, ...constants } = aciInput.parse(input);
    const levels = [alpha1];
    for (const err of errs) levels.push(nextAlpha(levels.at(-1) ?? alpha1, err, constants));
    return levels;
  },

  tracker: runTracker,
  merge: runMerge,
  pipeline: runPipeline,

  e_bh: (input) => {
    const { logE, alpha } = eBhInput.parse(input);
    return selectByEBh(logE, alpha);
  },

  lookup: (input) => {
    const { certs, at, vetoBlocks, blockFallbackAfter } = lookupInput.parse(input);
    const byKey = new Map(
      Object.entries(certs).map(([key, c]) => [
        key,
        { ...c, reasons: c.weight === 0 ? (['lift'] as const) : [] },
      ]),
    );
    return at.map(([hostKey, pathKey]) => {
      const found = lookUp(
        byKey,
        { hostKey, pathKey },
        { vetoBlocksFallback: vetoBlocks, blockFallbackAfter },
      );
      return [found?.key ?? null, found?.certificate.weight ?? 0];
    });
  },

  verifier_score: (input) => {
    const { items, normaliser, mode } = scoreInput.parse(input);
    return items.map((item) =>
      verifierScore(
        item.map(([weight, pYes]) => ({ weight, pYes })),
        { normaliser, verifierScoreMode: mode },
      ),
    );
  },

  stratified_advantages: (input, constants) => {
    const { returns, paths, hosts, trajectoryScores } = advantagesInput.parse(input);
    const group = returns.map((values, i) => ({
      returns: values,
      states: (paths[i] ?? []).map((pathKey, t) => ({ pathKey, hostKey: hosts[i]?.[t] ?? '' })),
      score: trajectoryScores[i] ?? Number.NaN,
    }));
    const settled = stratifiedAdvantages(group, constants);
    return {
      advantages: settled.map((row) => row.map((step) => step.advantage)),
      levels: settled.map((row) => row.map((step) => step.level)),
    };
  },

  grpo_advantages: (input, constants) => rows.parse(input).map((scores) => grpoAdvantages(scores, constants)),

  returns: (input) => {
    const { r, r_short, r_long, gamma } = returnsInput.parse(input);
    const first = (norm: 'sum' | 'mean') =>
      [r_short ?? [], r_long ?? []].map((rewards) => discountedReturns(rewards, gamma, norm)[0] ?? null);
    return {
      sum: discountedReturns(r ?? [], gamma, 'sum'),
      mean: discountedReturns(r ?? [], gamma, 'mean'),
      sum_first: first('sum'),
      mean_first: first('mean'),
    };
  },

  token_advantages: (input) => {
    const { length, spans, adv } = tokensInput.parse(input);
    const { advantages, mask } = tokenAdvantages(length, spans, adv);
    return { adv: advantages, mask };
  },

  pg_loss: (input) => {
    const { lpNew, lpOld, lpRef, adv, mask, spans, epsLo, epsHi, kl } = lossInput.parse(input);
    const batch = lpNew.map((newLogProbs, i) => ({
      newLogProbs,
      oldLogProbs: lpOld[i] ?? [],
      advantages: adv[i] ?? [],
      mask: mask[i] ?? [],
      ...(lpRef ? { refLogProbs: lpRef[i] ?? [] } : {}),
      spans: spans?.[i] ?? [],
    }));
    const lossBy = (lossNorm: Hyperparameters['lossNorm']): number =>
      policyLoss(batch, { lossNorm, epsLow: epsLo, epsHigh: epsHi, kl }).loss;
    return { token: lossBy('token'), sequence: lossBy('sequence'), step: lossBy('step') };
  },

  deficiency: (input, constants) => {
    const { S, V } = deficiencyInput.parse(input);
    const group = groupDeficiency(S, V, constants);
    return { F: group.undiscriminated, D: group.total, delta: deficiency([group]), worst: group.worst };
  },

  cts_decide: (input) =>
    decideInput.parse(input).map(({ votes, m, guard }) => decide(votes, { votes: m, orderGuard: guard })),

  cts_chain: (input) => {
    const { n, m, guard, votes } = chainInput.parse(input);
    const chain = selectByChain(n, (i, c) => votes[`${i},${c}`] ?? [], { votes: m, orderGuard: guard });
    return {
      selected: chain.selected,
      log: chain.log.map(({ incumbent, challenger, decision, used }) => [
        incumbent,
        challenger,
        decision,
        used,
      ]),
    };
  },

  recalibrate: (input, constants) =>
    recalibrateInput.parse(input).map(({ p, passed, task, polarity, guard, polarityMismatch }, index) => {
      const sample = p.map((pYes, i) => ({
        pYes,
        passed: Boolean(passed[i]),
        taskId: String(task?.[i] ?? i),
      }));
      const { certificate } = recalibrate(
        { qid: 'q', version: 1, tier: 'global', key: '*', polarity },
        sample,
        { ...constants, recalibrationGuard: guard, polarityMismatch },
        randomGenerator(['vectors', index]),
      );
      return {
        lift: certificate.lift,
        weight: certificate.weight,
        certified: certificate.reasons.length === 0,
      };
    }),
};
