import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { BrowserPool } from '../../../activities/browser/pool.ts';
import {
  type BrowserSession,
  openBrowserSession,
  type SessionOptions,
} from '../../../activities/browser/session.ts';
import type { Observation, ObservedElement } from '../../../benchmarks/contract.ts';
import * as processes from '../../../infra/processes.ts';

export type Page = string | ((request: IncomingMessage, response: ServerResponse) => void);

/** A proxy that is the whole internet of a test: canonical addresses, each with its page. */
export interface Site {
  readonly proxyServer: string;
  /** Addresses asked for, in order. */
  readonly requests: string[];
  close(): void;
}

export async function serveSite(pages: Readonly<Record<string, Page>>): Promise<Site> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const url = request.url ?? '';
    requests.push(url);
    const page = pages[url] ?? pages[new URL(url).pathname];
    if (typeof page === 'function') return page(request, response);
    response.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' });
    response.end(page ?? '<h1>Not found</h1>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The site has no port.');
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { proxyServer: `http://127.0.0.1:${address.port}`, requests, close };
}

export interface TestPool {
  readonly pool: BrowserPool;
  readonly leaseDirectory: string;
  close(): Promise<void>;
}

export async function createTestPool(retireAfter?: number): Promise<TestPool> {
  const leaseDirectory = mkdtempSync(join(tmpdir(), 'clift-leases-'));
  const pool = new BrowserPool({
    executablePath: inject('chromiumPath'),
    leaseDirectory,
    processes,
    ...(retireAfter !== undefined && { retireAfter }),
  });
  const close = async () => {
    await pool.close();
    rmSync(leaseDirectory, { recursive: true, force: true });
  };
  return { pool, leaseDirectory, close };
}

/** An app of one page that says by itself when it is done. */
export const PENDING = "document.readyState === 'complete' ? (globalThis.pending ?? 0) : 1";

export interface OpenPages extends Partial<Pick<SessionOptions, 'signal' | 'clock'>> {
  readonly pages: Readonly<Record<string, Page>>;
  readonly pool: BrowserPool;
  readonly startUrl?: string;
  readonly pendingExpression?: string | null;
}

export interface OpenSite extends AsyncDisposable {
  readonly session: BrowserSession;
  readonly site: Site;
}

export async function openPages(options: OpenPages): Promise<OpenSite> {
  const site = await serveSite(options.pages);
  const { pendingExpression = PENDING, startUrl = 'http://app.sandbox/', clock = null } = options;
  try {
    const session = await openBrowserSession({
      pool: options.pool,
      environment: { proxyServer: site.proxyServer, pendingExpression },
      task: { startUrl, allowedHosts: ['app.sandbox'], viewport: { widthPx: 1280, heightPx: 720 } },
      clock,
      signal: options.signal ?? new AbortController().signal,
    });
    const dispose = async () => {
      await session.close();
      site.close();
    };
    return { session, site, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    site.close();
    throw error;
  }
}

/** The element of that role and name; throws when there is none, with what there is. */
export function named(observation: Observation, role: string, name: string): ObservedElement {
  const found = observation.elements.find((element) => element.role === role && element.name === name);
  if (found !== undefined) return found;
  const known = observation.elements.map((element) => `${element.role} "${element.name}"`).join(', ');
  throw new Error(`There is no ${role} "${name}" among ${known}.`);
}
