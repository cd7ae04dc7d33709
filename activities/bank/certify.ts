import type { BankStore, StoredAnswer } from '../../bank-store/contract.ts';
import { certifyBank } from '../../workflows/method/certify.ts';
import { questionKey } from '../../workflows/method/lookup.ts';
import { type CellObservations, observationsByCell } from '../../workflows/method/observations.ts';
import { emptyTracker, updateTracker } from '../../workflows/method/tracker.ts';
import type { CertifierConstants, Observation, Question, Tracker } from '../../workflows/method/types.ts';
import { trainStepId } from '../../workflows/names.ts';
import { readBank } from '../bank-snapshot.ts';
import type { TrainingStepRef } from '../contracts.ts';
import { type JudgedRollout, readGroup, readJudgedRollouts } from '../group.ts';
import { trainConfigSchema } from '../run-config.ts';
import { withCurrentSigns } from './signed-trackers.ts';

/** Counts one group for every tracker that it touched and renews the certificates (METHOD 2), once per step. */
export async function certify(
  store: BankStore,
  at: TrainingStepRef,
): Promise<{ readonly observations: number; readonly certified: number }> {
  const run = await store.getRun(at.runId);
  const { hyperparameters } = trainConfigSchema.parse(run.config);
  const groupId = trainStepId(at.runId, at.shard, at.step);
  const judged = await readJudgedRollouts(store, await readGroup(store, groupId));
  const { questions } = await store.snapshotAt({ ...at, step: at.step - 1 });
  const cells = observationsByCell(observationsOf(judged, groupId, questions));

  await store.certifyStep(at, (trackers) => {
    const updated = countGroup(trackers, cells, questions, hyperparameters);
    // e-BH selects among all trackers of the bank, so under `strict` one group can move every certificate.
    const renewed =
      hyperparameters.certifier === 'strict'
        ? withCurrentSigns(replace(trackers, updated), questions.filter(isAsked))
        : updated;
    return { trackers: updated, certificates: certifyBank(renewed, hyperparameters) };
  });
  const { certificates } = await readBank(store, at);
  return {
    observations: cells.reduce((sum, { observations }) => sum + observations.length, 0),
    certified: certificates.filter(({ reasons }) => reasons.length === 0).length,
  };
}

/** Valid answers of judged rollouts; a question never counts the groups that it was mined from (METHOD 5.2). */
function observationsOf(
  judged: readonly JudgedRollout[],
  groupId: string,
  questions: readonly Question[],
): readonly Observation[] {
  const byKey = new Map(questions.map((question) => [questionKey(question.id, question.version), question]));
  const counts = ({ questionId, version }: StoredAnswer): boolean => {
    const question = byKey.get(questionKey(questionId, version));
    return question !== undefined && !question.provenance.groupIds?.includes(groupId);
  };
  return judged.flatMap(({ rollout, judgement, answers }) =>
    answers.filter(counts).flatMap(({ questionId, version, pYes, pathKey, hostKey }): Observation[] => {
      if (pYes === null) return [];
      return [
        {
          qid: questionId,
          version,
          groupId,
          rolloutId: rollout.rollout.id,
          pYes,
          url: { pathKey, hostKey },
          judge: judgement.score,
        },
      ];
    }),
  );
}

function countGroup(
  trackers: readonly Tracker[],
  cells: readonly CellObservations[],
  questions: readonly Question[],
  constants: CertifierConstants,
): readonly Tracker[] {
  const current = new Map(trackers.map((tracker) => [cellKey(tracker), tracker]));
  const polarities = new Map(
    questions.map(({ id, version, polarity }) => [questionKey(id, version), polarity]),
  );
  return cells.map(({ qid, version, tier, key, observations }) => {
    const polarity = polarities.get(questionKey(qid, version)) ?? 0;
    const cell = { qid, version, tier, key, polarity };
    const before = current.get(cellKey(cell)) ?? emptyTracker(cell, constants);
    // A question that lost its sign keeps its evidence, and is neutral from now on.
    return updateTracker({ ...before, polarity }, observations, constants);
  });
}

const isAsked = ({ status }: Question): boolean => status !== 'retired';

function replace(trackers: readonly Tracker[], updated: readonly Tracker[]): readonly Tracker[] {
  const keys = new Set(updated.map(cellKey));
  return [...trackers.filter((tracker) => !keys.has(cellKey(tracker))), ...updated];
}

const cellKey = ({ qid, version, key }: Pick<Tracker, 'qid' | 'version' | 'key'>): string =>
  JSON.stringify([qid, version, key]);
