import type { BankSnapshot, Certificate, Question } from '../workflows/method/types.ts';
import type { BankDocuments, BlobStore } from './contract.ts';
import { type Database, insertRows } from './database.ts';
import { StoredDataInvalid } from './errors.ts';
import { bankSnapshotSchema } from './schemas/method.ts';

export function bankDocuments(database: Database, blobs: BlobStore): BankDocuments {
  return {
    freezeBank: async (runId, snapshot) => {
      const digest = await blobs.putJson(bankDocument(snapshot));
      await insertRows(database, 'banks', [{ runId, digest }]);
      return digest;
    },
    loadBank: async (digest) => {
      const document = documentSchema.safeParse(await blobs.getJson(digest));
      if (document.success) return { ...document.data, sha256: digest };
      throw new StoredDataInvalid(`blob ${digest} is no frozen bank: ${document.error.message}`);
    },
  };
}

const documentSchema = bankSnapshotSchema.omit({ sha256: true, trackers: true });

/** What the bank digest is taken over: METHOD 1.1 and invariant 8. Equal banks of different runs are equal bytes. */
function bankDocument({
  schema,
  constants,
  normaliser,
  questions,
  certificates,
}: Omit<BankSnapshot, 'sha256'>) {
  return {
    schema,
    constants,
    normaliser,
    questions: questions.map(withoutRunIds).sort(byQuestion),
    certificates: certificates.toSorted(byCell),
  };
}

function withoutRunIds(question: Question): Question {
  const { rationaleId: _, groupIds: __, ...provenance } = question.provenance;
  return { ...question, provenance };
}

const byQuestion = (a: Question, b: Question) => compare(a.id, b.id) || a.version - b.version;

const byCell = (a: Certificate, b: Certificate) =>
  compare(a.qid, b.qid) || a.version - b.version || compare(a.tier, b.tier) || compare(a.key, b.key);

/** By UTF-16 code units, as RFC 8785 orders keys: no locale takes part. */
const compare = (a: string, b: string) => (a < b ? -1 : Number(a > b));
