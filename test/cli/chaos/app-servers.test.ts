import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { killAppServers } from '../../../cli/chaos/app-servers.ts';
import { waitUntil } from '../../../infra/processes.ts';

/** A worker whose application is served again, on another port, whenever its server was killed. */
const worker = `
  const serve = () => {
    const server = require('node:http').createServer((_, reply) => reply.end('here'));
    server.listen(0, '127.0.0.1', () => console.log('serving ' + server.address().port));
    server.on('close', serve);
  };
  serve();`;

test('the app servers of one worker can be killed again and again, and the worker lives on', async () => {
  const child = spawn(process.execPath, ['--inspect-port=0', '-e', worker]);
  let log = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (log += text));
  const ports = () => [...log.matchAll(/serving (\d+)/g)].map(([, port]) => port);
  try {
    for (const turn of [1, 2, 3]) {
      expect(await waitUntil(() => ports().length === turn, 10_000)).toBe(true);
      const address = `http://127.0.0.1:${ports().at(-1)}`;
      expect(await (await fetch(address)).text()).toBe('here');
      expect(await killAppServers(child.pid ?? 0, () => log)).toBe(1);
      await expect(fetch(address)).rejects.toThrow();
    }
    expect(child.exitCode).toBeNull();
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});
