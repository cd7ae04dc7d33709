/**
 * The contract's data as zod schemas: what comes out of blobs, rows, scripts and models is parsed here once.
 * Each is checked against the contract's type at compile time, so the two cannot drift.
 */
import { z } from 'zod';
import type {
  Action,
  ActionResult,
  ActionTarget,
  Evidence,
  Observation,
  RequestLog,
  Task,
  TraceStep,
} from './contract.ts';

const ref = z.string().min(1);

export const actionSchema: z.ZodType<Action> = z.discriminatedUnion('tool', [
  z.strictObject({ tool: z.literal('click'), ref, kind: z.enum(['single', 'double', 'right']) }),
  z.strictObject({
    tool: z.literal('type'),
    ref,
    text: z.string(),
    clear: z.boolean(),
    submit: z.boolean(),
  }),
  z.strictObject({ tool: z.literal('select'), ref, option: z.string() }),
  z.strictObject({ tool: z.literal('check'), ref, checked: z.boolean() }),
  z.strictObject({ tool: z.literal('press'), key: z.string().min(1) }),
  z.strictObject({
    tool: z.literal('scroll'),
    ref: ref.nullable(),
    direction: z.enum(['up', 'down', 'left', 'right']),
  }),
  z.strictObject({ tool: z.literal('hover'), ref }),
  z.strictObject({ tool: z.literal('drag'), ref, toRef: ref }),
  z.strictObject({ tool: z.literal('back') }),
  z.strictObject({ tool: z.literal('navigate'), url: z.string().min(1) }),
  z.strictObject({ tool: z.literal('tab'), index: z.int().min(0) }),
  z.strictObject({ tool: z.literal('find'), text: z.string().min(1) }),
  z.strictObject({ tool: z.literal('wait') }),
  z.strictObject({ tool: z.literal('stop'), answer: z.string().nullable() }),
  z.strictObject({ tool: z.literal('infeasible'), reason: z.string() }),
]);

/** Why an action was refused. */
export const refusalCodes = [
  'stale',
  'covered',
  'disabled',
  'not-editable',
  'no-such-option',
  'not-allowed',
  'not-found',
  'timeout',
  'invalid',
] as const;

export const actionResultSchema: z.ZodType<ActionResult> = z.discriminatedUnion('ok', [
  z.strictObject({ ok: z.literal(true), note: z.string().nullable() }),
  z.strictObject({
    ok: z.literal(false),
    code: z.enum(refusalCodes),
    message: z.string(),
  }),
]);

export const actionTargetSchema: z.ZodType<ActionTarget> = z.strictObject({
  role: z.string(),
  name: z.string(),
  context: z.string(),
});

export const traceStepSchema: z.ZodType<TraceStep> = z.strictObject({
  index: z.int().min(0),
  urlBefore: z.string(),
  urlAfter: z.string(),
  action: actionSchema,
  target: actionTargetSchema.nullable(),
  result: actionResultSchema,
});

export const observationSchema: z.ZodType<Observation> = z.strictObject({
  url: z.string(),
  title: z.string(),
  tabs: z.array(
    z.strictObject({ index: z.int().min(0), url: z.string(), title: z.string(), active: z.boolean() }),
  ),
  elements: z.array(
    z.strictObject({
      ref,
      role: z.string(),
      name: z.string(),
      value: z.string().nullable(),
      options: z.array(z.string()),
      states: z.array(
        z.enum([
          'checked',
          'unchecked',
          'selected',
          'expanded',
          'collapsed',
          'disabled',
          'focused',
          'on',
          'off',
          'required',
          'offscreen',
          'in-dialog',
        ]),
      ),
      context: z.string(),
      heading: z.string(),
      coveredBy: z.string().nullable(),
    }),
  ),
  text: z.string(),
  scroll: z.strictObject({ topPx: z.number(), heightPx: z.number(), viewportPx: z.number() }),
  truncated: z.boolean(),
  leftOut: z
    .array(
      z.strictObject({
        like: z.string(),
        heading: z.string(),
        rows: z.int().min(1),
        leftOut: z.int().min(1),
      }),
    )
    .exactOptional(),
});

export const evidenceSchema: z.ZodType<Evidence> = z.strictObject({
  taskId: z.string(),
  state: z.unknown(),
  finalUrl: z.string(),
  answer: z.string().nullable(),
  infeasible: z.boolean(),
});

export const requestLogSchema: z.ZodType<RequestLog> = z.strictObject({
  requests: z.array(
    z.strictObject({
      atMs: z.number(),
      method: z.string(),
      url: z.string(),
      status: z.int().nullable(),
      flags: z.array(z.string()),
    }),
  ),
  dropped: z.int().min(0),
});

export const taskSchema: z.ZodType<Task> = z.strictObject({
  id: z.string().min(1),
  benchmark: z.string().min(1),
  app: z.string().min(1),
  instruction: z.string().min(1),
  startUrl: z.url(),
  allowedHosts: z.array(z.string().min(1)),
  difficulty: z.enum(['easy', 'medium', 'hard', 'unrated']),
  split: z.enum(['train', 'heldout']),
  provenance: z.strictObject({ source: z.enum(['template', 'benchmark', 'synthesis']), ref: z.string() }),
  viewport: z.strictObject({ widthPx: z.int().positive(), heightPx: z.int().positive() }),
  maxSteps: z.int().positive(),
  expectsAnswer: z.boolean(),
  imageDigests: z.array(z.string()),
  suites: z.array(z.string()).exactOptional(),
  caveats: z
    .array(z.strictObject({ kind: z.enum(['vacuous', 'impossible', 'unsolved']), reason: z.string() }))
    .exactOptional(),
});
