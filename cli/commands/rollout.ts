import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Task } from '../../benchmarks/contract.ts';
import { stepText } from '../../models/embedded/trace-text.ts';
import { observationText } from '../../models/providers/page-text.ts';
import { benchmarkNamed, scriptedParts } from '../../workers/parts.ts';
import type { Settings } from '../../workers/settings.ts';
import { outcomeText } from '../report/cells.ts';
import { counted } from '../report/numbers.ts';
import { type Field, fields, jsonLine, safeLine } from '../report/terminal-text.ts';
import { type Agent, type PlayedRollout, type PlayOptions, playRollout } from '../rollout/play.ts';
import { nextScriptAction, readScript } from '../rollout/script.ts';
import { withPool } from '../rollout/with-pool.ts';

export interface RolloutOptions {
  /** Id of the task; a script names its own. */
  readonly task?: string;
  /** Action script; without one the embedded base policy acts, greedily. */
  readonly script?: string;
  /** Also print the last page as policies read it. */
  readonly observe?: boolean;
  /** Folder for a screenshot after each step. */
  readonly screenshots?: string;
  /** With a box and its ref around each element. */
  readonly marks?: boolean;
  readonly json?: boolean;
}

/**
 * Plays one rollout here and now, with no database and no Temporal, and grades it. Exit status 1: a script that
 * could not be played to its end, whose task passes untouched, or that does not solve it.
 */
export async function rollout(settings: Settings, options: RolloutOptions): Promise<void> {
  const { benchmark, task, agent } = await prepare(settings, options);
  const say = (line: string) => process.stderr.write(`${line}\n`);
  const played = await withPool(settings, say, (pool) =>
    playRollout({
      ...{ pool, benchmark, task, agent },
      signal: new AbortController().signal,
      onStep: stepReporter(options),
    }),
  );
  const { finalObservation, ...result } = played;
  if (options.observe) console.log(observationText(finalObservation, OBSERVATION_LIMIT));
  console.log(options.json ? jsonLine(result) : verdictLines(task, played).join('\n'));
  if (options.script !== undefined && !isSolved(played)) process.exitCode = 1;
}

const OBSERVATION_LIMIT = 200_000;

/** True when the script was played to its end and made the difference between a failing and a solved task. */
export function isSolved({ problem, untouched, graded }: PlayedRollout): boolean {
  return problem === null && untouched.outcome.kind === 'failure' && graded.outcome.kind === 'success';
}

async function prepare(settings: Settings, options: RolloutOptions) {
  const script = options.script === undefined ? null : readScript(options.script);
  const taskId = options.task ?? script?.task;
  if (taskId === undefined) throw new Error('which task? give --task ID or --script FILE');
  const benchmark = benchmarkNamed(taskId.split('/', 1)[0] ?? '', settings);
  const task = benchmark.tasks.find(({ id }) => id === taskId);
  if (task === undefined) {
    throw new Error(`${benchmark.name} has no task ${taskId}; \`clift tasks list\` shows them`);
  }
  const agent: Agent = script
    ? (observation, history) => nextScriptAction(script, observation, history)
    : await embeddedAgent(task);
  return { benchmark, task, agent };
}

async function embeddedAgent(task: Task): Promise<Agent> {
  const policy = await scriptedParts.policies.open(null);
  const { signal } = new AbortController();
  return async (observation, history) => {
    const seed = [0, history.length];
    const { action } = await policy.decide({ task, history, observation, temperature: 0, seed }, signal);
    return action;
  };
}

function stepReporter({ screenshots, marks = false }: RolloutOptions): NonNullable<PlayOptions['onStep']> {
  if (screenshots !== undefined) mkdirSync(screenshots, { recursive: true });
  return async (step, session) => {
    process.stderr.write(`${safeLine(stepText(step))}\n`);
    if (screenshots === undefined) return;
    const name = `step-${String(step.index + 1).padStart(2, '0')}.jpg`;
    writeFileSync(join(screenshots, name), await session.screenshot({ marks }));
  };
}

function verdictLines({ instruction }: Task, played: PlayedRollout): string[] {
  const { graded, untouched, problem, stopReason, steps, flags } = played;
  const rows: readonly Field[] = [
    ['task', played.taskId],
    ['instruction', instruction],
    ['untouched', outcomeText(untouched.outcome)],
    ['ended', `${stopReason} after ${counted(steps.length, 'step')}`],
    ...(problem === null ? [] : [['problem', problem] as const]),
    ...flags.map(({ rule, detail }): Field => ['guard', `${rule}: ${detail}`]),
    ['outcome', `${outcomeText(graded.outcome)}: ${graded.message}`],
  ];
  return fields(rows);
}
