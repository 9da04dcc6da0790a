import { describe, expect, it } from 'vitest';
import { defaultSettings } from '../../src/config/schema.ts';
import { findKnownProvider } from '../../src/config/settings/model-providers.ts';
import type { ModelSettings } from '../../src/config/settings/model-settings.ts';
import { costOf, findPrice, pricesAsOf, shippedPrices } from '../../src/models/prices.ts';

const settings: ModelSettings = {
  ...defaultSettings.models,
  providers: {
    openai: {},
    work: { provider: 'openai' },
    proxy: { provider: 'openai', baseUrl: 'https://proxy.example/v1' },
    ollama: {},
    own: { baseUrl: 'https://a.example' },
  },
  prices: { 'own/m-1': { input: 1, output: 2 }, 'gpt-4o-mini': { input: 9, output: 9 } },
};

describe('findPrice', () => {
  it.each([
    ['openai', 'gpt-4o', 2.5],
    ['openai', 'gpt-4o-2024-08-06', 2.5],
    ['work', 'gpt-4o', 2.5],
    ['openai', 'gpt-4o-mini', 9],
    ['own', 'm-1', 1],
    ['ollama', 'anything', 0],
    ['proxy', 'gpt-4o', undefined],
    ['own', 'gpt-4o', undefined],
    ['openai', 'gpt-4o-audio', undefined],
    ['openai', 'toString', undefined],
    ['gone', 'gpt-4o', undefined],
  ])('of %s/%s is %s', (provider, model, input) => {
    expect(findPrice(settings, provider, model)?.input).toBe(input);
  });

  it('is shipped for known providers, with a date, and no price is nothing', () => {
    expect(pricesAsOf).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    for (const [name, { input, output }] of Object.entries(shippedPrices)) {
      expect([name, findKnownProvider(name.split('/')[0] ?? '') !== undefined, input > 0, output >= input]).toEqual([
        name,
        true,
        true,
        true,
      ]);
    }
  });
});

describe('costOf', () => {
  it('counts caches at their own price, and what is told of them as part of the input', () => {
    const usage = { inputTokens: 1000, outputTokens: 10, cacheReadTokens: 600, cacheWriteTokens: 100 };
    expect(costOf({ input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 }, usage)).toBe(
      300 * 3000 + 600 * 300 + 100 * 3750 + 10 * 15_000,
    );
    expect(costOf({ input: 3, output: 15 }, usage)).toBe(1000 * 3000 + 10 * 15_000);
  });
});
