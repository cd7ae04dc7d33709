/** Votes drawn from the difference of evidence (METHOD 6.1): a stand-in where no model compares trajectories. */

import { randomGenerator } from '../../workflows/method/random.ts';
import { drawVote } from '../../workflows/method/selection.ts';
import type { Selector } from '../contract.ts';
import { freeOfCharge } from './policy.ts';

export function createEvidenceSelector(): Selector {
  return {
    identity: { provider: 'embedded', model: 'evidence-votes', revision: '1' },
    vote: async ({ incumbent, challenger, temperature, seed }) => {
      const difference = challenger.sheet.evidence - incumbent.sheet.evidence;
      const label = drawVote(difference, temperature, randomGenerator(seed));
      const reason =
        `evidence ${incumbent.sheet.evidence.toFixed(3)} (A) against ` +
        `${challenger.sheet.evidence.toFixed(3)} (B), drawn at temperature ${temperature}`;
      return { label, reason, cost: freeOfCharge };
    },
  };
}
