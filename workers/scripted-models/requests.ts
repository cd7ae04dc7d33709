/** The requests of the roles as they come over the wire to a scripted model. */
import { z } from 'zod';
import { questionSchema } from '../../bank-store/schemas/method.ts';
import { observationSchema, taskSchema, traceStepSchema } from '../../benchmarks/schemas.ts';
import type { JudgeRequest, PolicyRequest, ProposeRequest, VoteRequest } from '../../models/contract.ts';
import type { Question, SeenAtState } from '../../workflows/method/types.ts';

const seed = z.array(z.union([z.string(), z.number()]));
const score = z.number().min(0).max(1);
const answer = z.string().nullable();
const steps = z.array(traceStepSchema);

export const policyRequest: z.ZodType<PolicyRequest> = z.object({
  task: taskSchema,
  history: steps,
  observation: observationSchema,
  temperature: z.number().min(0),
  seed,
});

export const judgeRequest: z.ZodType<JudgeRequest> = z.object({
  task: taskSchema,
  traces: z.array(z.object({ steps, answer, observationDigests: z.array(z.string().nullable()) })),
  repair: z.object({ ok: z.literal(false), problem: z.string(), text: z.string() }).nullable(),
});

const seenSchema: z.ZodType<SeenAtState> = z.object({
  instruction: z.string(),
  pages: z.array(z.object({ hostKey: z.string(), pathKey: z.string(), canonical: z.string() })),
  steps: z.array(
    z.object({
      tool: z.string(),
      target: z.object({ role: z.string(), name: z.string() }).nullable(),
      value: z.string().nullable(),
      ok: z.boolean(),
      url: z.string(),
    }),
  ),
  elements: z.array(
    z.object({ role: z.string(), name: z.string(), value: z.string().nullable(), text: z.string() }),
  ),
  text: z.string(),
  answer,
});

export const answerRequest: z.ZodType<{
  readonly seen: SeenAtState;
  readonly questions: readonly Question[];
}> = z.object({ seen: seenSchema, questions: z.array(questionSchema) });

const candidate = z.object({
  sheet: z.object({
    rolloutId: z.string(),
    lines: z.array(
      z.object({
        pathKey: z.string(),
        questionId: z.string(),
        text: z.string(),
        tier: z.enum(['path', 'host', 'global']),
        weight: z.number(),
        lift: z.number().nullable(),
        pYes: score,
      }),
    ),
    evidence: z.number(),
  }),
  trace: steps,
  answer,
  finalObservation: observationSchema.nullable(),
});

export const voteRequest: z.ZodType<VoteRequest> = z.object({
  task: taskSchema,
  incumbent: candidate,
  challenger: candidate,
  vote: z.int().min(0),
  temperature: z.number().min(0),
  seed,
});

const trajectory = z.object({
  rolloutId: z.string(),
  judgeScore: score,
  rationale: z.string(),
  trace: steps,
  states: z.array(seenSchema),
});

export const proposeRequest: z.ZodType<ProposeRequest> = z.object({
  pairs: z.array(z.object({ groupId: z.string(), task: taskSchema, better: trajectory, worse: trajectory })),
  uncoveredHosts: z.array(z.string()),
  existing: z.array(questionSchema),
  count: z.object({ min: z.int(), max: z.int() }),
  seed,
});
