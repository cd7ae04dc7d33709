import { trainConfigSchema } from '../run-config.ts';
import type { TrainerDependencies } from './dependencies.ts';

/** Averaging adapters means something only because all shards start from the same bytes (METHOD 5.6). */
export async function initialiseAdapter(
  { store, trainer }: TrainerDependencies,
  { runId }: { readonly runId: string },
): Promise<{ readonly adapterDigest: string | null }> {
  const run = await store.getRun(runId);
  const { shards, models } = trainConfigSchema.parse(run.config);
  if (models.trainer.provider === 'none') return { adapterDigest: null };
  const adapterDigest = await store.blobs.put(await trainer.initialAdapter([run.seed, 'initial adapter']));
  for (let shard = 0; shard < shards; shard += 1) {
    // No batch made it; its own digest stands in the batch's place.
    await store.publishAdapter(
      { runId, shard, step: -1 },
      { batchDigest: adapterDigest, digest: adapterDigest, metrics: null },
    );
  }
  return { adapterDigest };
}
