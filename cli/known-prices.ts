import type { RunConfig } from '../activities/run-config.ts';
import type { Reach } from '../workers/parts.ts';

/** A ceiling that cannot be kept is refused before anything is paid. */
export function refuseUnknownPrices({ ceilings, models }: RunConfig, reach: Reach): void {
  if (ceilings.usdPerRun === null && ceilings.usdPerTask === null) return;
  for (const [role, choice] of Object.entries(models)) {
    if (!('model' in choice)) continue;
    if (reach(choice).priceOf({ inputTokens: 1, outputTokens: 1 }) !== null) continue;
    throw new Error(
      `the run has a ceiling in dollars, but no price is known for ${choice.model} (${role}): ` +
        `give it a \`price\` in the experiment file, add it to models/prices.json, or remove \`ceilings\``,
    );
  }
}
