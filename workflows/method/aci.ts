import { finite } from './checks.ts';
import type { CertifierConstants } from './types.ts';

/** METHOD 2.2 step 4 (Gibbs and Candès 2021), projected from above: a level that never closes notices nothing. */
export function nextAlpha(
  alpha: number,
  err: 0 | 1,
  constants: Pick<CertifierConstants, 'alphaStar' | 'eta' | 'alphaMax'>,
): number {
  return finite('alpha', Math.min(constants.alphaMax, alpha + constants.eta * (constants.alphaStar - err)));
}
