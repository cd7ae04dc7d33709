import type { OutcomeRates } from '../../workflows/method/rates.ts';
import type { Arm, Part, SelectionEffect } from './held-out.ts';
import { counted, decimal, differenceText, percent, rateText, UNKNOWN } from './numbers.ts';
import { table } from './table.ts';
import type { Paint } from './terminal-text.ts';

/** Both denominators with their intervals, and what stands between them (invariant 1); `which` follows the count. */
export function renderArms(arms: readonly Arm[], paint: Paint, which = ''): string[] {
  const [first] = arms;
  const tasks = first?.rates.ofAll?.total ?? 0;
  return [
    `${paint('bold', `Success on ${counted(tasks, 'held-out task')}${which}`)}, in brackets the 95 % Wilson interval`,
    ...table(
      [
        { title: '' },
        { title: 'of all tasks' },
        { title: 'of scored tasks' },
        { title: 'unscored' },
        { title: 'steps on success', align: 'right' },
      ],
      arms.map(({ name, rates, stepsOnSuccess }) => [
        name,
        rateText(rates.ofAll),
        rateText(rates.ofScored),
        unscoredText(rates),
        decimal(stepsOnSuccess, 1),
      ]),
      paint,
    ),
    '',
    ...renderDifferences(arms, first?.name ?? '', paint),
  ];
}

/** Rates of parts, one a line; nothing where there is only one part. */
export function renderParts(title: string, parts: readonly Part[], paint: Paint): string[] {
  if (parts.length < 2) return [];
  const columns = [title, 'of all tasks', 'of scored tasks', 'unscored'].map((each) => ({ title: each }));
  const rows = parts.map(({ name, rates }) => [
    ...[name, rateText(rates.ofAll), rateText(rates.ofScored), unscoredText(rates)],
  ]);
  return [...table(columns, rows, paint), ''];
}

function renderDifferences(arms: readonly Arm[], base: string, paint: Paint): string[] {
  const compared = arms.flatMap(({ name, againstBase }) =>
    againstBase === null ? [] : [{ name, ...againstBase }],
  );
  if (compared.length === 0) return [];
  return table(
    [
      { title: '' },
      { title: `points against ${base} [95 % interval, paired by task]` },
      { title: 'tasks scored in both', align: 'right' },
    ],
    compared.map(({ name, difference, pairs }) => [name, differenceText(difference), String(pairs)]),
    paint,
  );
}

export function unscoredText({ unscored }: Pick<OutcomeRates, 'unscored'>): string {
  const causes = Object.entries(unscored).map(([cause, count]) => `${count} ${cause}`);
  return causes.length === 0 ? 'none' : causes.join(', ');
}

/** What the votes changed against the greedy rollout, by app and in all. */
export function renderSelection(
  effects: readonly SelectionEffect[],
  rolloutBudget: number,
  paint: Paint,
): string[] {
  const sum = (name: 'improve' | 'tie' | 'regress' | 'unscored' | 'swapped' | 'tasks') =>
    effects.reduce((total, effect) => total + effect[name], 0);
  const all: SelectionEffect = {
    app: 'all',
    ...{ improve: sum('improve'), tie: sum('tie'), regress: sum('regress'), unscored: sum('unscored') },
    ...{ swapped: sum('swapped'), tasks: sum('tasks') },
  };
  return [
    `${paint('bold', 'Selection against the greedy rollout')}, K=${rolloutBudget}`,
    ...table(
      [
        { title: 'app' },
        ...['improve', 'tie', 'regress', 'unscored'].map((title) => ({ title, align: 'right' as const })),
        { title: 'swapped' },
      ],
      [...effects, all].map((effect) => [
        effect.app,
        ...[effect.improve, effect.tie, effect.regress, effect.unscored].map(String),
        swapText(effect),
      ]),
      paint,
    ),
  ];
}

function swapText({ swapped, tasks }: SelectionEffect): string {
  return tasks === 0 ? UNKNOWN : `${swapped}/${tasks}  ${percent(swapped / tasks)}`;
}
