import type { BankStore, StepKey } from '../../bank-store/contract.ts';
import { certifyBank } from '../../workflows/method/certify.ts';
import type { Hyperparameters } from '../../workflows/method/hyperparameters.ts';
import { questionKey } from '../../workflows/method/lookup.ts';
import { mergeBanks, type ShardBank } from '../../workflows/method/merge-banks.ts';
import type { BankSnapshot, CertifierConstants } from '../../workflows/method/types.ts';
import { defaultUrlRules } from '../../workflows/method/url-state.ts';
import type { TrainingResult } from '../contracts.ts';
import { fault } from '../failures.ts';
import { type TrainConfig, trainConfigSchema } from '../run-config.ts';
import type { CpuDependencies } from './dependencies.ts';
import { withCurrentSigns } from './signed-trackers.ts';

/** The end of a run: adapters merged, shards' banks merged, certificates recomputed, bank frozen (METHOD 5.5, 5.6). */
export async function finishTraining(
  { store, mergeAdapters }: Pick<CpuDependencies, 'store' | 'mergeAdapters'>,
  { runId }: { readonly runId: string },
): Promise<TrainingResult> {
  const run = await store.getRun(runId);
  const config = trainConfigSchema.parse(run.config);
  const shards = Array.from({ length: config.shards }, (_, shard): StepKey => {
    return { runId, shard, step: config.steps - 1 };
  });
  const isTrained = config.models.trainer.provider !== 'none';
  const merged = isTrained
    ? await mergeAdapters(await readAdapters(store, shards), config.hyperparameters.adapterMerge)
    : null;
  const adapterDigest = merged === null ? null : await store.blobs.put(merged.adapter);
  const bankDigest = await store.freezeBank(runId, await mergedBank(store, shards, config));
  await store.finishRun(runId, { bankDigest, adapterDigest });
  return { bankDigest, adapterDigest, averagingError: merged?.averagingError ?? null };
}

async function readAdapters(store: BankStore, shards: readonly StepKey[]): Promise<readonly Uint8Array[]> {
  const adapters: Uint8Array[] = [];
  for (const at of shards) {
    const latest = await store.latestAdapter(at);
    if (latest === null) {
      throw fault(
        'NotFound',
        `shard ${at.shard} of run ${at.runId} has no adapter`,
        'The run was started without an initial adapter; start it again under a new name',
      );
    }
    adapters.push(await store.blobs.get(latest.digest));
  }
  return adapters;
}

async function mergedBank(
  store: BankStore,
  shards: readonly StepKey[],
  { hyperparameters }: TrainConfig,
): Promise<Omit<BankSnapshot, 'sha256'>> {
  const merged = mergeBanks(await Promise.all(shards.map((at) => shardBank(store, at))), hyperparameters);
  const questions = merged.questions.filter(({ status }) => status !== 'retired');
  const signs = new Map(questions.map(({ id, version, polarity }) => [questionKey(id, version), polarity]));
  return {
    schema: 1,
    constants: certifierConstants(hyperparameters),
    normaliser: { version: defaultUrlRules.version, hostRules: defaultUrlRules },
    questions,
    certificates: certifyBank(
      // What a shard learned under another sign speaks for no question of the merged bank.
      merged.trackers.filter(
        ({ qid, version, polarity }) => signs.get(questionKey(qid, version)) === polarity,
      ),
      hyperparameters,
    ),
  };
}

async function shardBank(store: BankStore, at: StepKey): Promise<ShardBank> {
  const { questions } = await store.snapshotAt(at);
  const trackers = withCurrentSigns(await store.trackers(at.runId, at.shard), questions);
  // Shards have no group in common: the shard is part of a group's id.
  return { shard: String(at.shard), groupIds: [], questions, trackers };
}

function certifierConstants(h: Hyperparameters): CertifierConstants {
  const { certifier, alphaStar, nMin, liftMin, thetaJ, eta, alphaMax } = h;
  const { suspend, decay, zRecent, grid, bins, aciWarmup, bEps } = h;
  return {
    ...{ certifier, alphaStar, nMin, liftMin, thetaJ, eta, alphaMax },
    ...{ suspend, decay, zRecent, grid, bins, aciWarmup, bEps },
  };
}
