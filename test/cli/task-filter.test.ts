import { expect, test } from 'vitest';
import { filterTasks, type TaskFilter } from '../../cli/task-filter.ts';
import { fabricateTask } from './fabricated-runs.ts';

const tasks = [
  { ...fabricateTask('a', 'mail', 'train'), suites: ['small', 'real'] },
  { ...fabricateTask('b', 'shop', 'heldout'), suites: ['real'] },
  fabricateTask('c', 'shop', 'heldout'),
];
const named = (filter: TaskFilter) => filterTasks(tasks, filter).map(({ id }) => id.split('/').at(-1));

test('filters narrow the list together', () => {
  expect(named({})).toEqual(['a', 'b', 'c']);
  expect(named({ split: 'heldout' })).toEqual(['b', 'c']);
  expect(named({ suite: 'real' })).toEqual(['a', 'b']);
  expect(named({ split: 'heldout', suite: 'real' })).toEqual(['b']);
  expect(named({ split: 'heldout', difficulty: 'hard' })).toEqual([]);
});

test('an app or a suite that there is not is an error that names those that there are', () => {
  expect(() => named({ app: 'mial' })).toThrow('no app named mial; there are: mail, shop');
  expect(() => named({ suite: 'nine' })).toThrow('no suite named nine; there are: real, small');
  expect(() => filterTasks([fabricateTask('c', 'shop', 'heldout')], { suite: 'nine' })).toThrow(
    'there are: none',
  );
});
