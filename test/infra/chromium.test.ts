import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, inject, it } from 'vitest';
import { ensureChromium, findChromium } from '../../infra/chromium.ts';
import type { Settings } from '../../workers/settings.ts';
import { settingsForHome } from '../support/settings.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'clift-chromium-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

/** This machine as if it had no browser but those put into `directory`. */
function bareSettings(): Settings {
  const { chromiumPath: _named, ...settings } = settingsForHome(directory);
  return { ...settings, cacheDirectory: join(directory, 'cache'), searchPath: [directory] };
}

function addProgram(name: string, script: string): string {
  const path = join(directory, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

it('this machine’s own Chromium runs and tells its version', async () => {
  const found = await findChromium({ ...bareSettings(), chromiumPath: inject('chromiumPath') });
  expect(found).toMatchObject({ executablePath: inject('chromiumPath'), version: /^\d+(\.\d+){3}$/ });
});

it('a headless shell is preferred to a full browser, wherever either lies', async () => {
  const browser = addProgram('chromium', 'echo Chromium 150.0.1.2');
  expect(await findChromium(bareSettings())).toEqual({
    executablePath: browser,
    version: '150.0.1.2',
    kind: 'chromium',
  });
  const cached = addProgram(
    'cache/playwright/chromium_headless_shell-1/chrome-linux/headless_shell',
    'echo Chromium 149.0.1.2',
  );
  expect(await findChromium(bareSettings())).toMatchObject({
    executablePath: cached,
    kind: 'headless-shell',
  });
  const shell = addProgram('chromium-headless-shell', 'echo Chromium 148.0.1.2');
  expect(await findChromium(bareSettings())).toMatchObject({ executablePath: shell, kind: 'headless-shell' });
});

it('a program that does not start is passed over', async () => {
  addProgram('chromium-headless-shell', 'echo "error while loading shared libraries" >&2; exit 127');
  addProgram('chromium-browser', 'echo "please install the snap"');
  const browser = addProgram('google-chrome', 'echo Google Chrome 151.0.3.4');
  expect(await findChromium(bareSettings())).toMatchObject({ executablePath: browser, version: '151.0.3.4' });
});

it('a CLIFT_CHROMIUM that does not run is refused instead of replaced', async () => {
  addProgram('chromium', 'echo Chromium 150.0.1.2');
  const settings = { ...bareSettings(), chromiumPath: join(directory, 'absent') };
  await expect(findChromium(settings)).rejects.toThrow('CLIFT_CHROMIUM');
});

it('where nothing can be installed, the message says what was tried and what to do', async () => {
  // No Playwright below this project directory, and no apt-get on the search path.
  const settings = { ...bareSettings(), projectDirectory: directory };
  const failure = await ensureChromium(settings, () => {}).catch((error: unknown) => String(error));
  expect(failure).toMatch(/Playwright: .*Cannot find module.*apt-get: not tried[\s\S]*CLIFT_CHROMIUM/);
});
