import { z } from 'zod';
import type { BankStore, PublishedAdapter } from '../../bank-store/contract.ts';
import type { Batch, TrainerSettings } from '../../models/contract.ts';
import { readBasis } from '../basis.ts';
import type { GpuActivities } from '../contracts.ts';
import { fault } from '../failures.ts';
import { withHeartbeat } from '../heartbeat.ts';
import { type TrainConfig, trainConfigSchema } from '../run-config.ts';
import type { TrainerDependencies } from './dependencies.ts';

type Input = Parameters<GpuActivities['updateAdapter']>[0];
type Result = Awaited<ReturnType<GpuActivities['updateAdapter']>>;

/**
 * One optimiser step, applied exactly once (invariant 4): a retry finds the published adapter; one that died before
 * publication starts from the same bytes, and the row, not the computation, is what counts.
 */
export function updateAdapter({ store, trainer }: TrainerDependencies, input: Input): Promise<Result> {
  const { batchDigest, ...at } = input;
  return withHeartbeat(async (signal) => {
    const published = await store.publishedAdapter(at);
    if (published !== null) {
      // Raises the store's conflict if the step was published for another batch.
      return resultOf(await store.publishAdapter(at, { ...published, batchDigest }));
    }
    const run = await store.getRun(at.runId);
    const batch = batchSchema.parse(await store.blobs.getJson(batchDigest));
    const { adapter, metrics } = await trainer.update(
      {
        batch,
        adapter: await actingAdapter(store, batch),
        readPrompt: (digest) => store.blobs.getJson(digest),
        settings: settingsOf(trainConfigSchema.parse(run.config)),
      },
      signal,
    );
    const digest = await store.blobs.put(adapter);
    return resultOf(await store.publishAdapter(at, { batchDigest, digest, metrics }));
  });
}

async function actingAdapter(store: BankStore, { adapterDigest, runId }: Batch): Promise<Uint8Array> {
  if (adapterDigest !== null) return readBasis(store.blobs.get(adapterDigest));
  throw fault('NotFound', `run ${runId} acts without an adapter`, 'Start the run again under a new name');
}

function settingsOf({ trainer, hyperparameters }: TrainConfig): TrainerSettings {
  const { epsLow, epsHigh, kl, lossNorm } = hyperparameters;
  return { ...trainer, epsLow, epsHigh, kl, lossNorm };
}

function resultOf({ digest, metrics }: PublishedAdapter): Result {
  return {
    adapterDigest: digest,
    loss: metrics?.loss ?? 0,
    kl: metrics?.kl ?? 0,
    clipShare: metrics?.clipShare ?? 0,
  };
}

const span = z.tuple([z.int().min(0), z.int().min(1)]).readonly();

const batchSchema: z.ZodType<Batch> = z.strictObject({
  version: z.literal(1),
  runId: z.string(),
  shard: z.int().min(0),
  trainingStep: z.int().min(0),
  adapterDigest: z.string().nullable(),
  steps: z.array(
    z.strictObject({
      rolloutId: z.string(),
      index: z.int().min(0),
      promptDigest: z.string(),
      tokenIds: z.array(z.int()),
      oldLogProbs: z.array(z.number()),
      toolCallSpan: span.nullable(),
      advantage: z.number(),
    }),
  ),
  summary: z.strictObject({ reward: z.number(), verifier: z.number(), deadShare: z.number() }),
});
