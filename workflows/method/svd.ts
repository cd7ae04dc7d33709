/** One term of a singular value decomposition: value · left · rightᵀ, with unit vectors. */
export interface SingularComponent {
  readonly value: number;
  readonly left: readonly number[];
  readonly right: readonly number[];
}

/** Relative size of an off-diagonal product at which two columns count as orthogonal. */
const tolerance = 1e-15;
const maxSweeps = 60;

/**
 * The `rank` largest components, by one-sided Jacobi rotations: columns are rotated pairwise until all are
 * orthogonal; then their lengths are the singular values. Missing components have value 0.
 */
export function truncatedSvd(matrix: readonly (readonly number[])[], rank: number): SingularComponent[] {
  const width = matrix[0]?.length ?? 0;
  const columns = Array.from({ length: width }, (_, j) => matrix.map((row) => row[j] ?? 0));
  const rotations = Array.from({ length: width }, (_, j) => columns.map((_, k) => (j === k ? 1 : 0)));
  for (let sweep = 0; sweep < maxSweeps && sweepOnce(columns, rotations); sweep++);
  const components = columns.map((column, j) => {
    const value = Math.hypot(...column);
    const left = column.map((entry) => (value > 0 ? entry / value : 0));
    return { value, left, right: rotations[j] ?? [] };
  });
  components.sort((a, b) => b.value - a.value);
  const zero = { value: 0, left: matrix.map(() => 0), right: columns.map(() => 0) };
  return Array.from({ length: rank }, (_, k) => components[k] ?? zero);
}

/** Rotates every pair of columns once; false when none needed it. */
function sweepOnce(columns: number[][], rotations: number[][]): boolean {
  let rotated = false;
  for (let i = 0; i < columns.length; i++) {
    for (let j = i + 1; j < columns.length; j++) {
      const [left, right] = [columns[i] ?? [], columns[j] ?? []];
      const [a, b, product] = [dot(left, left), dot(right, right), dot(left, right)];
      if (product === 0 || Math.abs(product) <= tolerance * Math.sqrt(a * b)) continue;
      rotated = true;
      const zeta = (b - a) / (2 * product);
      const tangent = (zeta < 0 ? -1 : 1) / (Math.abs(zeta) + Math.hypot(1, zeta));
      const cosine = 1 / Math.hypot(1, tangent);
      rotate(left, right, cosine, cosine * tangent);
      rotate(rotations[i] ?? [], rotations[j] ?? [], cosine, cosine * tangent);
    }
  }
  return rotated;
}

function rotate(left: number[], right: number[], cosine: number, sine: number): void {
  for (const [k, a] of left.entries()) {
    const b = right[k] ?? 0;
    left[k] = cosine * a - sine * b;
    right[k] = sine * a + cosine * b;
  }
}

const dot = (left: readonly number[], right: readonly number[]): number =>
  left.reduce((sum, entry, k) => sum + entry * (right[k] ?? 0), 0);
