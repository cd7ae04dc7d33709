import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Adapter,
  createAdapter,
  decodeAdapter,
  encodeAdapter,
  mergeAdapters,
} from '../../../models/embedded/adapter.ts';
import { smallShape } from './support.ts';

const base = 'b'.repeat(64);
const expected = { base, shape: smallShape };

function filled(values: readonly number[]): Adapter {
  const adapter = createAdapter(base, smallShape, [1]);
  for (const block of [adapter.weights, adapter.firstMoment, adapter.secondMoment]) {
    for (let k = 0; k < block.a.length; k++) block.a[k] = values[k % values.length] ?? 0;
    for (let k = 0; k < block.b.length; k++) block.b[k] = values[(3 * k) % values.length] ?? 0;
  }
  return adapter;
}

test('an adapter starts as the base policy: A small and random, B zero, equal for equal seeds', () => {
  const adapter = createAdapter(base, smallShape, [7, 'x']);
  expect(adapter.weights.b.every((value) => value === 0)).toBe(true);
  expect(adapter.weights.a.every((value) => value !== 0 && Math.abs(value) < 2)).toBe(true);
  expect(encodeAdapter(adapter)).toEqual(encodeAdapter(createAdapter(base, smallShape, [7, 'x'])));
  expect(encodeAdapter(adapter)).not.toEqual(encodeAdapter(createAdapter(base, smallShape, [8, 'x'])));
});

test('its bytes bring back every value, wherever they lie in memory', () => {
  const values = fc.array(fc.double({ noNaN: true }), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(values, fc.nat(9), (numbers, offset) => {
      const adapter = filled(numbers);
      const bytes = encodeAdapter(adapter);
      const shifted = new Uint8Array(bytes.length + offset);
      shifted.set(bytes, offset);
      expect(decodeAdapter(shifted.subarray(offset), expected)).toEqual(adapter);
    }),
  );
});

describe('an adapter is refused', () => {
  const bytes = encodeAdapter(createAdapter(base, smallShape, [1]));

  test('when its shape is another', () => {
    const wider = { base, shape: { ...smallShape, candidates: 8 } };
    expect(() => decodeAdapter(bytes, wider)).toThrow('5 × 8 × 7');
  });

  test('when it was trained on other base weights', () => {
    expect(() => decodeAdapter(bytes, { ...expected, base: 'c'.repeat(64) })).toThrow(
      'trained on base weights',
    );
  });

  test('when bytes are missing', () => {
    expect(() => decodeAdapter(bytes.subarray(0, bytes.length - 8), expected)).toThrow('damaged');
  });

  test('when it is no adapter at all', () => {
    for (const other of ['', 'hello', '{"format":"something"}\n', `${'9'.repeat(50)}\n`]) {
      expect(() => decodeAdapter(new TextEncoder().encode(other), expected)).toThrow('no adapter');
    }
  });
});

test('averaging takes the mean of every value, in any order up to rounding', () => {
  const numbers = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 2, maxLength: 9 });
  fc.assert(
    fc.property(numbers, numbers, (left, right) => {
      const [x, y] = [filled(left), filled(right)];
      const { adapter: mean } = mergeAdapters([x, y], 'average');
      const { adapter: turned } = mergeAdapters([y, x], 'average');
      for (const [k, value] of mean.weights.b.entries()) {
        expect(value).toBeCloseTo(((x.weights.b[k] ?? 0) + (y.weights.b[k] ?? 0)) / 2, 6);
        expect(value).toBeCloseTo(turned.weights.b[k] ?? 0, 6);
      }
      expect(mergeAdapters([x], 'average').adapter).toEqual(x);
    }),
  );
  expect(() => mergeAdapters([], 'average')).toThrow('no adapter to merge');
});

test('merging by products keeps the mean of the scores where the rank allows it, averaging the factors does not', () => {
  // Two adapters of rank 1 whose products have one direction in common: their mean has rank 1 as well.
  const shape = { tasks: 2, rank: 1, candidates: 2 };
  const of = (a: readonly number[], b: readonly number[]): Adapter => ({
    ...createAdapter('base', shape, [1]),
    weights: { a: Float64Array.from(a), b: Float64Array.from(b) },
  });
  const shards = [of([1, 0], [2, 4]), of([3, 0], [1, 2])];
  const productOf = ({ weights: { a, b } }: Adapter) =>
    [...a].map((left) => [...b].map((right) => left * right));
  const byProduct = mergeAdapters(shards, 'product');
  for (const [row, expected] of [
    [2.5, 5],
    [0, 0],
  ].entries()) {
    for (const [column, value] of expected.entries()) {
      expect(productOf(byProduct.adapter)[row]?.[column]).toBeCloseTo(value, 9);
    }
  }
  expect(mergeAdapters(shards, 'average').averagingError).toBeGreaterThan(0.1);
});
