/** What measurements have in common, and how they are told. */

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.round(share * (sorted.length - 1))] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** `12.3 [10.1, 19.8]`: the median, and where eight in ten lie, in ms. */
export function spread(values: readonly number[]): string {
  const [low, middle, high] = [0.1, 0.5, 0.9].map((share) => quantile(values, share).toFixed(1));
  return `${middle} [${low}, ${high}]`;
}

/** Says whether a goal was met, and returns it. */
export function reportGoal(what: string, isMet: boolean): boolean {
  console.log(`${isMet ? 'met   ' : 'MISSED'}  ${what}`);
  return isMet;
}
