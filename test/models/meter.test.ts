import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Caller } from '../../src/callers/caller.ts';
import { dayOf } from '../../src/capabilities/llm/token-budget.ts';
import { defaultSettings } from '../../src/config/schema.ts';
import type { ModelSettings } from '../../src/config/settings/model-settings.ts';
import type { TokenUsage } from '../../src/conversation/answer.ts';
import type { ConversationRequest } from '../../src/conversation/request.ts';
import { HotcellError } from '../../src/errors/hotcell-error.ts';
import { createModelMeter } from '../../src/models/meter.ts';
import { estimateRequest } from '../../src/models/prices.ts';
import type { AskedBy, UpstreamReservation, UpstreamTarget } from '../../src/models/upstream.ts';
import { openStore } from '../../src/store/open.ts';
import { temporaryDir, temporaryStore } from '../store/temporary-store.ts';

const noon = Date.UTC(2026, 10, 22, 12);
const today = dayOf(noon);
const request: ConversationRequest = {
  model: 'openai/gpt-4o',
  system: [],
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
  tools: [],
  nativeTools: [],
  sampling: {},
  isStreamed: false,
};
const inputTokens = estimateRequest(request);

function open(chosen: Partial<ModelSettings> = {}, store = temporaryStore()) {
  const clock = { now: noon };
  const settings: ModelSettings = {
    ...defaultSettings.models,
    providers: { openai: {}, ollama: {}, own: { baseUrl: 'https://a.example' } },
    ...chosen,
  };
  const meter = createModelMeter({ settings, table: store.modelUses, now: () => clock.now });
  const budgetLeft = (caller: string, day = today) => store.modelUses.used({ caller, day });
  const reserve = (
    rules: Partial<Caller>,
    more: Partial<ConversationRequest> & { at?: string; purpose?: AskedBy['purpose'] } = {},
  ) => {
    const { at = 'openai/gpt-4o', purpose = 'gateway', ...asked } = more;
    const [provider = '', model = ''] = at.split('/');
    const target: UpstreamTarget = {
      provider,
      model,
      format: 'openai-chat',
      baseUrl: '',
      keyHeader: '',
      timeoutMs: 1,
      maxRetries: 0,
    };
    const held = meter.reserve(() => ({ ...request, ...asked }), target, {
      caller: { id: 'ann', role: 'caller', ...rules },
      purpose,
    });
    return {
      held,
      end: (use: { usage?: TokenUsage; status?: number; isBilled?: boolean; latencyMs?: number }) => end(held, target, use),
    };
  };
  return {
    meter,
    store,
    clock,
    reserve,
    budgetLeft,
    list: (by: 'key' | 'model' | 'tool' | 'day' | 'purpose' = 'model', caller?: string) =>
      store.modelUses.list({ by, fromDay: today - 90, limit: 100, ...(caller === undefined ? {} : { caller }) }),
  };
}

function end(
  held: UpstreamReservation,
  target: UpstreamTarget,
  {
    usage,
    status = 200,
    isBilled = true,
    latencyMs = 100,
  }: { usage?: TokenUsage; status?: number; isBilled?: boolean; latencyMs?: number },
): void {
  held.settle({ target, usage, status, isBilled, latencyMs });
}

function refusalOf(run: () => unknown): HotcellError {
  try {
    run();
  } catch (error) {
    if (error instanceof HotcellError) return error;
    throw error;
  }
  throw new TypeError('Nothing was refused.');
}

