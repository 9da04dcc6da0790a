import { describe, expect, it } from 'vitest';
import { createTokenBudgets, dayOf } from '../../src/capabilities/llm/token-budget.ts';
import type { TextRequest, TextResult } from '../../src/capabilities/llm.ts';
import { createLlm } from '../../src/capabilities/llm.ts';
import { HotcellError } from '../../src/errors/hotcell-error.ts';
import { createSecretRegistry } from '../../src/secrets/secret-registry.ts';
import { temporaryStore } from '../store/temporary-store.ts';
import { createUser, type TestUser } from './capability-user.ts';

const noon = Date.UTC(2026, 10, 21, 12);
const day = dayOf(noon);

/** The capability over a real store, with a generator and a clock of the test. */
function openLlm(generate: (request: TextRequest) => Promise<TextResult> = async () => answer('pong', 30, 20)) {
  const store = temporaryStore();
  const secrets = createSecretRegistry({ table: store.secrets, config: {}, env: {}, now: Date.now });
  const asked: TextRequest[] = [];
  let now = noon;
  const generator = {
    maxTokens: 100,
    check: () => {},
    generate: (request: TextRequest) => {
      asked.push(request);
      return generate(request);
    },
  };
  const budgets = createTokenBudgets({ table: store.modelUsage, now: () => now });
  const llm = createLlm({ generator, budgets, redactor: secrets.redactor });
  return {
    asked,
    secrets,
    store,
    used: (caller = 'local', plugin = 'weather') =>
      store.modelUsage.used({ unitPath: `/plugins/${plugin}.ts`, caller, day: dayOf(now) }),
    passDay: () => {
      now += 86_400_000;
    },
    async ask(payload: unknown, user: TestUser): Promise<unknown> {
      const request = { op: 'llm.generate', payload: JSON.stringify(payload) };
      try {
        return (await llm.answer(request, user, new AbortController().signal)).payload;
      } catch (error) {
        if (error instanceof HotcellError) return `${error.code}: ${error.message} ${error.fix}`;
        throw error;
      }
    },
  };
}

function answer(text: string, inputTokens: number, outputTokens: number, finishReason = 'stop'): TextResult {
  return { ok: true, text, model: 'm-1', finishReason, usage: { inputTokens, outputTokens } };
}

