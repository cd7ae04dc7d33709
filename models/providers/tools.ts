/** The browser tools as models are told of them, and what they called as an action. */
import { z } from 'zod';
import type { Action } from '../../benchmarks/contract.ts';
import type { ToolDefinition } from './client.ts';

const ref = z.string().min(1).describe('ref of an element of the current observation, e.g. "e12"');

interface Tool {
  readonly description: string;
  readonly parameters: z.ZodType;
  /** Null: the arguments do not fit. */
  readonly read: (args: unknown) => Action | null;
}

function tool<T>(description: string, parameters: z.ZodType<T>, toAction: (args: T) => Action): Tool {
  const read = (args: unknown): Action | null => {
    const parsed = parameters.safeParse(args);
    return parsed.success ? toAction(parsed.data) : null;
  };
  return { description, parameters, read };
}

const none = z.object({});

const tools: Readonly<Record<string, Tool>> = {
  click: tool(
    'Click an element.',
    z.object({ ref, kind: z.enum(['single', 'double', 'right']).default('single') }),
    (args) => ({ tool: 'click', ...args }),
  ),
  type: tool(
    'Type text into a field; by default what it holds is replaced.',
    z.object({ ref, text: z.string(), clear: z.boolean().default(true), submit: z.boolean().default(false) }),
    (args) => ({ tool: 'type', ...args }),
  ),
  select: tool('Choose an option of a list box.', z.object({ ref, option: z.string() }), (args) => ({
    tool: 'select',
    ...args,
  })),
  check: tool('Set a check box or switch.', z.object({ ref, checked: z.boolean() }), (args) => ({
    tool: 'check',
    ...args,
  })),
  press: tool('Press a key, e.g. "Enter" or "Control+a".', z.object({ key: z.string().min(1) }), (args) => ({
    tool: 'press',
    ...args,
  })),
  scroll: tool(
    'Scroll the page, or an element.',
    z.object({ direction: z.enum(['up', 'down', 'left', 'right']), ref: ref.nullable().default(null) }),
    (args) => ({ tool: 'scroll', ...args }),
  ),
  hover: tool('Move the mouse over an element.', z.object({ ref }), (args) => ({ tool: 'hover', ...args })),
  drag: tool('Drag one element onto another.', z.object({ ref, toRef: ref }), (args) => ({
    tool: 'drag',
    ...args,
  })),
  back: tool('Go back to the page before.', none, () => ({ tool: 'back' })),
  navigate: tool('Open an address.', z.object({ url: z.string().min(1) }), (args) => ({
    tool: 'navigate',
    ...args,
  })),
  tab: tool('Switch to another tab.', z.object({ index: z.int().min(0) }), (args) => ({
    tool: 'tab',
    ...args,
  })),
  find: tool('Find text on the page and scroll to it.', z.object({ text: z.string().min(1) }), (args) => ({
    tool: 'find',
    ...args,
  })),
  wait: tool('Wait a moment.', none, () => ({ tool: 'wait' })),
  stop: tool(
    'End the task. The answer is what the task asks for, null if it asks for none.',
    z.object({ answer: z.string().nullable().default(null) }),
    (args) => ({ tool: 'stop', ...args }),
  ),
  infeasible: tool('End the task because it cannot be done.', z.object({ reason: z.string() }), (args) => ({
    tool: 'infeasible',
    ...args,
  })),
};

/** For servers that take tool calls out of the text themselves. */
export const toolDefinitions: readonly ToolDefinition[] = Object.entries(tools).map(
  ([name, { description, parameters }]) => {
    const { $schema, ...schema } = z.toJSONSchema(parameters, { io: 'input' });
    return { name, description, parameters: schema };
  },
);

/** For prompts: one line a tool, with the schema of its arguments. */
export const toolLines: string = toolDefinitions
  .map(({ name, description, parameters }) => `- ${name}: ${description} ${JSON.stringify(parameters)}`)
  .join('\n');

/** Null: there is no such tool, or its arguments do not fit. */
export function readAction(name: string, args: unknown): Action | null {
  return Object.hasOwn(tools, name) ? (tools[name]?.read(args) ?? null) : null;
}