describe('createModelMeter: budgets of keys', () => {
  it('sets aside what a request may take, and puts what it took in its place', () => {
    const { reserve, budgetLeft } = open();
    const { held, end: settle } = reserve({ modelTokensPerDay: 1000, modelDollarsPerDay: 1 }, { maxTokens: 100 });
    expect(held).not.toHaveProperty('maxTokens');
    expect(budgetLeft('ann')).toEqual({ tokens: inputTokens + 100, costNanos: inputTokens * 2500 + 100 * 10_000 });
    settle({ usage: { inputTokens: 7, outputTokens: 3 } });
    expect(budgetLeft('ann')).toEqual({ tokens: 10, costNanos: 7 * 2500 + 3 * 10_000 });
    settle({ usage: { inputTokens: 700, outputTokens: 3 } });
    expect(budgetLeft('ann').tokens).toBe(10);
  });

  it('cannot be overdrawn by fifty requests at once', () => {
    const { reserve, budgetLeft } = open();
    const each = inputTokens + 100;
    const rules = { modelTokensPerDay: each * 9 + 50 };
    const all = Array.from({ length: 50 }, () => {
      try {
        return [reserve(rules, { maxTokens: 100 })];
      } catch {
        return [];
      }
    }).flat();
    expect([all.length, budgetLeft('ann').tokens]).toEqual([9, each * 9]);
    for (const { end: settle } of all) settle({ usage: { inputTokens: 1, outputTokens: 1 } });
    expect(budgetLeft('ann').tokens).toBe(18);
  });

  it('says what is left and until when, as a refusal that clients understand', () => {
    const { reserve, clock } = open();
    const tokens = refusalOf(() => reserve({ modelTokensPerDay: 50 }, { maxTokens: 100 }));
    expect([tokens.code, tokens.status]).toEqual(['model-budget-exceeded', 429]);
    expect(tokens.message).toBe(
      `This key may use 50 tokens of models a day; 50 are left until 2026-11-23T00:00:00.000Z, and this request may take ${inputTokens + 100}.`,
    );
    const enough = Number(/hotcell key update ann --tokens-per-day (\d+)/.exec(tokens.fix)?.[1]);
    expect(enough).toBeGreaterThanOrEqual(100);
    expect(() =>
      reserve({ modelTokensPerDay: enough }, { maxTokens: 100 }).end({ usage: { inputTokens: 1, outputTokens: 1 } }),
    ).not.toThrow();
    expect(tokens.facts.retryAfterMs).toBeGreaterThanOrEqual(1000);
    const dollars = refusalOf(() => reserve({ modelDollarsPerDay: 0.001 }, { maxTokens: 1000 }));
    expect(dollars.message).toMatch(
      /^This key may use \$0\.001 of models a day; \$0\.0010 are left until .*, and this request may take \$0\.01/,
    );
    reserve({ modelTokensPerDay: 500 }, { maxTokens: 400 });
    refusalOf(() => reserve({ modelTokensPerDay: 500 }, { maxTokens: 400 }));
    clock.now += 86_400_000;
    reserve({ modelTokensPerDay: 500 }, { maxTokens: 400 });
  });

  it('is not given twice by a crash', () => {
    const dataDir = join(temporaryDir(), 'data');
    const first = openStore({ dataDir });
    open({}, first).reserve({ modelTokensPerDay: 1000 }, { maxTokens: 900 });
    first.close();
    const second = openStore({ dataDir });
    const again = open({}, second);
    expect(refusalOf(() => again.reserve({ modelTokensPerDay: 1000 }, { maxTokens: 900 })).code).toBe('model-budget-exceeded');
    second.close();
  });

  it('bounds the answer of a request that names no bound by what is left', () => {
    const { reserve } = open();
    expect(reserve({ modelTokensPerDay: 100_000 }).held.maxTokens).toBe(8192);
    expect(reserve({ id: 'bob', modelTokensPerDay: inputTokens + 500 }).held.maxTokens).toBe(500);
    const nanos = inputTokens * 2500 + 70 * 10_000;
    expect(reserve({ id: 'eve', modelDollarsPerDay: nanos / 1e9 }).held.maxTokens).toBe(70);
    expect(reserve({ id: 'joe' }).held).not.toHaveProperty('maxTokens');
    expect(refusalOf(() => reserve({ id: 'bob', modelTokensPerDay: inputTokens + 500 })).code).toBe('model-budget-exceeded');
  });

  it('gives back what a refused request did not use, and keeps what nobody counted', () => {
    const { reserve, budgetLeft } = open();
    const rules = { modelTokensPerDay: 1000 };
    reserve(rules, { maxTokens: 100 }).end({ status: 401, isBilled: false });
    expect(budgetLeft('ann').tokens).toBe(0);
    reserve(rules, { maxTokens: 100 }).end({ status: 504 });
    expect(budgetLeft('ann').tokens).toBe(inputTokens + 100);
  });

  it('in dollars needs a known price', () => {
    const { reserve } = open();
    const refused = refusalOf(() => reserve({ modelDollarsPerDay: 5 }, { at: 'own/m-1' }));
    expect([refused.code, refused.message]).toEqual([
      'model-budget-exceeded',
      'This key has a budget in dollars, and nobody knows the price of "own/m-1".',
    ]);
    expect(reserve({ modelDollarsPerDay: 5 }, { at: 'ollama/llama3.2' }).held.maxTokens).toBe(8192);
    const priced = open({ prices: { 'own/m-1': { input: 1, output: 2 } } });
    priced.reserve({ modelDollarsPerDay: 5 }, { at: 'own/m-1', maxTokens: 10 });
    expect(priced.budgetLeft('ann').costNanos).toBe(inputTokens * 1000 + 10 * 2000);
  });

  it('counts media by a guess, and tools by their text', () => {
    const data = 'A'.repeat(1_000_000);
    const parts = [{ type: 'image', source: { kind: 'data', mediaType: 'image/png', data } }] as const;
    expect(estimateRequest({ ...request, messages: [{ role: 'user', parts }] })).toBeLessThan(20_000);
    const tools = [{ name: 't', parameters: { description: 'x'.repeat(10_000) } }];
    expect(estimateRequest({ ...request, tools })).toBeGreaterThan(5000);
  });
});

