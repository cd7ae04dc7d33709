/** A model that needs no time: reads the next link of a walk off the prompt and clicks it, in OpenAI's wire format. */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

export interface WalkModel {
  readonly baseUrl: string;
  close(): void;
}

/** Finds a link in the prompt and writes the reply's message that clicks it; no name: the walk is over. */
export type Dialect = (prompt: string, name: string | undefined) => unknown;

const fail = (what: string): never => {
  throw new Error(`the prompt shows no ${what}`);
};

export const ourDialect: Dialect = (prompt, name) => {
  const call = (tool: string, args: object) => ({
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'call', type: 'function', function: { name: tool, arguments: JSON.stringify(args) } }],
  });
  if (name === undefined) return call('stop', {});
  const ref = new RegExp(`\\[(e\\d+)\\] link "${name}"`).exec(prompt)?.[1];
  return call('click', { ref: ref ?? fail(`link "${name}"`) });
};

export const browserUseDialect: Dialect = (prompt, name) => {
  const index = new RegExp(`\\[(\\d+)\\]<a[^>]*>\\s*${name}`).exec(prompt)?.[1];
  const action =
    name === undefined
      ? { done: { text: 'walked', success: true } }
      : { click: { index: Number(index ?? fail(`link ${name}`)) } };
  const thoughts = { thinking: '', evaluation_previous_goal: '', memory: '', next_goal: '' };
  return { role: 'assistant', content: JSON.stringify({ ...thoughts, action: [action] }) };
};

export async function startWalkModel(names: readonly string[], dialect: Dialect): Promise<WalkModel> {
  let calls = 0;
  const server = createServer(async (request, response) => {
    // The prompt's line ends and quotes are escaped in JSON; the last message holds the page.
    const prompt = promptOf(JSON.parse(await text(request)));
    const message = dialect(prompt, names[calls]);
    calls += 1;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(completion(message)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the model has no port');
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { baseUrl: `http://127.0.0.1:${address.port}/v1`, close };
}

const completion = (message: unknown) => ({
  ...{ id: 'walk', object: 'chat.completion', created: 0, model: 'walk' },
  choices: [{ index: 0, finish_reason: 'stop', message }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

/** All text of a chat's messages, however it is nested. */
function promptOf(body: unknown): string {
  if (typeof body === 'string') return `${body}\n`;
  if (typeof body !== 'object' || body === null) return '';
  return Object.values(body).map(promptOf).join('');
}
