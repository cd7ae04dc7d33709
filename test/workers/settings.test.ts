import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { loadSettings } from '../../workers/settings.ts';

const directory = mkdtempSync(join(tmpdir(), 'clift-settings-'));
afterAll(() => rmSync(directory, { recursive: true }));

function writeProfiles(): string {
  const path = join(directory, 'temporal.toml');
  writeFileSync(path, '[profile.default]\naddress = "production.example:7233"\nnamespace = "orders"\n');
  return path;
}

it('an empty environment means the embedded stack in .clift beside the project', () => {
  const settings = loadSettings({});
  expect(settings.home).toBe(join(settings.projectDirectory, '.clift'));
  expect(settings).not.toHaveProperty('temporalConnection');
  expect(settings).not.toHaveProperty('databaseUrl');
  expect(settings.temporalNamespace).toBe('clift');
});

it('an empty variable counts as unset', () => {
  const names = ['CLIFT_HOME', 'CLIFT_CHROMIUM', 'TEMPORAL_ADDRESS', 'DATABASE_URL', 'CLIFT_TEMPORAL_UI'];
  expect(loadSettings(Object.fromEntries(names.map((name) => [name, ''])))).toEqual(loadSettings({}));
});

it('homes share no state but may share downloads', () => {
  const settings = loadSettings({ CLIFT_HOME: '/a', CLIFT_CACHE: '/downloads' });
  expect(settings.blobDirectory).toBe('/a/blobs');
  expect(settings.cacheDirectory).toBe('/downloads');
  expect(loadSettings({ CLIFT_HOME: '/a' }).cacheDirectory).toBe('/a/cache');
});

it('the default profile of a Temporal configuration file is used only when the file or a profile is asked for', () => {
  writeProfiles();
  const configHome = { HOME: directory, XDG_CONFIG_HOME: directory };
  expect(loadSettings(configHome)).not.toHaveProperty('temporalConnection');
  const asked = loadSettings({ ...configHome, TEMPORAL_CONFIG_FILE: join(directory, 'temporal.toml') });
  expect(asked.temporalConnection?.address).toBe('production.example:7233');
  expect(asked.temporalNamespace).toBe('orders');
});

it('TEMPORAL_ADDRESS names a cluster, whose default namespace is `default`', () => {
  const settings = loadSettings({ TEMPORAL_ADDRESS: 'temporal.example:7233', TEMPORAL_API_KEY: 'secret' });
  expect(settings.temporalConnection).toMatchObject({ address: 'temporal.example:7233', apiKey: 'secret' });
  expect(settings.temporalNamespace).toBe('default');
});

it('a value that does not parse is refused with the name of its variable', () => {
  expect(() => loadSettings({ CLIFT_TEMPORAL_UI: 'maybe' })).toThrow('CLIFT_TEMPORAL_UI');
});

it.each(['localhost:8000/v1', 'https://user:secret@models.example/v1'])(
  'an address that no model can be asked at is refused before a run waits for it: %s',
  (address) => {
    for (const variable of ['OPENAI_BASE_URL', 'ANTHROPIC_BASE_URL']) {
      const load = () => loadSettings({ [variable]: address });
      expect(load).toThrow(variable);
      expect(load).not.toThrow('secret');
    }
  },
);
