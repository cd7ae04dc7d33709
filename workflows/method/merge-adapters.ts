import { finite, invalid, sameLength } from './checks.ts';
import { truncatedSvd } from './svd.ts';

/** Row-major, all rows of one length. */
export type Matrix = readonly (readonly number[])[];

/** A low-rank update B·A of one layer: B is (outputs × rank), A is (rank × inputs). */
export interface LowRankAdapter {
  readonly A: Matrix;
  readonly B: Matrix;
}

export interface MergedAdapter extends LowRankAdapter {
  /** ‖mean(B)·mean(A) - mean(B·A)‖ relative to ‖mean(B·A)‖, Frobenius: what averaging the factors costs. */
  readonly averagingError: number;
}

/**
 * METHOD 5.6: merges the shards' adapters of one layer, meaningful only because all start from the same bytes.
 * `average` is element-wise; `product` averages the products and truncates them to the rank by SVD.
 */
export function mergeAdapters(
  adapters: readonly LowRankAdapter[],
  how: 'average' | 'product',
): MergedAdapter {
  const [first] = adapters;
  if (first === undefined) return invalid('adapters', 'empty', 'at least one adapter');
  const rank = first.A.length;
  for (const { A, B } of adapters) for (const row of B) sameLength('a row of B', row.length, A.length);

  const averaged = { A: meanMatrix(adapters.map(({ A }) => A)), B: meanMatrix(adapters.map(({ B }) => B)) };
  const product = meanMatrix(adapters.map(({ A, B }) => multiply(B, A)));
  const norm = frobenius(product);
  const difference = frobenius(subtract(multiply(averaged.B, averaged.A), product));
  return {
    ...(how === 'average' ? averaged : lowRank(product, rank)),
    averagingError: norm === 0 ? 0 : finite('averagingError', difference / norm),
  };
}

/** The closest matrix of that rank, its singular values shared equally between the factors. */
function lowRank(matrix: Matrix, rank: number): LowRankAdapter {
  const components = truncatedSvd(matrix, rank);
  return {
    A: components.map(({ right, value }) => right.map((entry) => entry * Math.sqrt(value))),
    B: matrix.map((_, row) => components.map(({ left, value }) => (left[row] ?? 0) * Math.sqrt(value))),
  };
}

function meanMatrix(matrices: readonly Matrix[]): number[][] {
  const [first = []] = matrices;
  for (const matrix of matrices) {
    sameLength('a matrix', matrix.length, first.length);
    for (const [i, row] of matrix.entries()) sameLength('a row', row.length, first[i]?.length ?? 0);
  }
  return first.map((row, i) =>
    row.map((_, j) => {
      const sum = matrices.reduce((total, matrix) => total + (matrix[i]?.[j] ?? 0), 0);
      return finite('adapter weight', sum / matrices.length);
    }),
  );
}

function multiply(left: Matrix, right: Matrix): number[][] {
  const columns = right[0]?.length ?? 0;
  return left.map((row) =>
    Array.from({ length: columns }, (_, j) =>
      row.reduce((sum, entry, k) => sum + entry * (right[k]?.[j] ?? 0), 0),
    ),
  );
}

const subtract = (left: Matrix, right: Matrix): number[][] =>
  left.map((row, i) => row.map((entry, j) => entry - (right[i]?.[j] ?? 0)));

const frobenius = (matrix: Matrix): number => Math.hypot(...matrix.map((row) => Math.hypot(...row)));
