import { z } from 'zod';
import { certify, certifyBank } from '../../workflows/method/certify.ts';
import type { Hyperparameters } from '../../workflows/method/hyperparameters.ts';
import { mergeTrackers } from '../../workflows/method/merge.ts';
import { emptyTracker, explainUpdate, updateTracker } from '../../workflows/method/tracker.ts';
import type {
  Polarity,
  Tracker,
  TrackerObservation,
  TrainedCertificate,
} from '../../workflows/method/types.ts';

const polarity = z.union([z.literal(1), z.literal(-1), z.literal(0)]);
const groups = z.array(z.array(z.tuple([z.number(), z.number()])));
const trackerInput = z.object({
  polarity,
  groups,
  mode: z.enum(['default', 'strict', 'naive', 'agreement']).default('default'),
});
const mergeInput = z.object({ shards: z.array(z.object({ polarity, groups })) });

type Groups = z.infer<typeof groups>;

/** State, forecast and certificate after every group; the naive rule's vectors list the certificates alone. */
export function runTracker(input: unknown, hyperparameters: Hyperparameters): unknown {
  const parsed = trackerInput.parse(input);
  const constants = { ...hyperparameters, certifier: parsed.mode };
  let tracker = fresh(parsed.polarity, constants);
  const trajectory = parsed.groups.map((group) => {
    const update = explainUpdate(tracker, observationsOf(group), constants);
    tracker = update.tracker;
    return {
      x: update.x,
      p: update.forecast?.p ?? null,
      err: update.forecast?.err ?? null,
      ...certificateOf(tracker, constants),
    };
  });
  return parsed.mode === 'naive' ? trajectory.map((row) => row.certified) : { trajectory, final: tracker };
}

export function runMerge(input: unknown, constants: Hyperparameters): unknown {
  const { shards } = mergeInput.parse(input);
  const merged = mergeTrackers(
    shards.map((shard) => replay(shard.polarity, shard.groups, constants)),
    constants,
  );
  const pooled = replay(
    shards[0]?.polarity ?? 0,
    shards.flatMap((shard) => shard.groups),
    constants,
  );
  return { merged, certificate: certificateOf(merged, constants), additiveFieldsEqualPooled: pooled };
}

function replay(sign: Polarity, history: Groups, constants: Hyperparameters): Tracker {
  return history.reduce(
    (tracker, group) => updateTracker(tracker, observationsOf(group), constants),
    fresh(sign, constants),
  );
}

const fresh = (sign: Polarity, constants: Hyperparameters): Tracker =>
  emptyTracker({ qid: 'q', version: 1, tier: 'global', key: '*', polarity: sign }, constants);

const observationsOf = (group: Groups[number]): TrackerObservation[] =>
  group.map(([pYes, judge]) => ({ pYes, judge }));

/** A bank of this one tracker, so that the strict rule applies as well. */
function certificateOf(
  tracker: Tracker,
  constants: Hyperparameters,
): TrainedCertificate & { readonly certified: boolean } {
  const [certificate = certify(tracker, constants)] = certifyBank([tracker], constants);
  return { ...certificate, certified: certificate.reasons.length === 0 };
}
