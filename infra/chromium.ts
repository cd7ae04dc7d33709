import { globSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Settings } from '../workers/settings.ts';
import { type CommandResult, findExecutable, isExecutable, runCommand } from './commands.ts';
import type { Report } from './report.ts';

export interface Chromium {
  readonly executablePath: string;
  /** Four numbers, such as 156.0.8078.114. */
  readonly version: string;
  /** The headless shell is 1.7 to 2.9 times as fast; it has no window and cannot be watched. */
  readonly kind: 'headless-shell' | 'chromium';
}

const VERSION_TIMEOUT_MS = 20_000;
const PLAYWRIGHT_TIMEOUT_MS = 300_000;
const APT_TIMEOUT_MS = 300_000;

/**
 * The Chromium to use: CLIFT_CHROMIUM, else the first on this machine that runs, headless shells first.
 * Fetches nothing. Throws when CLIFT_CHROMIUM names something that does not run.
 */
export async function findChromium(settings: Settings): Promise<Chromium | undefined> {
  const { chromiumPath } = settings;
  if (chromiumPath !== undefined) {
    const named = await probe(chromiumPath);
    if (named) return named;
    throw new Error(
      `CLIFT_CHROMIUM is ${chromiumPath}, which does not run as Chromium. Correct or unset it.`,
    );
  }
  for (const path of candidates(settings)) {
    const found = await probe(path);
    if (found) return found;
  }
  return undefined;
}

/** Ways to bring a Chromium, in the order in which they are tried. */
const INSTALLERS = { Playwright: installFromPlaywright, 'apt-get': installFromApt };

/** The Chromium to use, installed when the machine has none: Playwright's own, else the system's package as root. */
export async function ensureChromium(settings: Settings, report: Report): Promise<Chromium> {
  const present = await findChromium(settings);
  if (present) return present;
  const failures: string[] = [];
  for (const [name, install] of Object.entries(INSTALLERS)) {
    const { ok, failure } = await install(settings, report);
    const installed = ok ? await findChromium(settings) : undefined;
    if (installed) return installed;
    failures.push(`${name}: ${ok ? 'what it installed does not run' : failure}`);
  }
  throw new Error(
    `No Chromium. ${failures.join('; ')}.\nInstall Chromium (on Debian: apt-get install chromium-headless-shell) or set CLIFT_CHROMIUM to its path.`,
  );
}

function candidates(settings: Settings): string[] {
  const { searchPath } = settings;
  const shells = ['chromium-headless-shell', 'chrome-headless-shell', 'headless_shell'];
  const browsers = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];
  return [
    ...shells.flatMap((name) => findExecutable([name], searchPath) ?? []),
    ...playwrightDirectories(settings).flatMap((directory) =>
      globSync(join(directory, 'chromium_headless_shell-*', '*', '{chrome-headless-shell,headless_shell}')),
    ),
    ...browsers.flatMap((name) => findExecutable([name], searchPath) ?? []),
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  ];
}

/** Our own cache, and where Playwright keeps browsers that other projects installed. */
function playwrightDirectories(settings: Settings): string[] {
  return [
    playwrightCache(settings),
    join(homedir(), '.cache', 'ms-playwright'),
    join(homedir(), 'Library', 'Caches', 'ms-playwright'),
  ];
}

function playwrightCache({ cacheDirectory }: Settings): string {
  return join(cacheDirectory, 'playwright');
}

/** Only a program that starts counts: Ubuntu's `chromium-browser` may be a note that asks for a snap. */
async function probe(path: string): Promise<Chromium | undefined> {
  if (!isExecutable(path)) return undefined;
  const { ok, output } = await runCommand(path, ['--version'], VERSION_TIMEOUT_MS);
  const version = ok ? /\d+\.\d+\.\d+\.\d+/.exec(output)?.[0] : undefined;
  if (version === undefined) return undefined;
  return {
    executablePath: path,
    version,
    kind: /headless[-_]shell/.test(path) ? 'headless-shell' : 'chromium',
  };
}

function installFromPlaywright(settings: Settings, report: Report): Promise<CommandResult> {
  report('Fetching Chromium’s headless shell with Playwright (about 110 MB) …');
  const program = join(settings.projectDirectory, 'node_modules', 'playwright-core', 'cli.js');
  return runCommand(
    'env',
    [
      `PLAYWRIGHT_BROWSERS_PATH=${playwrightCache(settings)}`,
      'PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT=15000',
      ...[process.execPath, program, 'install', 'chromium-headless-shell'],
    ],
    PLAYWRIGHT_TIMEOUT_MS,
  );
}

/** A system package is the one thing that lies outside CLIFT_HOME; only root may add it. */
async function installFromApt({ searchPath }: Settings, report: Report): Promise<CommandResult> {
  const aptGet = findExecutable(['apt-get'], searchPath);
  if (aptGet === undefined || process.getuid?.() !== 0) {
    return {
      ok: false,
      output: '',
      failure: 'not tried, as it needs Debian’s package manager and root',
    };
  }
  report('Installing Debian’s package chromium-headless-shell …');
  const options = ['-o', 'DPkg::Lock::Timeout=120'];
  // A failed update is no reason to stop: the lists at hand may do.
  await runCommand(aptGet, [...options, 'update'], APT_TIMEOUT_MS);
  const install = [...options, 'install', '--yes', '--no-install-recommends', 'chromium-headless-shell'];
  return runCommand('env', ['DEBIAN_FRONTEND=noninteractive', aptGet, ...install], APT_TIMEOUT_MS);
}