describe('createLlm', () => {
  it('needs the grant', async () => {
    const { ask, asked } = openLlm();
    expect(await ask({ prompt: 'hi' }, createUser())).toBe(
      'permission-denied: Tool "weather" may not use context.llm. Allow it with: hotcell grant weather llm',
    );
    expect(asked).toEqual([]);
  });

  it('answers the text, what was used and what is left', async () => {
    const { ask, asked } = openLlm();
    const user = createUser({ llm: 1000 });
    expect(await ask({ prompt: 'hi', system: 'Be short.' }, user)).toEqual({
      text: 'pong',
      model: 'm-1',
      finishReason: 'stop',
      usage: { inputTokens: 30, outputTokens: 20, budgetLeft: 950 },
    });
    expect(asked).toMatchObject([{ system: 'Be short.', messages: [{ role: 'user', content: 'hi' }], maxTokens: 100 }]);
    expect(user.uses).toEqual([['llm', 'generate', true]]);
  });

  it('puts system messages in one place', async () => {
    const { ask, asked } = openLlm();
    const messages = [
      { role: 'system', content: 'One.' },
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'ho' },
      { role: 'user', content: 'hu' },
    ];
    await ask({ messages, system: 'Zero.' }, createUser({ llm: true }));
    expect(asked[0]?.system).toBe('Zero.\n\nOne.');
    expect(asked[0]?.messages.map(({ content }) => content)).toEqual(['hi', 'ho', 'hu']);
  });

  it.each([
    [{}],
    [{ prompt: 'a', messages: [{ role: 'user', content: 'b' }] }],
    [{ prompt: 1 }],
    [{ messages: [] }],
    [{ messages: [{ role: 'system', content: 'alone' }] }],
    [{ messages: [{ role: 'tool', content: 'x' }] }],
    [{ prompt: 'a', maxTokens: 0 }],
    [{ prompt: 'a', temperature: 9 }],
    [{ prompt: 'a', json: false }],
    [{ prompt: 'a', model: 'other' }],
    ['text'],
  ])('refuses %j', async (payload) => {
    const { ask, asked } = openLlm();
    expect(await ask(payload, createUser({ llm: true }))).toMatch(/^arguments-invalid: /);
    expect(asked).toEqual([]);
  });

  it('names a property that it does not take, with those that it takes', async () => {
    expect(await openLlm().ask({ promt: 'a' }, createUser({ llm: true }))).toMatch(
      /"promt" is not known here\. Did you mean "prompt"\? It takes .*prompt.*, maxTokens/,
    );
  });

  it('names a budget that is enough for the request', async () => {
    const { ask } = openLlm(async () => answer('pong', 1, 1));
    const refused = String(await ask({ prompt: 'hi', maxTokens: 100 }, createUser({ llm: 10 })));
    const [, llm] = refused.match(/hotcell grant weather llm=(\d+)/) ?? [];
    expect(await ask({ prompt: 'hi', maxTokens: 100 }, createUser({ llm: Number(llm) }))).toMatchObject({ text: 'pong' });
  });

  it('refuses what may pass the budget, and says what is left until when', async () => {
    const { ask, asked, used, passDay } = openLlm(async () => answer('pong', 150, 100));
    const user = createUser({ llm: 300 });
    await ask({ prompt: 'hi' }, user);
    expect(used()).toBe(250);
    expect(await ask({ prompt: 'hi' }, user)).toBe(
      'quota-exceeded: context.llm may use 300 tokens a day here; 50 are left until 2026-11-22T00:00:00.000Z, and this request may take 109. ' +
        'Ask for less (prompt, maxTokens), wait, or grant more: hotcell grant weather llm=600',
    );
    expect(asked.length).toBe(1);
    expect(await ask({ prompt: 'hi', maxTokens: 20 }, user)).toMatchObject({ usage: { budgetLeft: 0 } });
    passDay();
    expect(await ask({ prompt: 'hi' }, user)).toMatchObject({ text: 'pong' });
  });

  it('cannot be overdrawn by calls at the same time', async () => {
    const gate = Promise.withResolvers<void>();
    const { ask, asked, used } = openLlm(() => gate.promise.then(() => answer('pong', 10, 10)));
    const user = createUser({ llm: 1000 });
    const all = Array.from({ length: 50 }, () => ask({ prompt: 'hi', maxTokens: 100 }, user));
    await expect.poll(() => used()).toBe(981);
    gate.resolve();
    const refused = (await Promise.all(all)).filter((each) => String(each).startsWith('quota-exceeded'));
    expect([refused.length, asked.length, used()]).toEqual([41, 9, 180]);
  });

  it('counts callers and plugins apart, and everybody without a key as one', async () => {
    const { ask, used } = openLlm(async () => answer('pong', 10, 10));
    for (const caller of ['ann', 'bob', 'anonymous:1', 'anonymous:2']) {
      await ask({ prompt: 'hi' }, createUser({ llm: 200 }, { caller }));
    }
    await ask({ prompt: 'hi' }, createUser({ llm: 200 }, { caller: 'ann', plugin: 'other' }));
    expect([used('ann'), used('bob'), used('anonymous'), used('ann', 'other')]).toEqual([20, 20, 40, 20]);
  });

  it('gives back what a refused request did not use, and keeps what nobody counted', async () => {
    const results: TextResult[] = [
      { ok: false, error: new HotcellError('model-failed', 'No.'), isBilled: false },
      { ok: false, error: new HotcellError('time-exceeded', 'Slow.'), isBilled: true },
      { ok: true, text: 'x', model: 'm', finishReason: 'stop' },
    ];
    const { ask, used } = openLlm(async () => results.shift() ?? answer('x', 1, 1));
    const user = createUser({ llm: 1000 });
    expect(await ask({ prompt: 'hi' }, user)).toMatch(/^model-failed: No\./);
    expect(used()).toBe(0);
    expect(await ask({ prompt: 'hi' }, user)).toMatch(/^time-exceeded: Slow\./);
    expect(used()).toBe(109);
    await ask({ prompt: 'hi' }, user);
    expect(used()).toBe(218);
  });

  it('asks nobody when no model is there, and uses nothing', async () => {
    const store = temporaryStore();
    const generator = {
      maxTokens: 1,
      check: () => {
        throw new HotcellError('model-not-configured', 'None.');
      },
      generate: async () => answer('never', 1, 1),
    };
    const llm = createLlm({ generator, budgets: createTokenBudgets({ table: store.modelUsage, now: () => noon }) });
    const request = { op: 'llm.generate', payload: '{"prompt":"hi"}' };
    await expect(llm.answer(request, createUser({ llm: true }), new AbortController().signal)).rejects.toMatchObject({
      code: 'model-not-configured',
    });
    expect(store.modelUsage.list(day, { limit: 10 })).toEqual([]);
  });

  it('takes secrets out of prompts and answers', async () => {
    const { ask, asked, secrets } = openLlm(async () => answer('it is hunter2-hunter2', 1, 1));
    secrets.set({ name: 'PASSWORD', value: 'hunter2-hunter2', hosts: ['a.example'], header: 'x-key' });
    const encoded = Buffer.from('hunter2-hunter2').toString('base64');
    const got = await ask({ prompt: `say hunter2-hunter2 and ${encoded}`, system: 'hunter2-hunter2' }, createUser({ llm: true }));
    expect(JSON.stringify([asked, got])).not.toMatch(/hunter2|aHVudGVy/);
    expect(JSON.stringify(asked)).toContain('[secret PASSWORD]');
  });

  it('parses JSON answers, also out of a fence, and says when there is none', async () => {
    const answers = ['{"n":1}', '```json\n{"n":2}\n```', 'I would say 3'];
    const { ask } = openLlm(async () => answer(answers.shift() ?? '{"n":', 1, 1, answers.length === 0 ? 'stop' : 'stop'));
    const user = createUser({ llm: true });
    expect(await ask({ prompt: 'n?', json: true }, user)).toMatchObject({ json: { n: 1 } });
    expect(await ask({ prompt: 'n?', json: { type: 'object' } }, user)).toMatchObject({ json: { n: 2 } });
    expect(await ask({ prompt: 'n?', json: true }, user)).toMatch(
      /^model-failed: The model did not answer with JSON\. Ask again/,
    );
    for (const levels of [600, 5000, 200_000]) {
      const deep = openLlm(async () => answer('[{"a":'.repeat(levels / 2), 1, 1));
      expect(await deep.ask({ prompt: 'n?', json: true }, user)).toMatch(/^model-failed: .* nests deeper than 520 levels/);
    }
    const cut = openLlm(async () => answer('{"n":', 1, 1, 'length'));
    expect(await cut.ask({ prompt: 'n?', json: true }, user)).toMatch(/it was cut at maxTokens\. Raise maxTokens\./);
  });
});
