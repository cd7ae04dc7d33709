import type { PurposeCosts } from '../../bank-store/contract.ts';
import { counted, decimal, dollars, percent } from './numbers.ts';
import type { PaperDifference } from './paper-differences.ts';
import { table } from './table.ts';
import { type Field, fields, type Paint } from './terminal-text.ts';
import type { TrainingSummary } from './training-summary.ts';

export function renderTraining(summary: TrainingSummary, title: string, paint: Paint): string[] {
  const { runId, seed, shards, steps, committed, rollouts, judgeScore, learningRate } = summary;
  const outcomes = Object.entries(summary.stepOutcomes).map(([outcome, count]) => `${count} ${outcome}`);
  const { success, failure, unscored } = rollouts;
  return [
    paint('bold', title),
    ...fields([
      [
        'run',
        `${runId}, seed ${seed}, ${counted(shards, 'shard')} of ${counted(steps, 'step')}, learning rate ${learningRate}`,
      ],
      [
        'steps',
        `${committed} of ${shards * steps} committed${outcomes.length === 0 ? '' : `: ${outcomes.join(', ')}`}`,
      ],
      ['rollouts', `${success} success, ${failure} failure, ${unscored} unscored`],
      [
        'judge score',
        `mean ${decimal(judgeScore.first)} in the first quarter, ${decimal(judgeScore.last)} in the last, of other tasks`,
      ],
      ...updateFields(summary),
    ]),
    ...renderCosts(summary.costs, paint),
  ];
}

function updateFields({ updates }: TrainingSummary): readonly Field[] {
  if (updates === null) return [['updates', 'none']];
  const { count, reward, verifierShare, deadShare, kl, clipShare } = updates;
  return [
    [
      'updates',
      `${count}; mean reward ${decimal(reward, 3)}, ${percent(verifierShare)} of it from the bank; ` +
        `${percent(deadShare)} of the steps without an advantage of their own; ` +
        `KL ${decimal(kl, 4)}; ${percent(clipShare)} of the tokens clipped`,
    ],
  ];
}

export function renderCosts(costs: readonly PurposeCosts[], paint: Paint): string[] {
  if (costs.length === 0) return ['model calls  none'];
  const lost = costs.reduce((sum, { lostReplies }) => sum + lostReplies, 0);
  return [
    ...table(
      [
        { title: 'model calls' },
        ...['calls', 'input tokens', 'output tokens', 'cost'].map((title) => ({
          title,
          align: 'right' as const,
        })),
      ],
      costs.map(({ purpose, calls, inputTokens, outputTokens, costUsd }) => [
        purpose,
        ...[calls, inputTokens, outputTokens].map(String),
        dollars(costUsd),
      ]),
      paint,
    ),
    ...(lost === 0 ? [] : [`${counted(lost, 'more call')} gave no usable reply and may have been paid for`]),
  ];
}

/** The hyperparameters that are not the paper's: printed with every result. */
export function renderPaperDifferences(differences: readonly PaperDifference[], paint: Paint): string[] {
  if (differences.length === 0) return [`${paint('bold', 'Hyperparameters')}  all as in the paper`];
  return [
    paint('bold', 'Hyperparameters that differ from the paper'),
    ...table(
      [
        { title: 'name' },
        { title: 'here', align: 'right' },
        { title: 'paper', align: 'right' },
        { title: 'in' },
      ],
      differences.map(({ name, value, paper, kinds }) => [
        name,
        shown(value),
        shown(paper),
        kinds.join(', '),
      ]),
      paint,
    ),
  ];
}

const shown = (value: PaperDifference['value']): string => (value === null ? 'none' : String(value));
