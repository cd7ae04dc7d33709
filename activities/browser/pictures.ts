import type { BlobStore } from '../../bank-store/contract.ts';
import type { ShownImage } from '../../models/contract.ts';
import { fault } from '../failures.ts';
import type { RolloutPlan } from './parts.ts';
import type { BrowserSession } from './session.ts';

/**
 * What a policy that looks at pages is shown beside the observation: the page with each ref around its element, then
 * the images that belong to the task. Empty for any other policy.
 */
export async function picturesFor(
  { policy, task }: Pick<RolloutPlan, 'policy' | 'task'>,
  blobs: BlobStore,
  session: BrowserSession,
): Promise<readonly ShownImage[]> {
  if (!policy.looksAtImages?.(task.benchmark)) return [];
  const page = shown(await session.screenshot({ marks: true }), 'The page, each element marked with its id');
  const { length } = task.imageDigests;
  const given = task.imageDigests.map(async (digest, index) =>
    shown(await blobs.get(digest), `Image ${index + 1} of ${length} that belongs to the task`),
  );
  return [page, ...(await Promise.all(given))];
}

function shown(bytes: Uint8Array, label: string): ShownImage {
  return { mediaType: mediaTypeOf(bytes, label), base64: Buffer.from(bytes).toString('base64'), label };
}

function mediaTypeOf(bytes: Uint8Array, label: string): ShownImage['mediaType'] {
  const head = Buffer.from(bytes.subarray(0, 12)).toString('latin1');
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (/^RIFF.{4}WEBP$/s.test(head)) return 'image/webp';
  throw fault('SpecInvalid', `${label} is no JPEG, PNG or WebP`, 'Convert it before the tasks are loaded.');
}
