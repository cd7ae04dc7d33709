/** Action scripts: the tool calls of a rollout, written down with words in place of refs (docs/scripts.md). */
import { z } from 'zod';
import type { Action, ActionResult, Observation, TraceStep } from '../../benchmarks/contract.ts';
import { refusalCodes } from '../../benchmarks/schemas.ts';
import { readYaml } from '../read-yaml.ts';
import { locate, locatorSchema, NotLocated } from './locate.ts';

const expectSchema = z.strictObject({
  /** What becomes of the action. */
  code: z.enum(['ok', ...refusalCodes]).default('ok'),
  /** A part of the result's note or message. */
  says: z.string().min(1).optional(),
  /** Stands in the text of the page afterwards. */
  text: z.string().min(1).optional(),
});

const expected = { expect: expectSchema.prefault({}) };
const on = { on: locatorSchema };

const stepSchema = z.discriminatedUnion('tool', [
  z.strictObject({
    tool: z.literal('click'),
    ...on,
    kind: z.enum(['single', 'double', 'right']).default('single'),
    ...expected,
  }),
  z.strictObject({
    tool: z.literal('type'),
    ...on,
    text: z.string(),
    clear: z.boolean().default(true),
    submit: z.boolean().default(false),
    ...expected,
  }),
  z.strictObject({ tool: z.literal('select'), ...on, option: z.string(), ...expected }),
  z.strictObject({ tool: z.literal('check'), ...on, checked: z.boolean().default(true), ...expected }),
  z.strictObject({ tool: z.literal('press'), key: z.string().min(1), ...expected }),
  z.strictObject({
    tool: z.literal('scroll'),
    on: locatorSchema.optional(),
    direction: z.enum(['up', 'down', 'left', 'right']).default('down'),
    ...expected,
  }),
  z.strictObject({ tool: z.literal('hover'), ...on, ...expected }),
  z.strictObject({ tool: z.literal('drag'), ...on, to: locatorSchema, ...expected }),
  z.strictObject({ tool: z.literal('back'), ...expected }),
  z.strictObject({ tool: z.literal('navigate'), url: z.string().min(1), ...expected }),
  z.strictObject({ tool: z.literal('tab'), index: z.int().min(0), ...expected }),
  z.strictObject({ tool: z.literal('find'), text: z.string().min(1), ...expected }),
  z.strictObject({ tool: z.literal('wait'), ...expected }),
  z.strictObject({ tool: z.literal('stop'), answer: z.string().nullable().default(null), ...expected }),
  z.strictObject({ tool: z.literal('infeasible'), reason: z.string(), ...expected }),
]);

const scriptSchema = z.strictObject({
  task: z.string().min(1),
  /** What the script shows, for its readers. */
  about: z.string().min(1).optional(),
  steps: z.array(stepSchema).min(1),
});

export type Script = z.infer<typeof scriptSchema>;
type ScriptStep = Script['steps'][number];

/** A script that does not fit the page: an element is missing, or a step did not do what the script expects. */
export class ScriptFailed extends Error {
  override readonly name = 'ScriptFailed';
}

/** Throws with the file's name and each offending field. */
export function readScript(path: string): Script {
  return readYaml(path, scriptSchema);
}

/**
 * The script's next action on the page as it stands; `stop` after its last step. Holds the step before to its
 * expectation first. Throws `ScriptFailed`.
 */
export function nextScriptAction(
  { steps }: Script,
  observation: Observation,
  history: readonly TraceStep[],
): Action {
  const before = steps[history.length - 1];
  const done = history.at(-1);
  if (before !== undefined && done !== undefined) {
    confirm(before, history.length, done.result, observation);
  }
  const step = steps[history.length];
  if (step === undefined) return { tool: 'stop', answer: null };
  try {
    return actionOf(step, observation);
  } catch (error) {
    if (!(error instanceof NotLocated)) throw error;
    throw new ScriptFailed(`step ${history.length + 1} (${step.tool}): ${error.message}`, { cause: error });
  }
}

function actionOf(step: ScriptStep, observation: Observation): Action {
  const { expect: _, ...call } = step;
  const refOf = (locator: Parameters<typeof locate>[1]) => locate(observation, locator).ref;
  switch (call.tool) {
    case 'click':
    case 'type':
    case 'select':
    case 'check':
    case 'hover': {
      const { on: where, ...rest } = call;
      return { ...rest, ref: refOf(where) };
    }
    case 'scroll':
      return { tool: 'scroll', ref: call.on ? refOf(call.on) : null, direction: call.direction };
    case 'drag':
      return { tool: 'drag', ref: refOf(call.on), toRef: refOf(call.to) };
    default:
      return call;
  }
}

function confirm(step: ScriptStep, number: number, result: ActionResult, { text }: Observation): void {
  const { expect } = step;
  const code = result.ok ? 'ok' : result.code;
  const said = (result.ok ? result.note : result.message) ?? '';
  const fail = (what: string): never => {
    throw new ScriptFailed(`step ${number} (${step.tool}) ${what}`);
  };
  if (code !== expect.code) fail(`ended with ${code} instead of ${expect.code}${said && `: ${said}`}`);
  if (expect.says !== undefined && !said.includes(expect.says)) {
    fail(`said ${JSON.stringify(said)}, not ${JSON.stringify(expect.says)}`);
  }
  if (expect.text !== undefined && !text.includes(expect.text)) {
    fail(`left a page without the text ${JSON.stringify(expect.text)}`);
  }
}
