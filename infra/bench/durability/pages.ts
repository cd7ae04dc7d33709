/** A benchmark of our own whose only page is as heavy as asked: what is measured is the harness, not a site. */
import type { Benchmark, Task } from '../../../benchmarks/contract.ts';
import { digestOf } from '../../../benchmarks/kit/digests.ts';
import { openProxy, type ProxiedApp } from '../../../benchmarks/kit/proxy.ts';

const HOST = 'page.bench';

/** `rows` rows of four controls each, with a sentence of text. */
export function pagesBenchmark(name: string, rows: number, tasks: number): Benchmark {
  const body = pageOf(rows);
  return {
    name,
    revision: '1',
    resettable: true,
    clock: null,
    tasks: Array.from({ length: tasks }, (_, index) => taskOf(name, index)),
    open: async (_task, signal) => {
      let requests = 0;
      const app: ProxiedApp = {
        host: HOST,
        answer: () => {
          requests += 1;
          return { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body };
        },
        isForbidden: () => false,
      };
      const proxy = await openProxy(app, signal);
      return {
        proxyServer: proxy.server,
        pendingExpression: "document.readyState === 'complete' ? 0 : 1",
        initialStateDigest: digestOf(0),
        stateDigest: async () => digestOf(requests),
        captureEvidence: async (final) => ({ taskId: name, state: requests, ...final }),
        flags: proxy.flags,
        requestLog: proxy.requestLog,
        close: proxy.close,
      };
    },
    grade: async () => ({ kind: 'success', message: 'nothing was asked for' }),
  };
}

function taskOf(benchmark: string, index: number): Task {
  return {
    id: `${benchmark}/page/${index}`,
    benchmark,
    app: 'page',
    instruction: 'Look around.',
    startUrl: `http://${HOST}/`,
    allowedHosts: [HOST],
    difficulty: 'easy',
    split: 'heldout',
    provenance: { source: 'template', ref: 'bench' },
    viewport: { widthPx: 1280, heightPx: 720 },
    maxSteps: STEPS,
    expectsAnswer: false,
    imageDigests: [],
  };
}

/** A usual length of a task. */
export const STEPS = 12;

function pageOf(rows: number): string {
  const row = (_: unknown, index: number) => `
    <tr><td><a href="/item/${index}">Message number ${index} about the quarterly review</a></td>
    <td>From somebody with a longer name, received on a Tuesday at ten</td>
    <td><button>Archive ${index}</button> <input type="checkbox" aria-label="Select ${index}">
    <select aria-label="Move ${index}"><option>Inbox</option><option>Work</option></select></td></tr>`;
  return `<!doctype html><title>Bench</title><h1>A page</h1><table>${Array.from({ length: rows }, row).join('')}</table>`;
}
