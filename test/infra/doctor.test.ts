import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { examine, type Finding } from '../../infra/doctor.ts';
import type { Settings } from '../../workers/settings.ts';
import { settingsForHome } from '../support/settings.ts';

const directory = mkdtempSync(join(tmpdir(), 'clift-doctor-'));
afterAll(() => rmSync(directory, { recursive: true }));

const bare: Settings = {
  ...settingsForHome(directory),
  cacheDirectory: directory,
  searchPath: [],
  chromiumPath: join(directory, 'absent'),
};

async function findingsOf(settings: Settings): Promise<Record<string, Finding>> {
  return Object.fromEntries((await examine(settings)).map((finding) => [finding.part, finding]));
}

let bareFindings: Finding[];
beforeAll(async () => {
  bareFindings = await examine(bare);
});

it('every missing part comes with its fix, and a found one has none', () => {
  expect(bareFindings.map(({ part }) => part)).toEqual(
    expect.arrayContaining([
      'Node.js',
      'Packages',
      'Chromium',
      'Temporal',
      'Postgres',
      'Python',
      'Disk',
      'GPU',
      'Model keys',
    ]),
  );
  for (const { part, state, fix } of bareFindings) expect(Boolean(fix), part).toBe(state !== 'found');
});

it('a machine without a browser or a Temporal server lacks exactly these', () => {
  const missing = bareFindings.filter(({ state }) => state === 'missing').map(({ part }) => part);
  expect(missing.filter((part) => part !== 'Python')).toEqual(['Chromium', 'Temporal']);
});

it('a found browser, cluster and database are named; the database’s password is not', async () => {
  const settings = {
    ...bare,
    chromiumPath: inject('chromiumPath'),
    temporalConnection: { address: inject('temporalAddress') },
    databaseUrl: inject('databaseUrl'),
  };
  const findings = await findingsOf(settings);
  for (const part of ['Chromium', 'Temporal', 'Postgres'])
    expect(findings[part]).toMatchObject({ state: 'found' });
  expect(findings['Postgres']?.detail).toContain('18.');
  expect(JSON.stringify(findings)).not.toContain(new URL(inject('databaseUrl')).password);
});

it('a cluster that lacks our search attributes gets the commands that create them', async () => {
  const settings = {
    ...bare,
    temporalConnection: { address: inject('temporalAddress') },
    temporalNamespace: 'default',
  };
  const { Temporal } = await findingsOf(settings);
  expect(Temporal).toMatchObject({ state: 'missing' });
  expect(Temporal?.fix).toContain(
    `temporal operator search-attribute create --address ${inject('temporalAddress')} --namespace default --name CliftTrainingStep --type Int`,
  );
});

it('a database that does not answer is missing, not an error', async () => {
  const { Postgres } = await findingsOf({ ...bare, databaseUrl: 'postgres://user:secret@127.0.0.1:1/none' });
  expect(Postgres).toMatchObject({ state: 'missing', fix: expect.stringContaining('DATABASE_URL') });
  expect(JSON.stringify(Postgres)).not.toContain('secret');
});

it('keys are found without being shown', async () => {
  const findings = await findingsOf({ ...bare, anthropicApiKey: 'sk-secret' });
  expect(findings['Model keys']).toEqual({
    part: 'Model keys',
    state: 'found',
    detail: 'ANTHROPIC_API_KEY set',
  });
});
