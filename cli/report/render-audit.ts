import { outcomeText } from './cells.ts';
import { counted, decimal, dollars, shortDigest, UNKNOWN } from './numbers.ts';
import { adapterText } from './render-rollout.ts';
import { placeOf, renderVotes } from './render-swap.ts';
import { minuteOf } from './run-overview.ts';
import type {
  CallTotals,
  OwnerAudit,
  RolloutAudit,
  RolloutContent,
  RunAudit,
  TaskAudit,
  VoteReason,
} from './task-audit.ts';
import { cutTo, fenced, fields, type Paint, paragraph, safeLine, WIDTH } from './terminal-text.ts';

const INDENT = '  ';

export function renderAudit({ task, runs }: TaskAudit, paint: Paint): string[] {
  const { id, app, difficulty, split, instruction, provenance } = task;
  return [
    ...fields([
      ['task', id],
      ['kind', `${app}, ${difficulty}, ${split}, from ${provenance.source} ${provenance.ref}`],
      ['instruction', instruction],
    ]),
    ...(runs.length === 0 ? ['', 'No run has begun anything of it.'] : []),
    ...runs.flatMap((run) => renderRun(run, paint)),
  ];
}

function renderRun(
  { runId, kind, state, createdAt, seed, codeVersions, bankDigest, owners }: RunAudit,
  paint: Paint,
) {
  return [
    '',
    paint('bold', `Run ${cutTo(safeLine(runId), WIDTH - 4)}`),
    ...paragraph(
      `${kind}, ${state}, started ${minuteOf(createdAt)} UTC, seed ${seed}, code ${codeVersions.join(', ')}, ` +
        `bank ${shortDigest(bankDigest)}`,
      INDENT,
    ),
    ...owners.flatMap((owner) => renderOwner(owner, paint)),
  ];
}

function renderOwner(
  { ownerId, trainingStep, rollouts, selection, calls, voteReasons }: OwnerAudit,
  paint: Paint,
): string[] {
  const how =
    trainingStep === null
      ? ''
      : `: ${trainingStep.outcome}, afterwards ${adapterText(trainingStep.adapterDigest)}`;
  return [
    ...paragraph(`${ownerId}${how}`, INDENT),
    ...rollouts.flatMap(renderRollout),
    ...renderCalls(calls, INDENT.repeat(2)),
    ...(selection === null
      ? []
      : [
          ...paragraph(
            `emitted: ${selection.selected === null ? 'no candidate' : `rollout ${placeOf(selection.selected)}`}`,
            INDENT,
          ),
          ...renderVotes(selection.comparisons, paint, WIDTH - INDENT.length).map((line) => INDENT + line),
          ...renderReasons(voteReasons ?? []),
        ]),
  ];
}

function renderReasons(reasons: readonly VoteReason[]): string[] {
  const texts = reasons.map(
    ({ incumbent, challenger, label, reason }) =>
      `${placeOf(incumbent)} against ${placeOf(challenger)}, ${label}: ${reason}`,
  );
  const indent = INDENT.repeat(2);
  return texts.length === 0 ? [] : fenced(texts, WIDTH - indent.length).map((line) => indent + line);
}

function renderRollout(rollout: RolloutAudit): string[] {
  const { index, outcome, stopReason, steps, judgeScore, answers, trajectoryDigest, adapterDigest } = rollout;
  const inner = INDENT.repeat(3);
  return [
    ...paragraph(
      `rollout ${index}: ${outcomeText(outcome)}, ${stopReason ?? 'still going'}, ${counted(steps, 'step')}; ` +
        `${adapterText(adapterDigest)}; trajectory ${shortDigest(trajectoryDigest)}`,
      INDENT.repeat(2),
    ),
    ...rollout.attempts.flatMap(({ attempt, steps: recorded, worker, ending, requestLogDigest }) =>
      paragraph(
        `attempt ${attempt} by ${worker}: ${counted(recorded, 'step')}, ${ending}` +
          (requestLogDigest === null ? '' : `; requests ${shortDigest(requestLogDigest)}`),
        inner,
      ),
    ),
    ...rollout.grades.flatMap(({ grader, ref, outcome: verdict, edit }) =>
      paragraph(
        `grade of ${grader} (${ref}): ${outcomeText(verdict)}` +
          (edit === null ? '' : `, edited by ${edit.author}: ${edit.reason}`),
        inner,
      ),
    ),
    ...(judgeScore === null ? [] : [`${inner}judge ${decimal(judgeScore)}`]),
    ...(answers.yes + answers.no + answers.invalid === 0
      ? []
      : [`${inner}answers ${answers.yes} yes, ${answers.no} no, ${answers.invalid} invalid`]),
    ...renderCalls(rollout.calls, inner),
    ...(rollout.content === null ? [] : renderContent(rollout.content, inner)),
  ];
}

function renderCalls(calls: readonly CallTotals[], indent: string): string[] {
  return calls.flatMap((total) =>
    paragraph(
      `${total.purpose} ${total.models.join(', ') || UNKNOWN}: ${counted(total.calls, 'call')}` +
        (total.executions > total.calls ? ` (begun ${total.executions} times)` : '') +
        `, ${total.inputTokens} tokens in, ${total.outputTokens} out, ${dollars(total.costUsd)}` +
        (total.flags.length > 0 ? `; flagged: ${total.flags.map(safeLine).join(', ')}` : ''),
      indent,
    ),
  );
}

function renderContent({ trace, answer, verdicts, rationale }: RolloutContent, indent: string): string[] {
  const texts = [
    ...trace,
    ...(answer === null ? [] : [`answer: ${answer}`]),
    ...verdicts.map((verdict) => `verdict: ${verdict}`),
    ...(rationale === null ? [] : [`rationale: ${rationale}`]),
  ];
  return fenced(texts, WIDTH - indent.length).map((line) => indent + line);
}
