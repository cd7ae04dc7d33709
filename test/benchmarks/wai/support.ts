import { connect } from 'node:net';
import { join } from 'node:path';
import type { Benchmark, Environment, Task } from '../../../benchmarks/contract.ts';
import { readApp } from '../../../benchmarks/wai/checkout.ts';
import type { Edition } from '../../../benchmarks/wai/edition.ts';
import { Grader } from '../../../benchmarks/wai/grader.ts';
import { createWaiBenchmark } from '../../../benchmarks/wai/index.ts';

/** A checkout with one small app of our own in the shape of the benchmark's. */
export const fixtureRoot = join(import.meta.dirname, 'fixture');

export const fixtureEdition: Edition = {
  commit: '0123456789abcdef0123456789abcdef01234567',
  apps: {
    notes: { easy: 2, medium: 1, hard: 3, function: 2, digest: readApp(fixtureRoot, 'notes').digest },
  },
  appSets: { small: ['notes'], empty: [] },
};

export function createFixture(grader = new Grader()): Benchmark {
  return createWaiBenchmark({ root: fixtureRoot, edition: fixtureEdition, grader });
}

export function taskNamed(benchmark: Benchmark, name: string): Task {
  const found = benchmark.tasks.find(({ id }) => id === `wai/notes/${name}`);
  if (found === undefined) throw new Error(`The fixture has no task ${name}.`);
  return found;
}

export interface RawRequest {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Sends raw bytes to the environment's proxy, as a browser would, and returns what comes back until it closes. */
export function send(environment: Environment, line: string, request: RawRequest = {}): Promise<string> {
  const { headers = {}, body = '' } = request;
  const head = [
    `${line} HTTP/1.1`,
    'Host: x',
    'Connection: close',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  const port = Number(new URL(environment.proxyServer ?? '').port);
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write([...head, '', body].join('\r\n')));
    let reply = '';
    socket.setEncoding('utf8').on('data', (text) => {
      reply += text;
    });
    socket.on('error', reject).on('close', () => resolve(reply));
  });
}
