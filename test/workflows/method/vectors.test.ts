import { describe, expect, test } from 'vitest';
import { readVectorFile, runVector } from '../../../infra/method/vector-file.ts';

const file = readVectorFile('test/fixtures/vectors.json');

describe('the code agrees with the independent reference (METHOD 9)', () => {
  test.each(file.cases)('$id: $note', (vector) => {
    expect(runVector(vector, file)).toEqual([]);
  });

  test('a vector with another output fails and says where', () => {
    const vector = {
      id: 'x',
      fn: 'lift',
      note: '',
      input: {
        obs: [
          [1, 0.9],
          [0, 0.4],
        ],
      },
      output: { lift: 0.4 },
    };
    expect(runVector(vector, file)).toEqual(['lift.lift: 0.5 instead of 0.4']);
  });

  test('a vector of an unknown function fails', () => {
    expect(runVector({ id: 'x', fn: 'no_such', note: '', input: [], output: [] }, file)[0]).toMatch(
      /unknown/,
    );
  });
});
