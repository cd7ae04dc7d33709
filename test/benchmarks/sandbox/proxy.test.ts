import { connect } from 'node:net';
import { expect, test } from 'vitest';
import type { Environment } from '../../../benchmarks/contract.ts';
import { RequestLogger } from '../../../benchmarks/kit/request-log.ts';
import { createSandboxBenchmark } from '../../../benchmarks/sandbox/index.ts';

const benchmark = createSandboxBenchmark();
const [mailTask, otherTask] = benchmark.tasks;
if (mailTask === undefined || otherTask === undefined) throw new Error('the sandbox has no tasks');

const portOf = (environment: Environment): number => Number(new URL(environment.proxyServer ?? '').port);

/** Sends raw bytes, as a browser would to its proxy, and returns everything that comes back. */
function send(environment: Environment, head: string, body = ''): Promise<string> {
  const lines = [head, 'Host: x', `Content-Length: ${Buffer.byteLength(body)}`];
  const form = body === '' ? [] : ['Content-Type: application/x-www-form-urlencoded'];
  return new Promise((resolve, reject) => {
    const socket = connect(portOf(environment), '127.0.0.1', () => {
      socket.write([...lines, ...form, 'Connection: close', '', body].join('\r\n'));
    });
    let reply = '';
    socket.setEncoding('utf8').on('data', (text) => {
      reply += text;
    });
    socket.on('error', reject).on('close', () => resolve(reply));
  });
}

async function withEnvironment(use: (environment: Environment) => Promise<void>): Promise<void> {
  const environment = await benchmark.open(mailTask!, new AbortController().signal);
  try {
    await use(environment);
  } finally {
    await environment.close();
  }
}

test('the application answers under its canonical address only', () =>
  withEnvironment(async (environment) => {
    expect(await send(environment, 'GET http://mail.sandbox/inbox HTTP/1.1')).toMatch(
      /^HTTP\/1.1 200 [\s\S]*Inbox/,
    );
    expect(await send(environment, 'GET http://shop.sandbox/products HTTP/1.1')).toMatch(/^HTTP\/1.1 403/);
    expect(await send(environment, 'GET http://mail.sandbox:8080/inbox HTTP/1.1')).toMatch(/^HTTP\/1.1 403/);
    expect(environment.flags()).toEqual([
      { rule: 'foreign-host', detail: 'shop.sandbox', invalidates: false },
      { rule: 'foreign-host', detail: 'mail.sandbox:8080', invalidates: false },
    ]);
  }));

test('every request is logged in order, with its answer and the flags that it raised', () =>
  withEnvironment(async (environment) => {
    await send(environment, 'GET http://mail.sandbox/inbox?page=2 HTTP/1.1');
    await send(environment, 'POST http://shop.sandbox/buy HTTP/1.1', 'all=1');
    await send(environment, 'CONNECT example.com:443 HTTP/1.1');
    await send(environment, 'GET /direct HTTP/1.1');
    const { requests, dropped } = environment.requestLog();
    expect(requests.map(({ atMs: _, ...request }) => request)).toEqual([
      { method: 'GET', url: 'http://mail.sandbox/inbox?page=2', status: 200, flags: [] },
      { method: 'POST', url: 'http://shop.sandbox/buy', status: 403, flags: ['foreign-host'] },
      { method: 'CONNECT', url: 'example.com:443', status: 403, flags: ['foreign-host'] },
      { method: 'GET', url: '/direct', status: 400, flags: ['direct-access'] },
    ]);
    const times = requests.map(({ atMs }) => atMs);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(dropped).toBe(0);
  }));

test('a page that asks for ever fills neither memory nor disk: the log says how much it leaves out', () => {
  const logger = new RequestLogger();
  for (let index = 0; index < 6_000; index += 1) logger.begin('GET', `http://x.sandbox/${'y'.repeat(9_999)}`);
  const { requests, dropped } = logger.read();
  expect(requests.length + dropped).toBe(6_000);
  expect(dropped).toBeGreaterThan(0);
  expect(JSON.stringify(requests).length).toBeLessThan(4_000_000);
});

test('tunnels are refused and flagged without making the rollout void', () =>
  withEnvironment(async (environment) => {
    expect(await send(environment, 'CONNECT example.com:443 HTTP/1.1')).toMatch(/^HTTP\/1.1 403/);
    expect(environment.flags()).toEqual([
      { rule: 'foreign-host', detail: 'example.com:443', invalidates: false },
    ]);
  }));

test.each(['/api/state', '/state', '/tasks.json', '/oracle', '/verifier', '/rubric/1', '/debug'])(
  'reaching for %s makes the rollout void and finds nothing',
  (path) =>
    withEnvironment(async (environment) => {
      const reply = await send(environment, `GET http://mail.sandbox${path} HTTP/1.1`);
      expect(reply).toMatch(/^HTTP\/1.1 404/);
      expect(reply).not.toContain(mailTask.instruction);
      expect(environment.flags()).toEqual([{ rule: 'answer-key', detail: path, invalidates: true }]);
    }),
);

test('a page that goes round the proxy gets nothing and makes the rollout void', () =>
  withEnvironment(async (environment) => {
    expect(await send(environment, 'GET /inbox HTTP/1.1')).toMatch(/^HTTP\/1.1 400/);
    expect(environment.flags()).toEqual([{ rule: 'direct-access', detail: '/inbox', invalidates: true }]);
  }));

test('flags are bounded, however often a page asks', () =>
  withEnvironment(async (environment) => {
    for (let request = 0; request < 120; request += 1)
      await send(environment, 'GET http://evil.example/ HTTP/1.1');
    expect(environment.flags()).toHaveLength(100);
  }));

test('a command changes the digest, the reset of another environment does not know of it', () =>
  withEnvironment(async (environment) => {
    const reply = await send(environment, 'POST http://mail.sandbox/do/star HTTP/1.1', 'id=11');
    expect(reply).toMatch(/^HTTP\/1.1 303 [\s\S]*location: \/inbox/);
    expect(await environment.stateDigest()).not.toBe(environment.initialStateDigest);
    await withEnvironment(async (neighbour) => {
      expect(neighbour.initialStateDigest).toBe(environment.initialStateDigest);
      expect(await neighbour.stateDigest()).toBe(environment.initialStateDigest);
    });
  }));

test('a body beyond 64 KiB and other methods are refused', () =>
  withEnvironment(async (environment) => {
    const long = `subject=${'x'.repeat(70_000)}`;
    expect(await send(environment, 'POST http://mail.sandbox/do/send HTTP/1.1', long)).toMatch(
      /^HTTP\/1.1 413/,
    );
    expect(await send(environment, 'PUT http://mail.sandbox/inbox HTTP/1.1')).toMatch(/^HTTP\/1.1 405/);
    expect(await environment.stateDigest()).toBe(environment.initialStateDigest);
  }));

test('after close, and after an abort, the port is closed', async () => {
  const controller = new AbortController();
  const aborted = await benchmark.open(mailTask, controller.signal);
  controller.abort();
  await expect(send(aborted, 'GET http://mail.sandbox/inbox HTTP/1.1')).rejects.toThrow();
  await aborted.close();
  const closed = await benchmark.open(otherTask, new AbortController().signal);
  await closed.close();
  await expect(send(closed, 'GET http://mail.sandbox/inbox HTTP/1.1')).rejects.toThrow();
});

test('an environment is not opened for a task that was already given up', async () => {
  await expect(benchmark.open(mailTask, AbortSignal.abort(new Error('given up')))).rejects.toThrow(
    'given up',
  );
});
