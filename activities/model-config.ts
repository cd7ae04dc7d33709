/** Which model plays which role of a run, and what the run may cost. */
import { z } from 'zod';
import type { EndpointChoice } from '../models/contract.ts';

const embedded = z.strictObject({ provider: z.literal('embedded') });

const atMost = z.int().min(1).nullable().default(null);
const usdPerMillion = z.number().min(0);
const whenAsked = z.enum(['always', 'without-reasoning', 'never']);
const reasoningEffort = z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']);

const modelName = z.string().min(1);

/** Of a model server. Without a user or password: addresses are stored and shown, and no client sends these. */
export const modelAddressSchema = z
  .url({ protocol: /^https?$/, error: 'an address begins with http:// or https://' })
  .refine(
    (address) => !/^https?:\/\/[^/?#]*@/i.test(address),
    'an address has no password in it: put the key in an environment variable',
  );

const common = {
  baseUrl: z.exactOptional(modelAddressSchema),
  apiKeyVariable: z.exactOptional(
    z.string().regex(/^[A-Z][A-Z0-9_]*$/, 'the name of an environment variable, never the key itself'),
  ),
  temperature: z.exactOptional(z.number().min(0).max(2)),
  reasoningEffort: z.exactOptional(reasoningEffort),
  maxOutputTokens: z.exactOptional(z.int().min(1)),
  capabilities: z.exactOptional(
    z.strictObject({
      temperature: z.exactOptional(whenAsked),
      reasoningEfforts: z.exactOptional(z.array(reasoningEffort).readonly()),
      logProbs: z.exactOptional(whenAsked),
      tokenIds: z.exactOptional(z.boolean()),
      images: z.exactOptional(z.boolean()),
      api: z.exactOptional(z.enum(['chat', 'completions'])),
      stepScores: z.exactOptional(z.boolean()),
      seed: z.exactOptional(z.boolean()),
      structuredOutput: z.exactOptional(z.boolean()),
      toolCalls: z.exactOptional(z.enum(['native', 'text'])),
      scripted: z.exactOptional(z.boolean()),
    }),
  ),
  price: z.exactOptional(
    z.strictObject({ inputUsdPerMillion: usdPerMillion, outputUsdPerMillion: usdPerMillion }),
  ),
  limits: z.exactOptional(
    z.strictObject({ concurrency: atMost, requestsPerMinute: atMost, tokensPerMinute: atMost }),
  ),
};

const openai = z.strictObject({
  provider: z.literal('openai'),
  model: modelName,
  ...common,
}) satisfies z.ZodType<EndpointChoice>;

const anthropic = z.strictObject({
  provider: z.literal('anthropic'),
  /** The paper's judge. */
  model: modelName.default('claude-opus-4-6'),
  ...common,
}) satisfies z.ZodType<EndpointChoice>;

export const modelChoiceSchema = z.discriminatedUnion('provider', [embedded, openai, anthropic]);

export type ModelChoice = z.infer<typeof modelChoiceSchema>;

/** `none`: nobody learns; the run grows and certifies a bank around a policy that stays as it is. */
const trainerChoice = z.strictObject({ provider: z.enum(['embedded', 'none']) });

const role = modelChoiceSchema.prefault({ provider: 'embedded' });
const acting = { policy: role, selfVerifier: role };

export const trainModelsSchema = z
  .strictObject({
    ...acting,
    judge: role,
    proposer: role,
    trainer: trainerChoice.prefault({ provider: 'embedded' }),
  })
  .refine(({ policy, trainer }) => policy.provider === 'embedded' || trainer.provider !== 'embedded', {
    path: ['trainer'],
    message:
      'the embedded trainer trains the embedded policy only; set `trainer: { provider: none }` to leave the policy as it is',
  })
  .prefault({});

/** The judge is absent (invariant 9). */
export const evaluateModelsSchema = z.strictObject({ ...acting, selector: role }).prefault({});

/**
 * The roles of an experiment file. Roles left out follow another: the self-verifier is the policy's base model, the
 * selector the self-verifier's, the proposer the judge's.
 */
export const experimentModelsSchema = z
  .strictObject({
    policy: modelChoiceSchema.optional(),
    selfVerifier: modelChoiceSchema.optional(),
    selector: modelChoiceSchema.optional(),
    judge: modelChoiceSchema.optional(),
    proposer: modelChoiceSchema.optional(),
    trainer: trainerChoice.optional(),
  })
  .prefault({})
  .transform((given) => {
    const policy = given.policy ?? { provider: 'embedded' };
    const selfVerifier = given.selfVerifier ?? policy;
    const judge = given.judge ?? { provider: 'embedded' };
    const { selector = selfVerifier, proposer = judge, trainer = { provider: 'embedded' } } = given;
    return {
      train: { policy, selfVerifier, judge, proposer, trainer },
      evaluate: { policy, selfVerifier, selector },
    };
  });

const dollars = z.number().positive().nullable().default(null);

/** What every attempt together may cost; null: no ceiling. May be raised while the run is paused. */
export const ceilingsSchema = z
  .strictObject({
    /** Of one evaluation task, or of one training step's group. */
    usdPerTask: dollars,
    usdPerRun: dollars,
  })
  .prefault({});

export type Ceilings = z.infer<typeof ceilingsSchema>;
