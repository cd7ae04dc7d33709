/**
 * List prices of models at their providers' own addresses: a dated file, because prices change. Discounts (cached
 * prompts, batches) and surcharges (very long prompts) are not in it.
 */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { EndpointChoice, TokenPrice, Usage } from './contract.ts';

const usdPerMillion = z.number().positive();

const priceListSchema = z.strictObject({
  asOf: z.iso.date(),
  prices: z.array(
    z.strictObject({
      provider: z.enum(['openai', 'anthropic']),
      model: z.string().min(1),
      inputUsdPerMillion: usdPerMillion,
      outputUsdPerMillion: usdPerMillion,
      source: z.string().min(1),
    }),
  ),
});

/** Throws when the file does not have its shape. */
export const priceList = priceListSchema.parse(
  JSON.parse(readFileSync(new URL('./prices.json', import.meta.url), 'utf8')),
);

/** Model names of one price may end in a date: `claude-haiku-4-5-20251001`, `gpt-5.5-2026-04-23`. */
const releaseDate = /-(\d{8}|\d{4}-\d{2}-\d{2})$/;

/** The run's own price, else the list's. Null where neither knows it: another server's price is its own. */
export function priceFor(
  { provider, model, price }: EndpointChoice,
  isOwnAddress: boolean,
): TokenPrice | null {
  if (price !== undefined) return price;
  if (!isOwnAddress) return null;
  const name = model.replace(releaseDate, '');
  return priceList.prices.find((entry) => entry.provider === provider && entry.model === name) ?? null;
}

/** Dollars. */
export function costAt(price: TokenPrice, { inputTokens, outputTokens }: Usage): number {
  return (inputTokens * price.inputUsdPerMillion + outputTokens * price.outputUsdPerMillion) / 1_000_000;
}
