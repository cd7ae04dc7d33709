import { z } from 'zod';
import type { AdapterStore, BlobStore, PublishedAdapter, StepKey } from './contract.ts';
import { type Database, insertRows, only } from './database.ts';
import { BatchConflictError, BlobMissing } from './errors.ts';
import { digest, trainerMetricsSchema } from './schemas/rows.ts';
import { schemaFor } from './schemas/schema-for.ts';

const adapterRow = schemaFor<PublishedAdapter>()(
  z.object({ batchDigest: z.string(), digest, metrics: trainerMetricsSchema.nullable() }),
);

export function adapterStore(database: Database, blobs: BlobStore): AdapterStore {
  const published = (at: StepKey) =>
    database.rows(
      adapterRow,
      'select batch_digest, digest, metrics from adapters where run_id = $1 and shard = $2 and step = $3',
      [at.runId, at.shard, at.step],
    );

  return {
    publishAdapter: async (at, adapter) => {
      if (!(await blobs.has(adapter.digest))) {
        throw new BlobMissing(`adapter ${adapter.digest} is published before its blob: put the blob first`);
      }
      const { runId, shard, step } = at;
      await insertRows(database, 'adapters', [{ runId, shard, step, ...adapter }]);
      const stored = only(await published(at), `the adapter of ${describe(at)} vanished`);
      if (stored.batchDigest === adapter.batchDigest) return stored;
      throw new BatchConflictError(
        `${describe(at)} was updated with batch ${stored.batchDigest} before, now with ${adapter.batchDigest}: a training step is applied once; find out why its batch changed`,
      );
    },
    publishedAdapter: async (at) => (await published(at))[0] ?? null,
    latestAdapter: async ({ runId, shard, step }) => {
      const rows = await database.rows(
        z.object({ step: z.int(), digest }),
        `select step, digest from adapters where run_id = $1 and shard = $2 and step <= $3
          order by step desc limit 1`,
        [runId, shard, step],
      );
      return rows[0] ?? null;
    },
  };
}

const describe = ({ runId, shard, step }: StepKey) =>
  `training step ${step} of shard ${shard} of run "${runId}"`;
