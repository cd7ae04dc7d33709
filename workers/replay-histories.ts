/** Whether histories agree with the workflow code of this checkout (invariant 11). */
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { bundleWorkflowCode, DefaultLogger, Worker } from '@temporalio/worker';
import type { BlobStore, StoredHistory } from '../bank-store/contract.ts';
import { BlobAltered, BlobMissing } from '../bank-store/errors.ts';
import { codeVersion } from './code-version.ts';

/** A history to be replayed. */
export interface ReplayCase {
  readonly workflowId: string;
  /** Of the workers that took its decisions. */
  readonly codeVersions: readonly string[];
  readonly history: unknown;
}

/**
 * `replays`: this code takes every decision as it was recorded. `other_version`: it does not, and other code recorded
 * it, so that only that code can tell more. `differs`: it does not although this very code recorded it: the history
 * was tampered with, or the code is not deterministic. `altered`, `missing`: its blob is not what was exported.
 */
export type ReplayVerdict = 'replays' | 'other_version' | 'differs' | 'altered' | 'missing';

export interface ReplayResult {
  readonly workflowId: string;
  readonly verdict: ReplayVerdict;
  /** What went wrong; empty when it replays. */
  readonly detail: string;
}

/** Replays histories against the workflows of the project; one result each, in order. */
export async function replayHistories(
  projectDirectory: string,
  cases: readonly ReplayCase[],
): Promise<readonly ReplayResult[]> {
  if (cases.length === 0) return [];
  const workflowBundle = await bundleWorkflowCode({
    workflowsPath: join(projectDirectory, 'workflows/index.ts'),
    logger: new DefaultLogger('ERROR', () => {}),
  });
  const current = codeVersion(projectDirectory);
  const verdicts: ReplayResult[] = [];
  for (const one of cases) verdicts.push(await replayOne(workflowBundle, one, current));
  return verdicts;
}

type Bundle = Awaited<ReturnType<typeof bundleWorkflowCode>>;

async function replayOne(
  workflowBundle: Bundle,
  { workflowId, codeVersions, history }: ReplayCase,
  current: string,
): Promise<ReplayResult> {
  try {
    await Worker.runReplayHistory({ workflowBundle }, history, workflowId);
    return { workflowId, verdict: 'replays', detail: '' };
  } catch (error) {
    const others = codeVersions.filter((version) => version !== current);
    const detail = error instanceof Error ? error.message : String(error);
    if (others.length === 0) return { workflowId, verdict: 'differs', detail };
    return { workflowId, verdict: 'other_version', detail: `recorded by ${others.join(', ')}: ${detail}` };
  }
}

/** Replays exported histories. Bytes that are not what was exported are told apart before anything is replayed. */
export async function replayStored(
  projectDirectory: string,
  blobs: Pick<BlobStore, 'get'>,
  stored: readonly StoredHistory[],
): Promise<readonly ReplayResult[]> {
  const readable: ReplayCase[] = [];
  const unreadable: ReplayResult[] = [];
  for (const { workflowId, codeVersions, digest } of stored) {
    try {
      const history: unknown = JSON.parse((await promisify(gunzip)(await blobs.get(digest))).toString());
      readable.push({ workflowId, codeVersions, history });
    } catch (error) {
      unreadable.push({ workflowId, ...unreadableBecause(error) });
    }
  }
  return [...unreadable, ...(await replayHistories(projectDirectory, readable))];
}

function unreadableBecause(error: unknown): Pick<ReplayResult, 'verdict' | 'detail'> {
  if (error instanceof BlobMissing) return { verdict: 'missing', detail: error.message };
  if (error instanceof BlobAltered) return { verdict: 'altered', detail: error.message };
  throw error;
}
