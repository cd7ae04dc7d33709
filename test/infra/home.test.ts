import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, expect, it } from 'vitest';
import { createHome, homePaths } from '../../infra/home.ts';
import { settingsForHome } from '../support/settings.ts';

const root = mkdtempSync(join(tmpdir(), 'clift-home-'));
afterAll(() => rmSync(root, { recursive: true }));

it('a home is made with everything in it, as deep as it lies', () => {
  const home = join(root, 'a', 'b c', 'ü');
  const { logs } = createHome(settingsForHome(home));
  expect(existsSync(logs)).toBe(true);
});

it('a home below a file is refused with the variable to set', () => {
  writeFileSync(join(root, 'file'), '');
  expect(() => createHome(settingsForHome(join(root, 'file', 'home')))).toThrow(
    /cannot be created or written to \(ENOTDIR.*\nSet CLIFT_HOME to a directory you may write to\./,
  );
});

it.runIf(existsSync('/proc/self'))('a home where nothing can be made is refused, not tried for ever', () => {
  expect(() => createHome(settingsForHome('/proc/no-such-process'))).toThrow('Set CLIFT_HOME');
});

it('processes that make the same home at the same moment all get it', async () => {
  const settings = settingsForHome(join(root, 'raced'));
  const module = new URL('../../infra/home.ts', import.meta.url).href;
  const makers = 3;
  const rounds = 30;
  const gate = new Int32Array(new SharedArrayBuffer(4));
  // Each round begins for all of them at once; one that has failed lets nobody wait for ever.
  const script = `
    const { workerData } = require('node:worker_threads');
    import(${JSON.stringify(module)}).then(({ createHome }) => {
      const { gate, makers, rounds, settings } = workerData;
      for (let round = 1; round <= rounds; round++) {
        if (Atomics.add(gate, 0, 1) + 1 === makers * round) Atomics.notify(gate, 0);
        for (let here; (here = Atomics.load(gate, 0)) < makers * round; )
          if (Atomics.wait(gate, 0, here, 10_000) === 'timed-out') throw new Error('the others are gone');
        const home = settings.home + '/' + round;
        createHome({ ...settings, home, blobDirectory: home + '/blobs' });
      }
    });`;
  const workers = Array.from(
    { length: makers },
    () => new Worker(script, { eval: true, workerData: { gate, makers, rounds, settings } }),
  );
  await Promise.all(workers.map((worker) => once(worker, 'exit')));
  for (let round = 1; round <= rounds; round++)
    expect(existsSync(homePaths(join(settings.home, String(round))).postgres)).toBe(true);
});
