/**
 * `npm run bench:method`: speed of the method's hot paths on one core, printed with the machine. Exits with 1 when
 * a goal is missed. Times are processor times of this process, garbage collection included, so that other work on
 * the machine does not count; the fastest of several rounds is taken.
 */
import { cpus } from 'node:os';
import { stratifiedAdvantages } from '../../workflows/method/advantage.ts';
import { certifyBank } from '../../workflows/method/certify.ts';
import { paperHyperparameters as paper } from '../../workflows/method/hyperparameters.ts';
import { indexCertificates } from '../../workflows/method/lookup.ts';
import { type RandomGenerator, randomGenerator } from '../../workflows/method/random.ts';
import { discountedReturns } from '../../workflows/method/returns.ts';
import { emptyTracker, updateTracker } from '../../workflows/method/tracker.ts';
import type { Tracker, TrackerObservation } from '../../workflows/method/types.ts';

const rounds = 7;
const minRoundMs = 50;
const groupSize = 8;

interface Result {
  readonly what: string;
  readonly measured: string;
  readonly goal: string;
  readonly met: boolean;
}

/** Processor milliseconds of one execution in the fastest round; short work is repeated within a round. */
function cpuMs(work: () => void): number {
  const repeats = Math.ceil(minRoundMs / Math.max(roundMs(work, 1), 0.001));
  let fastest = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) fastest = Math.min(fastest, roundMs(work, repeats) / repeats);
  return fastest;
}

function roundMs(work: () => void, repeats: number): number {
  const before = process.cpuUsage();
  for (let i = 0; i < repeats; i++) work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function benchTracker(random: RandomGenerator): Result[] {
  const groups = Array.from({ length: 25_000 }, () => drawGroup(random));
  const base = groups.slice(0, 250);
  const msFor = (part: readonly TrackerObservation[][]): number => cpuMs(() => void track('*', part));
  // The first run compiles; its cost belongs to no size.
  msFor(base);
  const [once, tenfold, hundredfold] = [msFor(base), msFor(groups.slice(0, 2500)), msFor(groups)];
  const perSecond = (groups.length * groupSize) / (hundredfold / 1000);
  const ratios = [tenfold / once, hundredfold / once];
  return [
    {
      what: 'tracker updates, groups of 8',
      measured: `${Math.round(perSecond).toLocaleString('en')} observations/s`,
      goal: 'at least 200,000/s',
      met: perSecond >= 200_000,
    },
    {
      what: 'cost of 2,000, 20,000 and 200,000 observations',
      measured: `1 : ${ratios.map((ratio) => ratio.toFixed(1)).join(' : ')}`,
      goal: 'linear, 1 : 10 : 100 within 50 %',
      met: ratios.every((ratio, i) => ratio <= 1.5 * 10 ** (i + 1)),
    },
  ];
}

/** The certifying part of a training step's end: every certificate and the tables to look them up in. */
function benchCertificates(random: RandomGenerator): Result {
  const histories = Array.from({ length: 20 }, () => Array.from({ length: 12 }, () => drawGroup(random)));
  const trackers = Array.from({ length: 2000 }, (_, question) =>
    Array.from({ length: 25 }, (_, key) => {
      const tracker = track(`h:${key}.example`, histories[(question + key) % histories.length] ?? []);
      return { ...tracker, qid: `q${question}` };
    }),
  ).flat();
  const ms = cpuMs(() => void indexCertificates(certifyBank(trackers, paper)));
  return {
    what: 'certificates and lookup tables, 2,000 questions × 25 keys',
    measured: `${ms.toFixed(1)} ms`,
    goal: 'at most 50 ms',
    met: ms <= 50,
  };
}

function benchAdvantages(random: RandomGenerator): Result {
  const group = Array.from({ length: groupSize }, () => ({
    returns: discountedReturns(
      Array.from({ length: 100 }, () => random.next()),
      paper.gamma,
      'sum',
    ),
    states: Array.from({ length: 100 }, () => {
      const hostKey = `${random.below(2)}.example`;
      return { hostKey, pathKey: `${hostKey}/${random.below(4)}` };
    }),
    score: random.next(),
  }));
  const ms = cpuMs(() => void stratifiedAdvantages(group, paper));
  return {
    what: 'advantages of a group of 8 × 100 steps',
    measured: `${ms.toFixed(2)} ms`,
    goal: 'at most 5 ms',
    met: ms <= 5,
  };
}

function track(key: string, groups: readonly TrackerObservation[][]): Tracker {
  let tracker = emptyTracker({ qid: 'q', version: 1, tier: 'host', key, polarity: 1 }, paper);
  for (const group of groups) tracker = updateTracker(tracker, group, paper);
  return tracker;
}

function drawGroup(random: RandomGenerator): TrackerObservation[] {
  return Array.from({ length: groupSize }, () => ({ pYes: random.below(2), judge: random.next() }));
}

const machine = cpus();
console.log(
  `machine: ${machine.length} × ${machine[0]?.model ?? 'unknown processor'}, Node ${process.version}, one core used`,
);
const random = randomGenerator(['bench']);
const results = [...benchTracker(random), benchCertificates(random), benchAdvantages(random)];
for (const { what, measured, goal, met } of results) {
  console.log(`${met ? 'met   ' : 'MISSED'}  ${what}: ${measured} (goal: ${goal})`);
}
process.exitCode = results.every((result) => result.met) ? 0 : 1;
