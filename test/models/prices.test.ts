import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { costAt, priceFor, priceList } from '../../models/prices.ts';

const opus = { provider: 'anthropic', model: 'claude-opus-4-6' } as const;

describe('a price', () => {
  test('is that of the list, also for a dated release', () => {
    const expected = { inputUsdPerMillion: 5, outputUsdPerMillion: 25 };
    expect(priceFor(opus, true)).toMatchObject(expected);
    expect(priceFor({ ...opus, model: 'claude-opus-4-6-20260205' }, true)).toMatchObject(expected);
    expect(priceFor({ provider: 'openai', model: 'gpt-5.5-2026-04-23' }, true)).toMatchObject({
      inputUsdPerMillion: 5,
    });
  });

  test.each(['claude-opus-4-60', 'claude-opus-4', 'gpt-5.5-pro', 'gpt-5.5-2026', ''])(
    'of a model with a name like another (%s) is unknown',
    (model) => {
      expect(priceFor({ provider: 'anthropic', model }, true)).toBeNull();
      expect(priceFor({ provider: 'openai', model }, true)).toBeNull();
    },
  );

  test('at another address is unknown unless the run gives it, and then it may be 0', () => {
    expect(priceFor(opus, false)).toBeNull();
    const free = { inputUsdPerMillion: 0, outputUsdPerMillion: 0 };
    expect(priceFor({ ...opus, price: free }, false)).toEqual(free);
  });

  test('of the run goes before that of the list', () => {
    const price = { inputUsdPerMillion: 1, outputUsdPerMillion: 2 };
    expect(priceFor({ ...opus, price }, true)).toEqual(price);
  });
});

test('tokens cost what they cost one by one', () => {
  const tokens = fc.nat({ max: 1_000_000 });
  fc.assert(
    fc.property(tokens, tokens, fc.constantFrom(...priceList.prices), (inputTokens, outputTokens, price) => {
      const one = (usage: { inputTokens: number; outputTokens: number }) => costAt(price, usage);
      const sum =
        inputTokens * one({ inputTokens: 1, outputTokens: 0 }) +
        outputTokens * one({ inputTokens: 0, outputTokens: 1 });
      expect(one({ inputTokens, outputTokens })).toBeCloseTo(sum, 6);
    }),
  );
  expect(
    costAt({ inputUsdPerMillion: 5, outputUsdPerMillion: 25 }, { inputTokens: 1e6, outputTokens: 1e6 }),
  ).toBe(30);
});

test('the list names every model once, and where its price was read', () => {
  const names = priceList.prices.map(({ provider, model }) => `${provider} ${model}`);
  expect(new Set(names).size).toBe(names.length);
  for (const { source } of priceList.prices) expect(source).toMatch(/^https:/);
});
