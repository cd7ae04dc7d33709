import type { Graded } from '../../activities/browser/outcome.ts';
import type { Caveat, Task } from '../../benchmarks/contract.ts';
import type { ExaminedTask } from './examine.ts';

/** `impossible` cannot be found without acting; `flaky` is never a property that a list should hold. */
export type Symptom = Exclude<Caveat['kind'], 'impossible'> | 'flaky' | 'ungraded';

export interface Finding {
  readonly taskId: string;
  readonly symptom: Symptom;
  /** What the outcome verifier said. */
  readonly message: string;
  /** True where the task's own caveats say so. */
  readonly isKnown: boolean;
}

export interface Diagnosis {
  readonly tasks: number;
  readonly findings: readonly Finding[];
  /** Tasks whose caveats name a symptom that was not found. */
  readonly notFound: readonly { readonly taskId: string; readonly symptom: Symptom }[];
}

/** True when nothing was found that the tasks' caveats do not say, and nothing is missing. */
export function isAsKnown({ findings, notFound }: Diagnosis): boolean {
  return notFound.length === 0 && findings.every(({ isKnown }) => isKnown);
}

export function diagnose(examined: readonly ExaminedTask[]): Diagnosis {
  const findings = examined.flatMap((each) => findingsOf(each));
  const found = new Set(findings.map(({ taskId, symptom }) => `${symptom} ${taskId}`));
  const notFound = examined.flatMap(({ task }) =>
    symptomsOf(task)
      .filter((symptom) => !found.has(`${symptom} ${task.id}`))
      .map((symptom) => ({ taskId: task.id, symptom })),
  );
  return { tasks: examined.length, findings, notFound };
}

const symptomsOf = ({ caveats = [] }: Task): Symptom[] =>
  caveats.map(({ kind }) => kind).filter((kind) => kind !== 'impossible');

function findingsOf({ task, untouched, solved }: ExaminedTask): Finding[] {
  const finding = (symptom: Symptom, message: string): Finding => ({
    taskId: task.id,
    symptom,
    message,
    isKnown: symptomsOf(task).includes(symptom),
  });
  const findings: Finding[] = [];
  const passed = untouched.find(({ outcome }) => outcome.kind === 'success');
  if (passed !== undefined) findings.push(finding('vacuous', passed.message));
  const ungraded = untouched.find(({ outcome }) => outcome.kind === 'unscored');
  if (ungraded !== undefined) findings.push(finding('ungraded', ungraded.message));
  const unsolved = solved.find(({ outcome }) => outcome.kind !== 'success');
  if (unsolved !== undefined) findings.push(finding('unsolved', unsolved.message));
  for (const verdicts of [untouched, solved]) {
    if (!agree(verdicts)) {
      findings.push(finding('flaky', verdicts.map(({ message }) => message).join(' | ')));
    }
  }
  return findings;
}

const agree = (verdicts: readonly Graded[]): boolean =>
  new Set(verdicts.map(({ outcome, message }) => JSON.stringify([outcome, message]))).size <= 1;
