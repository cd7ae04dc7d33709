import type { Hyperparameters } from './hyperparameters.ts';
import type { Certificate, Tier, UrlState } from './types.ts';
import { tierKeys } from './url-state.ts';

export type LookupOptions = Pick<Hyperparameters, 'vetoBlocksFallback' | 'blockFallbackAfter'>;

/** What lookup reads of a certificate. */
export type Consulted = Pick<Certificate, 'weight' | 'vetoed' | 'n' | 'reasons'>;

export interface Found<C extends Consulted> {
  readonly tier: Tier;
  readonly key: string;
  readonly certificate: C;
}

/**
 * METHOD 4.1: the most specific certificate of one question at a URL state. `byKey` holds the question's
 * certificates and refusals under their tier keys. Null: no weight here, because nothing is certified or because
 * a refused tier blocks the way to a broader one (METHOD 3.6).
 */
export function lookUp<C extends Consulted>(
  byKey: ReadonlyMap<string, C>,
  state: UrlState,
  options: LookupOptions,
): Found<C> | null {
  for (const { tier, key } of tierKeys(state)) {
    const certificate = byKey.get(key);
    if (certificate === undefined) continue;
    if (certificate.reasons.length === 0) return { tier, key, certificate };
    if (blocksFallback(certificate, options)) return null;
  }
  return null;
}

function blocksFallback(
  refused: Consulted,
  { vetoBlocksFallback, blockFallbackAfter }: LookupOptions,
): boolean {
  if (refused.vetoed && vetoBlocksFallback) return true;
  return blockFallbackAfter !== null && refused.n >= blockFallbackAfter;
}

/** Every certificate of a bank by question version (see questionKey), then by tier key. */
export function indexCertificates(
  certificates: readonly Certificate[],
): ReadonlyMap<string, ReadonlyMap<string, Certificate>> {
  const index = new Map<string, Map<string, Certificate>>();
  for (const certificate of certificates) {
    const question = questionKey(certificate.qid, certificate.version);
    const byKey = index.get(question);
    if (byKey) byKey.set(certificate.key, certificate);
    else index.set(question, new Map([[certificate.key, certificate]]));
  }
  return index;
}

export const questionKey = (qid: string, version: number): string => `${qid}@${version}`;
