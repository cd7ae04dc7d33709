/** Documents of the method's vocabulary, as the store reads them back. */
import { z } from 'zod';
import type {
  Assertion,
  AssertionNode,
  BankSnapshot,
  Certificate,
  CertifierConstants,
  Provenance,
  Question,
  Tracker,
  UrlRules,
} from '../../workflows/method/types.ts';
import { schemaFor } from './schema-for.ts';

const polarity = z.union([z.literal(1), z.literal(-1), z.literal(0)]);

// ---- questions ---------------------------------------------------------------------------------------------

const actionTaken = z.strictObject({
  op: z.literal('actionTaken'),
  tool: z.string(),
  target: z.string().exactOptional(),
  value: z.string().exactOptional(),
  ok: z.boolean().exactOptional(),
});

const fieldValue = { op: z.literal('fieldValue'), label: z.string() };

const assertionNode: z.ZodType<AssertionNode> = z.lazy(() =>
  z.union([
    z.strictObject({ op: z.literal('urlMatches'), glob: z.string() }),
    z.strictObject({ op: z.literal('pathKeyIs'), key: z.string() }),
    z.strictObject({
      op: z.literal('elementText'),
      role: z.string().exactOptional(),
      name: z.string().exactOptional(),
      contains: z.string(),
    }),
    z.strictObject({ ...fieldValue, equals: z.string() }),
    z.strictObject({ ...fieldValue, contains: z.string() }),
    z.strictObject({ ...fieldValue, empty: z.boolean() }),
    actionTaken,
    z.strictObject({ op: z.literal('answerGiven') }),
    z.strictObject({ op: z.literal('answerContains'), text: z.string() }),
    z.strictObject({ op: z.literal('stepsAtLeast'), n: z.number() }),
    z.strictObject({ op: z.literal('and'), all: z.array(assertionNode) }),
    z.strictObject({ op: z.literal('or'), any: z.array(assertionNode) }),
    z.strictObject({ op: z.literal('not'), node: assertionNode }),
    z.strictObject({ op: z.literal('count'), of: actionTaken, atLeast: z.number() }),
    // biome-ignore lint/suspicious/noThenProperty: METHOD 1.5 names the field; a document is never awaited.
    z.strictObject({ op: z.literal('before'), first: actionTaken, then: actionTaken }),
  ]),
);

export const assertionSchema = schemaFor<Assertion>()(
  z.strictObject({ version: z.literal(1), root: assertionNode }),
);

export const provenanceSchema = schemaFor<Provenance>()(
  z.strictObject({
    source: z.enum(['seed', 'cegar', 'transfer', 'repair']),
    rationaleId: z.string().exactOptional(),
    parent: z.string().exactOptional(),
    step: z.int().exactOptional(),
    shard: z.string().exactOptional(),
    groupIds: z.array(z.string()).exactOptional(),
  }),
);

export const questionSchema = schemaFor<Question>()(
  z.strictObject({
    id: z.string().min(1),
    version: z.int().min(1),
    text: z.string(),
    scope: z.string(),
    polarity,
    status: z.enum(['candidate', 'neutral', 'contradicted', 'retired']),
    assertion: assertionSchema.exactOptional(),
    provenance: provenanceSchema,
  }),
);

// ---- the certifier -----------------------------------------------------------------------------------------

const cell = {
  schema: z.literal(1),
  qid: z.string(),
  version: z.int(),
  tier: z.enum(['path', 'host', 'global']),
  key: z.string(),
};

export const trackerSchema = schemaFor<Tracker>()(
  z.strictObject({
    ...cell,
    polarity,
    n: z.number(),
    n1: z.number(),
    n0: z.number(),
    S1: z.number(),
    S0: z.number(),
    groups: z.number(),
    informative: z.number(),
    sumC: z.number(),
    sumV: z.number(),
    logWp: z.array(z.number()),
    logWm: z.array(z.number()),
    hist: z.array(z.number()),
    ewN1: z.number(),
    ewN0: z.number(),
    ewS1: z.number(),
    ewS0: z.number(),
    ewX: z.number(),
    ewQ: z.number(),
    alpha: z.number(),
    aciT: z.number(),
    aciErr: z.number(),
    agreeErr: z.number(),
  }),
);

const certificateBase = {
  ...cell,
  weight: z.number().min(-1).max(1),
  lift: z.number().nullable(),
  n: z.number(),
  vetoed: z.boolean(),
  reasons: z.array(z.enum(['neutral', 'n', 'lift', 'evidence', 'recency', 'suspended', 'vetoed', 'bank'])),
};

export const certificateSchema = schemaFor<Certificate>()(
  z.discriminatedUnion('liftKind', [
    z.strictObject({
      ...certificateBase,
      liftKind: z.literal('trained'),
      logE: z.number(),
      logEminus: z.number(),
      z: z.number(),
      alpha: z.number(),
    }),
    z.strictObject({ ...certificateBase, liftKind: z.literal('recalibrated') }),
  ]),
);

const constantsSchema = schemaFor<CertifierConstants>()(
  z.strictObject({
    certifier: z.enum(['default', 'strict', 'naive', 'agreement']),
    alphaStar: z.number(),
    nMin: z.number(),
    liftMin: z.number(),
    thetaJ: z.number(),
    eta: z.number(),
    alphaMax: z.number(),
    suspend: z.number(),
    decay: z.number(),
    zRecent: z.number(),
    grid: z.array(z.number()),
    bins: z.number(),
    aciWarmup: z.number(),
    bEps: z.number(),
  }),
);

const urlRulesSchema = schemaFor<UrlRules>()(
  z.strictObject({
    version: z.literal(1),
    hostAliases: z.record(z.string(), z.string()),
    hostRules: z.record(
      z.string(),
      z.strictObject({
        hashRoute: z.enum(['auto', 'always', 'never']).exactOptional(),
        pathPatterns: z.array(z.string()).exactOptional(),
      }),
    ),
  }),
);

export const bankSnapshotSchema = schemaFor<BankSnapshot>()(
  z.strictObject({
    schema: z.literal(1),
    constants: constantsSchema,
    normaliser: z.strictObject({ version: z.number(), hostRules: urlRulesSchema }),
    questions: z.array(questionSchema),
    certificates: z.array(certificateSchema),
    trackers: z.array(trackerSchema).exactOptional(),
    sha256: z.string(),
  }),
);
