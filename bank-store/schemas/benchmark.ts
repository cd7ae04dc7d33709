/** Documents of the benchmark contract, as the store reads them back. */
import { z } from 'zod';
import type { Action, ActionResult, ActionTarget, GuardFlag, Task } from '../../benchmarks/contract.ts';
import { schemaFor } from './schema-for.ts';

const ref = z.string();

export const actionSchema = schemaFor<Action>()(
  z.discriminatedUnion('tool', [
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
    z.strictObject({ tool: z.literal('press'), key: z.string() }),
    z.strictObject({
      tool: z.literal('scroll'),
      ref: ref.nullable(),
      direction: z.enum(['up', 'down', 'left', 'right']),
    }),
    z.strictObject({ tool: z.literal('hover'), ref }),
    z.strictObject({ tool: z.literal('drag'), ref, toRef: z.string() }),
    z.strictObject({ tool: z.literal('back') }),
    z.strictObject({ tool: z.literal('navigate'), url: z.string() }),
    z.strictObject({ tool: z.literal('tab'), index: z.int() }),
    z.strictObject({ tool: z.literal('find'), text: z.string() }),
    z.strictObject({ tool: z.literal('wait') }),
    z.strictObject({ tool: z.literal('stop'), answer: z.string().nullable() }),
    z.strictObject({ tool: z.literal('infeasible'), reason: z.string() }),
  ]),
);

export const actionTargetSchema = schemaFor<ActionTarget>()(
  z.strictObject({ role: z.string(), name: z.string(), context: z.string() }),
);

export const actionResultSchema = schemaFor<ActionResult>()(
  z.discriminatedUnion('ok', [
    z.strictObject({ ok: z.literal(true), note: z.string().nullable() }),
    z.strictObject({
      ok: z.literal(false),
      code: z.enum([
        'stale',
        'covered',
        'disabled',
        'not-editable',
        'no-such-option',
        'not-allowed',
        'not-found',
        'timeout',
        'invalid',
      ]),
      message: z.string(),
    }),
  ]),
);

export const guardFlagSchema = schemaFor<GuardFlag>()(
  z.strictObject({
    rule: z.string(),
    detail: z.string(),
    invalidates: z.boolean(),
  }),
);

export const taskSchema = schemaFor<Task>()(
  z.strictObject({
    id: z.string().min(1),
    benchmark: z.string(),
    app: z.string(),
    instruction: z.string(),
    startUrl: z.string(),
    allowedHosts: z.array(z.string()),
    difficulty: z.enum(['easy', 'medium', 'hard']),
    split: z.enum(['train', 'heldout']),
    provenance: z.strictObject({ source: z.enum(['template', 'benchmark', 'synthesis']), ref: z.string() }),
    viewport: z.strictObject({ widthPx: z.number(), heightPx: z.number() }),
    maxSteps: z.int(),
    expectsAnswer: z.boolean(),
    imageDigests: z.array(z.string()),
  }),
);