describe('createModelMeter: what is counted', () => {
  it('adds up by key, model, tool, day and purpose; what nobody knows is no zero', () => {
    const { reserve, list } = open();
    reserve({}).end({ usage: { inputTokens: 1000, outputTokens: 100, cacheReadTokens: 400 }, latencyMs: 200 });
    reserve({ id: 'bob' }, { at: 'own/m-1', purpose: 'plugin' }).end({
      usage: { inputTokens: 10, outputTokens: 1 },
      latencyMs: 50,
    });
    reserve({ id: 'bob' }, { at: 'own/m-1' }).end({});
    reserve({ id: 'bob' }, { at: 'own/m-1' }).end({ status: 500, isBilled: false });
    expect(list()).toMatchObject([
      {
        name: 'openai/gpt-4o',
        requests: 1,
        failed: 0,
        inputTokens: 1000,
        outputTokens: 100,
        cacheReadTokens: 400,
        unpriced: 0,
        costNanos: 600 * 2500 + 400 * 1250 + 100 * 10_000,
      },
      { name: 'own/m-1', requests: 3, failed: 1, inputTokens: 10, outputTokens: 1, uncounted: 1, unpriced: 2, costNanos: 0 },
    ]);
    expect(list('key').map(({ name, requests }) => [name, requests])).toEqual([
      ['ann', 1],
      ['bob', 3],
    ]);
    expect(list('purpose').map(({ name }) => name)).toEqual(['gateway', 'plugin']);
    expect(list('day')).toMatchObject([{ name: String(today), requests: 4, maxLatencyMs: 200 }]);
    expect(list('model', 'bob')).toMatchObject([{ name: 'own/m-1' }]);
  });

  it('counts models beyond two hundred of a caller and day together', () => {
    const { reserve, store, meter } = open();
    for (let n = 0; n < 250; n++) reserve({}, { at: `own/m-${n}` }).end({ usage: { inputTokens: 1, outputTokens: 0 } });
    const rows = store.modelUses.list({ by: 'model', fromDay: today, limit: 1000 });
    expect([rows.length, rows[0]]).toMatchObject([201, { name: 'own/(other)', requests: 50 }]);
    expect(meter.totals().size).toBe(201);
  });

  it('keeps within bounds what a server claims to have counted', () => {
    const { reserve, list } = open();
    reserve({ modelTokensPerDay: 1e12 }, { maxTokens: 5 }).end({
      usage: { inputTokens: 1e300, outputTokens: -5, cacheReadTokens: Number.NaN },
    });
    expect(list()).toMatchObject([{ inputTokens: 1_000_000_000, outputTokens: 0, cacheReadTokens: 0 }]);
  });

  it('has totals with a histogram for metrics', () => {
    const { reserve, meter } = open();
    for (const latencyMs of [50, 200, 200_000]) reserve({}).end({ usage: { inputTokens: 1, outputTokens: 2 }, latencyMs });
    expect(meter.totals().get('openai/gpt-4o')).toMatchObject({
      byStatus: { ok: 3, failed: 0 },
      inputTokens: 3,
      outputTokens: 6,
      buckets: [1, 1, 0, 0, 0, 0, 0, 0, 0, 0],
      latencyMs: 200_250,
    });
  });

  it('forgets what is older than ninety days', () => {
    const { reserve, clock, store } = open();
    reserve({}).end({ usage: { inputTokens: 1, outputTokens: 1 } });
    clock.now += 91 * 86_400_000;
    reserve({}).end({ usage: { inputTokens: 1, outputTokens: 1 } });
    expect(store.modelUses.list({ by: 'day', fromDay: 0, limit: 10 })).toHaveLength(1);
  });
});
