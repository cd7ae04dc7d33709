import { describeMachine } from '../../infra/bench/machine.ts';
import { table } from '../report/table.ts';
import type { Paint } from '../report/terminal-text.ts';
import type { StormReport } from './campaign.ts';
import { phases } from './points.ts';
import type { Strike } from './storm.ts';

const plain: Paint = (_style, text) => text;

/** The table of victims and phases, how soon work went on, and what was proved of each storm. */
export function renderChaos(reports: readonly StormReport[], missed: readonly string[]): string {
  const strikes = reports.flatMap((report) => report.strikes);
  return [
    `machine: ${describeMachine()}`,
    `${strikes.length} strikes in ${reports.length} storms, each on a victim that was at work`,
    '',
    ...table(
      [{ title: 'strikes' }, ...phases.map((phase) => ({ title: phase, align: 'right' as const }))],
      byVictim(strikes).map(([victim, its]) => [
        victim,
        ...phases.map((phase) => String(its.filter((strike) => strike.phase === phase).length || '·')),
      ]),
      plain,
      130,
    ),
    ...missed.map((cell) => `NOT STRUCK: ${cell}`),
    '',
    ...table(
      [{ title: 'work went on after' }, ...['median', 'longest', 'strikes'].map(rightColumn)],
      byVictim(strikes).map(([victim, its]) => [victim, ...recoveryCells(its)]),
      plain,
    ),
    ...reports.flatMap((report, index) => ['', ...stormLines(report, index + 1)]),
  ].join('\n');
}

const rightColumn = (title: string) => ({ title, align: 'right' as const });

const byVictim = (strikes: readonly Strike[]) => [...Map.groupBy(strikes, ({ victim }) => victim)];

function recoveryCells(strikes: readonly Strike[]): readonly string[] {
  const times = strikes.map(({ recoveryMs }) => recoveryMs ?? Number.POSITIVE_INFINITY).sort((a, b) => a - b);
  const shown = (ms: number | undefined) =>
    ms === undefined || ms === Number.POSITIVE_INFINITY ? 'never' : `${(ms / 1000).toFixed(1)} s`;
  return [shown(times[Math.floor((times.length - 1) / 2)]), shown(times.at(-1)), String(strikes.length)];
}

export function stormLines(
  { arrangement, strikes, checks, seconds, calmSeconds }: StormReport,
  number: number,
) {
  const times = `${seconds.toFixed(0)} s, undisturbed ${calmSeconds.toFixed(0)} s`;
  return [
    `Storm ${number} (${arrangement}): ${strikes.length} strikes, ${times}`,
    ...checks.map(({ claim, holds, detail }) => `  ${holds ? 'holds ' : 'BROKEN'}  ${claim} (${detail})`),
  ];
}
