import { expect, test } from 'vitest';
import { chaosCells, nameOf, roleOf, victims } from '../../../cli/chaos/cells.ts';
import { phases, pointOf, points } from '../../../cli/chaos/points.ts';

const nameOfCell = (cell: ReturnType<typeof chaosCells>[number]) => `${nameOf(cell)} ${cell.point.phase}`;

test('every victim has a cell in every phase in which it has work, and only there', () => {
  const cells = chaosCells(1, victims, true);
  for (const victim of victims) {
    const role = roleOf[victim];
    const expected = phases.filter((phase) =>
      points.some((point) => point.phase === phase && (role === null || point.role === role)),
    );
    const struck = cells.filter((cell) => cell.victim === victim && cell.manner !== 'stop');
    expect(new Set(struck.map(({ point }) => point.phase)), victim).toEqual(new Set(expected));
  }
  expect(new Set(cells.map(nameOfCell)).size).toBe(cells.length);
});

test('the order is drawn from the seed, and is the same for the same seed', () => {
  const order = (seed: number) => chaosCells(seed, victims, true).map(nameOfCell);
  expect(order(1)).toEqual(order(1));
  expect(order(1)).not.toEqual(order(2));
  expect(new Set(order(1))).toEqual(new Set(order(2)));
});

test('links are struck only where the job has them', () => {
  expect(chaosCells(1, victims, false).some(({ victim }) => victim.startsWith('link'))).toBe(false);
});

test('an activity belongs to the phase of its workflow', () => {
  const phaseOf = (id: string, activity: string) => pointOf(id, activity)?.phase;
  expect(phaseOf('eval/demo-s5-1-base/task/sandbox/mail/a', 'rollOut')).toBe('base evaluation');
  expect(phaseOf('eval/demo-s5-1-clift/task/sandbox/mail/a', 'rollOut')).toBe('final evaluation');
  expect(phaseOf('train/demo-s5-1/shard/0/step/1', 'rollOut')).toBe('rollouts');
  expect(phaseOf('train/demo-s5-1/shard/0/step/1', 'answerQuestions')).toBe('judging');
  expect(phaseOf('eval/demo-s5-1-clift/task/sandbox/mail/a', 'castVotes')).toBe('votes');
  expect(pointOf('train/demo-s5-1', 'setRunState')).toBeNull();
});
