import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type LowRankAdapter, type Matrix, mergeAdapters } from '../../../workflows/method/merge-adapters.ts';
import { truncatedSvd } from '../../../workflows/method/svd.ts';
import { cases, shuffled } from './arbitraries.ts';
import { expectClose } from './close.ts';

const entry = fc.integer({ min: -20, max: 20 }).map((n) => n / 10);
const matrix = (rows: number, columns: number): fc.Arbitrary<number[][]> =>
  fc.array(fc.array(entry, { minLength: columns, maxLength: columns }), { minLength: rows, maxLength: rows });
const adapter: fc.Arbitrary<LowRankAdapter> = fc.record({ A: matrix(2, 4), B: matrix(3, 2) });
const adapters = fc.array(adapter, { minLength: 1, maxLength: 4 });

const multiply = (left: Matrix, right: Matrix): number[][] =>
  left.map((row) =>
    (right[0] ?? []).map((_, j) => row.reduce((sum, x, k) => sum + x * (right[k]?.[j] ?? 0), 0)),
  );
const sumOfSquares = (m: Matrix): number => m.flat().reduce((sum, x) => sum + x * x, 0);
const minus = (left: Matrix, right: Matrix): number[][] =>
  left.map((row, i) => row.map((x, j) => x - (right[i]?.[j] ?? 0)));

describe('singular value decomposition', () => {
  test('all components rebuild the matrix from orthonormal vectors, largest first', () => {
    fc.assert(
      fc.property(matrix(4, 3), (m) => {
        const parts = truncatedSvd(m, 3);
        const rebuilt = m.map((row, i) =>
          row.map((_, j) =>
            parts.reduce((sum, p) => sum + p.value * (p.left[i] ?? 0) * (p.right[j] ?? 0), 0),
          ),
        );
        expectClose(rebuilt, m);
        const values = parts.map((p) => p.value);
        expect(values).toEqual(values.toSorted((a, b) => b - a));
        for (const [i, a] of parts.entries()) {
          for (const [j, b] of parts.entries()) {
            const dot = a.right.reduce((sum, x, k) => sum + x * (b.right[k] ?? 0), 0);
            expectClose(dot, i === j ? 1 : 0);
          }
        }
      }),
      cases,
    );
  });

  test('cut to a rank, exactly the squares of the left-out singular values are lost', () => {
    fc.assert(
      fc.property(matrix(3, 4), fc.integer({ min: 1, max: 3 }), (m, rank) => {
        const all = truncatedSvd(m, 4);
        const kept = truncatedSvd(m, rank);
        const rebuilt = m.map((row, i) =>
          row.map((_, j) => kept.reduce((sum, p) => sum + p.value * (p.left[i] ?? 0) * (p.right[j] ?? 0), 0)),
        );
        const lost = all.slice(rank).reduce((sum, p) => sum + p.value ** 2, 0);
        expect(Math.abs(sumOfSquares(minus(m, rebuilt)) - lost)).toBeLessThan(1e-9);
      }),
      cases,
    );
  });
});

describe('merging adapters (METHOD 5.6)', () => {
  test('merging copies of one adapter is that adapter, whichever way', () => {
    fc.assert(
      fc.property(adapter, fc.integer({ min: 1, max: 4 }), (one, copies) => {
        const many = Array.from({ length: copies }, () => one);
        const averaged = mergeAdapters(many, 'average');
        expectClose({ A: averaged.A, B: averaged.B }, one);
        expect(averaged.averagingError).toBeLessThan(1e-12);
        const product = mergeAdapters(many, 'product');
        expectClose(multiply(product.B, product.A), multiply(one.B, one.A), 1e-8);
      }),
      cases,
    );
  });

  test('the product rule is never further from the mean product than averaging the factors', () => {
    fc.assert(
      fc.property(adapters, (many) => {
        const mean = many
          .map(({ A, B }) => multiply(B, A))
          .reduce((sum, m) => sum.map((row, i) => row.map((x, j) => x + (m[i]?.[j] ?? 0))))
          .map((row) => row.map((x) => x / many.length));
        const distance = (how: 'average' | 'product'): number => {
          const { A, B } = mergeAdapters(many, how);
          return Math.sqrt(sumOfSquares(minus(multiply(B, A), mean)));
        };
        expect(distance('product')).toBeLessThanOrEqual(distance('average') + 1e-9);
        const norm = Math.sqrt(sumOfSquares(mean));
        if (norm > 0) expectClose(mergeAdapters(many, 'average').averagingError, distance('average') / norm);
      }),
      cases,
    );
  });

  test('the order of the shards does not matter', () => {
    const reordered = adapters.chain((many) => fc.tuple(fc.constant(many), shuffled(many)));
    fc.assert(
      fc.property(reordered, ([many, mixed]) => {
        expectClose(mergeAdapters(mixed, 'average'), mergeAdapters(many, 'average'));
      }),
      cases,
    );
  });

  test('adapters of different shape, and no adapter, are refused', () => {
    const one = { A: [[1, 2]], B: [[1]] };
    expect(() => mergeAdapters([one, { A: [[1, 2, 3]], B: [[1]] }], 'average')).toThrow('length of a row');
    expect(() => mergeAdapters([{ A: [[1]], B: [[1, 2]] }], 'average')).toThrow('length of a row of B');
    expect(() => mergeAdapters([], 'average')).toThrow('at least one adapter');
  });
});
