import { Type } from 'typebox';
import { defineContract } from '../operation.ts';
import { listOf } from './paging.ts';

const modelName = Type.String({ maxLength: 300 });
const modelView = Type.Object({
  name: Type.String({ description: 'What clients ask for: `provider/model`, or an alias.' }),
  provider: Type.String(),
  model: Type.String({ description: 'As the provider knows it.' }),
  isDefault: Type.Boolean(),
  aliasOf: Type.Optional(Type.Array(Type.String(), { description: 'The first is asked, the others after it failed.' })),
  dollarsPerMillionTokens: Type.Optional(
    Type.Object({ input: Type.Number(), output: Type.Number() }, { description: 'Absent where nobody knows.' }),
  ),
});

const providerView = Type.Object({
  name: Type.String(),
  title: Type.Optional(Type.String()),
  baseUrl: Type.String(),
  format: Type.String(),
  model: Type.Optional(Type.String({ description: 'Asked when no other is named.' })),
  key: Type.Optional(Type.String({ description: 'Name of the key, never its value.' })),
  isReady: Type.Boolean(),
  isDefault: Type.Boolean(),
  problem: Type.Optional(Type.String()),
  fix: Type.Optional(Type.String()),
  listProblem: Type.Optional(Type.String({ description: 'Why its own list of models could not be read.' })),
});

const testView = Type.Object({
  name: Type.String(),
  ok: Type.Boolean(),
  latencyMs: Type.Number(),
  answeredBy: Type.Optional(Type.String({ description: '`provider/model`.' })),
  text: Type.Optional(Type.String()),
  inputTokens: Type.Optional(Type.Number()),
  outputTokens: Type.Optional(Type.Number()),
  code: Type.Optional(Type.String()),
  problem: Type.Optional(Type.String()),
  fix: Type.Optional(Type.String()),
});

const pluginUsage = Type.Object({
  plugin: Type.String(),
  caller: Type.String(),
  tokens: Type.Integer(),
  budget: Type.Optional(Type.Integer({ description: 'Tokens that the plugin is granted a day, for every caller.' })),
});

const useView = Type.Object({
  name: Type.String({ description: 'The key, `provider/model`, tool, purpose or day.' }),
  requests: Type.Integer(),
  failed: Type.Integer(),
  inputTokens: Type.Integer(),
  outputTokens: Type.Integer(),
  cacheReadTokens: Type.Integer(),
  cacheWriteTokens: Type.Integer(),
  uncounted: Type.Integer({ description: 'Requests whose tokens nobody knows.' }),
  estimated: Type.Integer({ description: 'Requests whose tokens are a guess, since the provider did not tell.' }),
  dollars: Type.Number({ description: 'Of the requests whose price is known.' }),
  unpriced: Type.Integer({ description: 'Requests whose price nobody knows: they are not in `dollars`.' }),
  meanLatencyMs: Type.Integer(),
  maxLatencyMs: Type.Integer(),
});

/** What uses of models are added up by. */
export const useGroups = ['key', 'model', 'tool', 'day', 'purpose'] as const;

/** What can be seen of models. */
export const modelContracts = {
  list: defineContract({
    name: 'models.list',
    summary: 'Lists the models that the caller may use; for an admin also the providers, and what they lack.',
    role: 'caller',
    input: {
      fetch: Type.Optional(Type.Boolean({ description: 'Also what providers list; kept for ten minutes.' })),
      provider: Type.Optional(Type.String({ maxLength: 256, description: 'Only of this one.' })),
    },
    output: Type.Object({
      items: Type.Array(modelView),
      total: Type.Integer(),
      providers: Type.Optional(Type.Array(providerView)),
    }),
    http: { method: 'GET', path: '/api/models' },
  }),
  test: defineContract({
    name: 'models.test',
    summary: 'Asks models one short question and tells what came of it; every provider where no name is given.',
    role: 'admin',
    input: { name: Type.Optional(modelName) },
    output: listOf(testView),
    http: { method: 'POST', path: '/api/models/test' },
  }),
  usage: defineContract({
    name: 'models.usage',
    summary: 'Lists the tokens that plugins used today (UTC), by caller; a caller sees its own, an admin all.',
    role: 'caller',
    input: { limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })) },
    output: Type.Object({
      items: Type.Array(pluginUsage),
      total: Type.Integer(),
      resetsAtMs: Type.Number({ description: 'When the budgets begin anew.' }),
    }),
    http: { method: 'GET', path: '/api/models/usage' },
  }),
  uses: defineContract({
    name: 'usage.list',
    summary: 'Adds up what models were used for; a caller sees its own, an admin all.',
    role: 'caller',
    input: {
      by: Type.Optional(Type.Enum(useGroups, { description: 'What is added up by; `model` when nothing is said.' })),
      days: Type.Optional(Type.Integer({ minimum: 1, maximum: 90, description: 'Today and the days before it; 7 by default.' })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
    },
    output: Type.Object({
      items: Type.Array(useView),
      total: Type.Integer(),
      by: Type.String(),
      fromDay: Type.String({ description: 'The first day (UTC).' }),
      pricesAsOf: Type.String({ description: 'When the shipped prices were looked up.' }),
      budget: Type.Optional(
        Type.Object(
          {
            tokensPerDay: Type.Optional(Type.Number()),
            tokensLeft: Type.Optional(Type.Number()),
            dollarsPerDay: Type.Optional(Type.Number()),
            dollarsLeft: Type.Optional(Type.Number()),
            resetsAtMs: Type.Number(),
          },
          { description: 'Of the key that asks, where it has one.' },
        ),
      ),
    }),
    http: { method: 'GET', path: '/api/usage' },
  }),
};
