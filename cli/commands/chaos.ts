import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { ensureChromium } from '../../infra/chromium.ts';
import { ensureTemporalCli } from '../../infra/temporal-cli.ts';
import type { Settings } from '../../workers/settings.ts';
import { type Arrangement, campaign, type StormReport } from '../chaos/campaign.ts';
import { type ArrangementName, victims as allVictims, type Victim } from '../chaos/cells.ts';
import { startCountedModels } from '../chaos/counted-models.ts';
import { renderChaos, stormLines } from '../chaos/render.ts';
import { readYaml } from '../read-yaml.ts';
import { jsonLine } from '../report/terminal-text.ts';
import { scriptedRoles } from '../scripted-models.ts';

export interface ChaosOptions {
  /** Experiment file. */
  readonly config?: string;
  readonly seed?: number;
  /** Strikes in all. */
  readonly kills?: number;
  readonly victims?: readonly Victim[];
  /** Which arrangements of servers and models to attack. */
  readonly arrangements?: readonly ArrangementName[];
  /** Leaves the homes of the jobs where they are. */
  readonly keep?: boolean;
  readonly json?: boolean;
}

/** Runs a job undisturbed, then again while its parts are killed, and proves that nothing came out differently. */
export async function chaos(settings: Settings, options: ChaosOptions): Promise<void> {
  const { seed = 1, kills = 12, victims = allVictims, keep = false, json = false } = options;
  const { arrangements = ['embedded'] } = options;
  const config = options.config ?? join(settings.projectDirectory, 'infra/experiments/chaos.yaml');
  const say = (line: string) => process.stderr.write(`${line}\n`);
  const [chromium] = await Promise.all([ensureChromium(settings, say), ensureTemporalCli(settings, say)]);
  const total = arrangements.reduce((sum, name) => sum + shares[name], 0);
  const reports: StormReport[] = [];
  const missed: string[] = [];
  const onStorm = (report: StormReport) => {
    reports.push(report);
    for (const line of stormLines(report, reports.length)) say(line);
  };
  for (const name of arrangements) {
    const share = Math.ceil((kills * shares[name]) / total);
    const plan = { seed, kills: share, victims, chromiumPath: chromium.executablePath, keep, say, onStorm };
    await withArrangement(name, config, async (arrangement) => {
      missed.push(...(await campaign(settings, arrangement, plan)));
    });
  }
  console.log(json ? jsonLine({ storms: reports.map(asData), missed }) : renderChaos(reports, missed));
  const isBroken = reports.some(({ checks }) => checks.some(({ holds }) => !holds));
  if (isBroken || missed.length > 0) process.exitCode = 1;
}

/** Of the strikes: the whole table of the command's own servers, the links, and a sample with paid models. */
const shares: Readonly<Record<ArrangementName, number>> = { embedded: 60, linked: 25, scripted: 15 };

/** What had finished is long, and was compared. */
function asData({ strikes, ...report }: StormReport) {
  return { ...report, strikes: strikes.map(({ finished: _, ...strike }) => strike) };
}

async function withArrangement(
  name: ArrangementName,
  config: string,
  act: (arrangement: Arrangement) => Promise<void>,
): Promise<void> {
  const embedded: Arrangement = {
    name,
    config,
    linked: name === 'linked',
    environment: {},
    paidRequests: null,
    sweeps: (victim) => name === 'embedded' || (name === 'linked' && victim.startsWith('link')),
  };
  if (name !== 'scripted') return act(embedded);
  const directory = mkdtempSync(join(tmpdir(), 'clift-chaos-config-'));
  const models = await startCountedModels();
  try {
    const experiment = readYaml(config, z.record(z.string(), z.unknown()));
    const scripted = join(directory, 'scripted.yaml');
    // JSON is YAML.
    writeFileSync(scripted, JSON.stringify({ ...experiment, models: scriptedRoles }));
    await act({
      ...embedded,
      ...{ config: scripted, environment: models.environment, paidRequests: models.requests },
    });
  } finally {
    await models.close();
    rmSync(directory, { recursive: true });
  }
}
