import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createHome } from '../../infra/home.ts';
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
