/** Named yes/no features, so that weights can be read by a person. */
import type { ActiveFeatures } from './scoring.ts';

export interface FeatureSpace<Name extends string> {
  readonly names: readonly Name[];
  /** Indices of the features that hold, ascending. */
  encode(flags: Readonly<Partial<Record<Name, boolean>>>): ActiveFeatures;
}

/** The order of the names is part of the weights' meaning. */
export function featureSpace<const Name extends string>(names: readonly Name[]): FeatureSpace<Name> {
  const indices = new Map<string, number>(names.map((name, index) => [name, index]));
  return {
    names,
    encode: (flags) => {
      const active: number[] = [];
      for (const name in flags) {
        const index = flags[name] === true ? indices.get(name) : undefined;
        if (index !== undefined) active.push(index);
      }
      return active.sort((a, b) => a - b);
    },
  };
}
