/** A campaign: the job undisturbed, then storms over it in fresh homes until every cell of the table was struck. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { openDatabase } from '../../bank-store/database.ts';
import { createBankStore } from '../../bank-store/index.ts';
import { startStack, stopStack } from '../../infra/stack.ts';
import { watchStack } from '../../infra/stack-watch.ts';
import type { Settings } from '../../workers/settings.ts';
import { randomGenerator } from '../../workflows/method/random.ts';
import { interrupted } from '../follow.ts';
import { type Cell, chaosCells, nameOf, type Victim } from './cells.ts';
import { Job } from './job.ts';
import { Ledger } from './ledger.ts';
import { type Link, openLink } from './link.ts';
import { readRecord } from './record.ts';
import { type Strike, storm } from './storm.ts';
import { type Check, judgeStorm, type Outcome } from './verdict.ts';

/** How the models and servers of a job are reached. */
export interface Arrangement {
  readonly name: string;
  /** Experiment file. */
  readonly config: string;
  /** Victims that are to be struck in every phase; the others are struck at random. */
  readonly sweeps: (victim: Victim) => boolean;
  /** Through links that chaos can cut; then the servers are chaos' own, as a cluster is somebody else's. */
  readonly linked: boolean;
  readonly environment: Readonly<Record<string, string>>;
  /** Requests that have arrived at the model servers so far; null: the models are embedded. */
  readonly paidRequests: (() => number) | null;
}

export interface CampaignPlan {
  readonly seed: number;
  readonly kills: number;
  readonly victims: readonly Victim[];
  readonly chromiumPath: string;
  /** Leaves the homes of the jobs where they are, for a look at what differs. */
  readonly keep: boolean;
  readonly say: (line: string) => void;
  /** Called with each storm as soon as it is judged: a campaign may be interrupted. */
  readonly onStorm: (report: StormReport) => void;
}

export interface StormReport {
  readonly arrangement: string;
  readonly strikes: readonly Strike[];
  readonly checks: readonly Check[];
  readonly seconds: number;
  readonly calmSeconds: number;
}

/** A job of a few minutes is struck about a dozen times: far more storms than these would repeat the same cells. */
const MOST_STORMS = 12;

/** Returns what should have been struck and was not. */
export async function campaign(
  settings: Settings,
  arrangement: Arrangement,
  plan: CampaignPlan,
): Promise<readonly string[]> {
  const { say } = plan;
  say(`${arrangement.name}: the job undisturbed …`);
  const began = Date.now();
  const { outcome: calm } = await runJob(settings, arrangement, plan, async () => []);
  const calmSeconds = (Date.now() - began) / 1000;
  const everything = chaosCells(plan.seed, plan.victims, arrangement.linked);
  if (everything.length === 0) throw new Error('there is nobody to strike: name victims that the job has');
  let left = everything.filter(({ victim }) => arrangement.sweeps(victim));
  const isSwept = plan.kills >= left.length;
  let struck = 0;
  for (let turn = 1; turn <= MOST_STORMS && struck < plan.kills; turn += 1) {
    say(`${arrangement.name}: storm ${turn}, ${left.length} cells to strike …`);
    const stormBegan = Date.now();
    const random = randomGenerator([plan.seed, 'storm', arrangement.name, turn]);
    const { outcome, strikes, surrenders } = await runJob(settings, arrangement, plan, (field, ledger) =>
      storm(field, ledger, {
        cells: left,
        atRandom: () => random.shuffle(everything),
        most: plan.kills - struck,
        say,
      }),
    );
    const seconds = (Date.now() - stormBegan) / 1000;
    const checks = judgeStorm(calm, outcome, strikes, surrenders);
    plan.onStorm({ arrangement: arrangement.name, strikes, checks, seconds, calmSeconds });
    struck += strikes.length;
    left = left.filter((cell) => !strikes.some((strike) => isOf(strike, cell)));
  }
  const fewer = plan.kills - struck;
  return [
    ...(isSwept ? left.map((cell) => `${nameOf(cell)} during ${cell.point.phase}`) : []),
    ...(fewer > 0 ? [`${fewer} of ${plan.kills} strikes (${arrangement.name}): the jobs ended before`] : []),
  ];
}

