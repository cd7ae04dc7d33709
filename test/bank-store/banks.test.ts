import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { BlobAltered, BlobMissing, StoredDataInvalid } from '../../bank-store/index.ts';
import type { BankSnapshot } from '../../workflows/method/types.ts';
import { certificate, createStorePlace, digestOfNothing, question, run, tracker } from './fixtures.ts';

const place = await createStorePlace();
const store = await place.openStore();
beforeAll(async () => {
  await store.createRun(run);
  await store.createRun({ ...run, id: 'run-2' });
});

const questions = [question('q_b'), question('q_a', { version: 2 }), question('q_a'), question('q_Z')];
const certificates = [
  certificate('q_b', 60),
  { ...certificate('q_a', 60), version: 2 },
  { ...certificate('q_a', 55), tier: 'path', key: 'p:mail.sandbox/b' },
  { ...certificate('q_a', 55), tier: 'path', key: 'p:mail.sandbox/B' },
  { ...certificate('q_a', 55), tier: 'host', key: 'h:mail.sandbox' },
] as const;

const snapshot: Omit<BankSnapshot, 'sha256'> = {
  schema: 1,
  constants: {
    certifier: 'default',
    alphaStar: 0.1,
    nMin: 50,
    liftMin: 0.02,
    thetaJ: 0.5,
    eta: 0.01,
    alphaMax: 0.2,
    suspend: 0.05,
    decay: 0.97,
    zRecent: 1.2815515655446004,
    grid: [0.2, 0.5, 0.9],
    bins: 41,
    aciWarmup: 9,
    bEps: 1e-9,
  },
  normaliser: {
    version: 1,
    hostRules: { version: 1, hostAliases: {}, hostRules: { 'x.example': { hashRoute: 'always' } } },
  },
  questions,
  certificates,
};

test('the digest is the sha256 of the canonical document, ordered as METHOD 1.1 says', async () => {
  const digest = await store.freezeBank(run.id, snapshot);
  const ordered = {
    ...snapshot,
    questions: [questions[3], questions[2], questions[1], questions[0]],
    certificates: [certificates[4], certificates[3], certificates[2], certificates[1], certificates[0]],
  };
  expect(digest).toBe(
    createHash('sha256')
      .update(canonicalize(ordered) ?? '')
      .digest('hex'),
  );
  expect(await store.loadBank(digest)).toEqual({ ...ordered, sha256: digest });
});

test('neither order, nor trackers, nor ids of the run change the digest', async () => {
  const digest = await store.freezeBank(run.id, snapshot);
  const order = fc.record({
    questions: fc.shuffledSubarray(questions, { minLength: 4 }),
    certificates: fc.shuffledSubarray([...certificates], { minLength: 5 }),
    groupIds: fc.array(fc.string()),
  });
  await fc.assert(
    fc.asyncProperty(order, async (shuffled) => {
      const named = shuffled.questions.map((each) => ({
        ...each,
        provenance: { ...each.provenance, rationaleId: 'run-2/group', groupIds: shuffled.groupIds },
      }));
      const same = { ...snapshot, ...shuffled, questions: named, trackers: [tracker('q_a', 3)] };
      const { groupIds: _, ...document } = same;
      expect(await store.freezeBank('run-2', document)).toBe(digest);
    }),
    { numRuns: 20 },
  );
});

test('whatever a bank decides with changes its digest', async () => {
  const digest = await store.freezeBank(run.id, snapshot);
  const changes: Partial<BankSnapshot>[] = [
    { constants: { ...snapshot.constants, eta: 0.02 } },
    { normaliser: { ...snapshot.normaliser, version: 2 } },
    { questions: questions.slice(1) },
    { questions: [question('q_b', { scope: '*.example*' }), ...questions.slice(1)] },
    {
      questions: [question('q_b', { provenance: { source: 'seed', parent: 'q_c' } }), ...questions.slice(1)],
    },
    { certificates: certificates.slice(1) },
    { certificates: [{ ...certificates[0], weight: 1e-17 }, ...certificates.slice(1)] },
  ];
  const digests = await Promise.all(
    changes.map((change) => store.freezeBank(run.id, { ...snapshot, ...change })),
  );
  expect(new Set([digest, ...digests]).size).toBe(changes.length + 1);
});

test('a bank that was altered, lost or never one is refused', async () => {
  const digest = await store.freezeBank(run.id, { ...snapshot, certificates: [] });
  const path = join(place.blobDirectory, digest.slice(0, 2), digest.slice(2, 4), digest);
  await writeFile(path, canonicalize({ ...snapshot, questions: [], certificates: [] }) ?? '');
  await expect(store.loadBank(digest)).rejects.toThrow(BlobAltered);
  await expect(store.loadBank(digestOfNothing('0'))).rejects.toThrow(BlobMissing);
  await expect(store.loadBank(await store.blobs.putJson({ schema: 1 }))).rejects.toThrow(StoredDataInvalid);
});
