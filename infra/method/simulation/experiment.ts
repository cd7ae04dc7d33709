import { z } from 'zod';

const tableSchema = z.object({
  title: z.string(),
  note: z.string(),
  header: z.array(z.string()),
  rows: z.array(z.array(z.string())),
});

/** A part of the report, as it comes from a thread. */
export const sectionSchema = z.object({
  title: z.string(),
  /** What METHOD leaves open, and how it is generated here. */
  generator: z.string(),
  tables: z.array(tableSchema),
  charts: z.array(z.object({ file: z.string(), svg: z.string() })),
  /** What the report says about its numbers; the run fails when one does not hold. */
  claims: z.array(z.object({ text: z.string(), holds: z.boolean() })),
});

export type Section = z.infer<typeof sectionSchema>;

/** One simulation: rows that do not depend on each other, and the section that reads their results. */
export interface Experiment<Result> {
  readonly name: string;
  readonly rows: readonly string[];
  run(row: string): Result;
  report(results: ReadonlyMap<string, Result>): Section;
}

export const share = (value: number): string => value.toFixed(3);

export const time = (value: number | null, never: string): string => (value === null ? never : String(value));

/** "measured (table)", to be read beside METHOD. */
export const beside = (measured: number, table: number): string => `${share(measured)} (${share(table)})`;

export function largestGap(measured: readonly number[], table: readonly number[]): number {
  return Math.max(...measured.map((value, i) => Math.abs(value - (table[i] ?? Number.NaN))));
}

export function resultOf<Result>(results: ReadonlyMap<string, Result>, row: string): Result {
  const result = results.get(row);
  if (result === undefined)
    throw new Error(`there is no ${row}; there are ${[...results.keys()].join(', ')}`);
  return result;
}