const isOf = ({ victim, phase }: Strike, cell: Cell): boolean =>
  victim === nameOf(cell) && phase === cell.point.phase;

type Act = (field: Parameters<typeof storm>[0], ledger: Ledger) => Promise<readonly Strike[]>;

/** One job in a home of its own, which is removed afterwards. */
async function runJob(
  settings: Settings,
  arrangement: Arrangement,
  plan: CampaignPlan,
  act: Act,
): Promise<{ outcome: Outcome; strikes: readonly Strike[]; surrenders: readonly string[] }> {
  const home = mkdtempSync(join(tmpdir(), 'clift-chaos-'));
  const { temporalConnection: _cluster, databaseUrl: _database, ...rest } = settings;
  const own: Settings = { ...rest, home, blobDirectory: join(home, 'blobs'), temporalNamespace: 'clift' };
  const closers: (() => Promise<void>)[] = [
    async () => {
      if (plan.keep) plan.say(`kept: CLIFT_HOME=${home}`);
      else rmSync(home, { recursive: true, force: true });
    },
    async () => void (await stopStack(own)),
  ];
  try {
    const stack = await startStack(own);
    await (await createBankStore(stack)).close();
    const ledger = new Ledger(stack.databaseUrl);
    closers.push(() => ledger.close());
    await ledger.prepareHolds();
    const links = arrangement.linked ? await openLinks(stack) : null;
    if (links !== null) {
      const watch = watchStack(own, stack, plan.say);
      closers.push(
        () => links.temporal.close(),
        () => links.postgres.close(),
        () => watch.stop(),
      );
    }
    const connection = await Connection.connect(stack.temporalConnection);
    closers.push(() => connection.close());
    const client = new Client({ connection, namespace: stack.namespace });
    const paidBefore = arrangement.paidRequests?.() ?? 0;
    const job = new Job({
      settings: own,
      config: arrangement.config,
      say: plan.say,
      chromiumPath: plan.chromiumPath,
      environment: { ...arrangement.environment, ...(links && environmentOf(stack, links)) },
    });
    closers.push(() => job.end());
    const aborter = new AbortController();
    closers.push(async () => aborter.abort());
    const stopped = interrupted(aborter.signal);
    stopped.catch(() => undefined);
    const strikes = await Promise.race([act({ home, client, job, links }, ledger), stopped]);
    const result = await Promise.race([job.result, stopped]);
    const database = openDatabase(stack);
    const record = await readRecord(database).finally(() => database.close());
    const paidRequests = arrangement.paidRequests === null ? null : arrangement.paidRequests() - paidBefore;
    return { outcome: { result, record, paidRequests }, strikes, surrenders: job.surrenders };
  } finally {
    for (const close of closers.toReversed()) await close();
  }
}

async function openLinks(stack: { readonly temporalAddress: string; readonly databaseUrl: string }) {
  return {
    temporal: await openLink(Number(new URL(`http://${stack.temporalAddress}`).port)),
    postgres: await openLink(Number(new URL(stack.databaseUrl).port)),
  };
}

function environmentOf(
  { databaseUrl, namespace }: { readonly databaseUrl: string; readonly namespace: string },
  links: { readonly temporal: Link; readonly postgres: Link },
): Readonly<Record<string, string>> {
  const linked = new URL(databaseUrl);
  linked.port = String(links.postgres.port);
  return {
    TEMPORAL_ADDRESS: `127.0.0.1:${links.temporal.port}`,
    TEMPORAL_NAMESPACE: namespace,
    DATABASE_URL: linked.href,
  };
}
