/**
 * The trainable part of the embedded policy: score = task features × (W0 + A·B) × candidate features.
 * As bytes: one line of JSON (format, version, base digest, shape, updates), then little-endian float64 values:
 * A, B and the optimiser's first and second moments of both, row-major.
 */
import { z } from 'zod';
import { mergeAdapters as mergeFactors } from '../../workflows/method/merge-adapters.ts';
import { randomGenerator, type SeedPath } from '../../workflows/method/random.ts';

/** Task features × rank × candidate features. */
export interface AdapterShape {
  readonly tasks: number;
  readonly rank: number;
  readonly candidates: number;
}

/** One value per weight: A is tasks × rank, B is rank × candidates. */
export interface Factors {
  readonly a: Float64Array;
  readonly b: Float64Array;
}

export interface Adapter {
  /** Digest of the base weights that it was trained on. */
  readonly base: string;
  readonly shape: AdapterShape;
  /** Optimiser steps applied so far. */
  readonly updates: number;
  readonly weights: Factors;
  /** Running means of the gradient and of its square (Adam). */
  readonly firstMoment: Factors;
  readonly secondMoment: Factors;
}

const headerSchema = z.strictObject({
  format: z.literal('clift-adapter'),
  version: z.literal(1),
  base: z.string(),
  shape: z.tuple([z.int().positive(), z.int().positive(), z.int().positive()]),
  updates: z.int().nonnegative(),
});

/** Spread of A at the start: with about eight task features active, A maps them to values of order one. */
const initialSpread = 0.35;

/** A small and random, B zero: the policy starts as the base policy. Same path, same adapter. */
export function createAdapter(base: string, shape: AdapterShape, seed: SeedPath): Adapter {
  const generator = randomGenerator([...seed, 'adapter']);
  const weights = zeroFactors(shape);
  for (let k = 0; k < weights.a.length; k++) weights.a[k] = initialSpread * generator.normal();
  return {
    base,
    shape,
    updates: 0,
    weights,
    firstMoment: zeroFactors(shape),
    secondMoment: zeroFactors(shape),
  };
}

export function zeroFactors(shape: AdapterShape): Factors {
  return {
    a: new Float64Array(shape.tasks * shape.rank),
    b: new Float64Array(shape.rank * shape.candidates),
  };
}

export function encodeAdapter(adapter: Adapter): Uint8Array {
  const { base, shape, updates } = adapter;
  const header = new TextEncoder().encode(
    `${JSON.stringify({
      format: 'clift-adapter',
      version: 1,
      base,
      shape: [shape.tasks, shape.rank, shape.candidates],
      updates,
    })}\n`,
  );
  const blocks = blocksOf(adapter);
  const values = blocks.reduce((sum, block) => sum + block.length, 0);
  const bytes = new Uint8Array(header.length + 8 * values);
  bytes.set(header);
  const view = new DataView(bytes.buffer, header.length);
  let at = 0;
  for (const block of blocks) {
    for (const value of block) {
      view.setFloat64(at, value, true);
      at += 8;
    }
  }
  return bytes;
}

/** Throws when the bytes are no adapter, or one of another base policy or shape. */
export function decodeAdapter(bytes: Uint8Array, expected: { base: string; shape: AdapterShape }): Adapter {
  const { header, bodyStart } = readHeader(bytes);
  const [tasks, rank, candidates] = header.shape;
  const { shape } = expected;
  if (tasks !== shape.tasks || rank !== shape.rank || candidates !== shape.candidates) {
    throw new Error(
      `The adapter has shape ${header.shape.join(' × ')}, but the embedded policy needs ` +
        `${shape.tasks} × ${shape.rank} × ${shape.candidates}: train a new one with this version.`,
    );
  }
  if (header.base !== expected.base) {
    throw new Error(
      `The adapter was trained on base weights ${header.base.slice(0, 12)}, but these are ` +
        `${expected.base.slice(0, 12)}: use the version of the run that made it, or train a new one.`,
    );
  }
  const adapter: Adapter = {
    base: header.base,
    shape,
    updates: header.updates,
    weights: zeroFactors(shape),
    firstMoment: zeroFactors(shape),
    secondMoment: zeroFactors(shape),
  };
  readValues(bytes.subarray(bodyStart), blocksOf(adapter));
  return adapter;
}

/**
 * METHOD 5.6. All must share base and shape. Adam's moments are averaged either way: they belong to no product, and
 * the merged adapter is not trained further.
 */
export function mergeAdapters(
  adapters: readonly Adapter[],
  how: 'average' | 'product',
): { readonly adapter: Adapter; readonly averagingError: number } {
  const averaged = averageAdapters(adapters);
  const { tasks, rank, candidates } = averaged.shape;
  const merged = mergeFactors(
    // The score reads A·B from the left, METHOD's B·A from the right.
    adapters.map(({ weights }) => ({
      B: rowsOf(weights.a, tasks, rank),
      A: rowsOf(weights.b, rank, candidates),
    })),
    how,
  );
  if (how === 'average') return { adapter: averaged, averagingError: merged.averagingError };
  const weights = { a: Float64Array.from(merged.B.flat()), b: Float64Array.from(merged.A.flat()) };
  return { adapter: { ...averaged, weights }, averagingError: merged.averagingError };
}

function rowsOf(values: Float64Array, rows: number, columns: number): readonly (readonly number[])[] {
  return Array.from({ length: rows }, (_, row) => [...values.subarray(row * columns, (row + 1) * columns)]);
}

/** Element-wise mean of weights and moments. */
function averageAdapters(adapters: readonly Adapter[]): Adapter {
  const first = adapters[0];
  if (first === undefined) throw new Error('There is no adapter to merge.');
  if (adapters.length === 1) return first;
  const mean: Adapter = {
    base: first.base,
    shape: first.shape,
    updates: Math.max(...adapters.map((adapter) => adapter.updates)),
    weights: zeroFactors(first.shape),
    firstMoment: zeroFactors(first.shape),
    secondMoment: zeroFactors(first.shape),
  };
  for (const [index, block] of blocksOf(mean).entries()) {
    for (const adapter of adapters) {
      const source = blocksOf(adapter)[index] ?? [];
      for (const [k, value] of source.entries()) block[k] = (block[k] ?? 0) + value / adapters.length;
    }
  }
  return mean;
}

/** In the order in which they are stored. */
function blocksOf(adapter: Adapter): readonly Float64Array[] {
  const { weights, firstMoment, secondMoment } = adapter;
  return [weights, firstMoment, secondMoment].flatMap(({ a, b }) => [a, b]);
}

function readHeader(bytes: Uint8Array) {
  const lineEnd = bytes.indexOf(0x0a);
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder().decode(bytes.subarray(0, Math.max(0, lineEnd))));
  } catch {
    header = null;
  }
  const parsed = headerSchema.safeParse(header);
  if (!parsed.success) throw new Error('These bytes are no adapter of the embedded policy (bad header).');
  return { header: parsed.data, bodyStart: lineEnd + 1 };
}

function readValues(body: Uint8Array, blocks: readonly Float64Array[]): void {
  const expected = 8 * blocks.reduce((sum, block) => sum + block.length, 0);
  if (body.length !== expected) {
    throw new Error(
      `The adapter holds ${body.length} bytes of values instead of ${expected}: it is damaged.`,
    );
  }
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  let at = 0;
  for (const block of blocks) {
    for (let k = 0; k < block.length; k++) {
      block[k] = view.getFloat64(at, true);
      at += 8;
    }
  }
}
