import { Type } from 'typebox';
import { defineContract } from '../operation.ts';
import { listOf } from './paging.ts';

const modelView = Type.Object({
  name: Type.String(),
  baseUrl: Type.String(),
  model: Type.String({ description: 'The name of the model as the server knows it.' }),
  key: Type.Optional(Type.String({ description: 'Name of the key, never its value.' })),
  hasKey: Type.Boolean({ description: 'False when the key that is named has no value, or may not go to this server.' }),
  isDefault: Type.Boolean(),
});

const usageView = Type.Object({
  plugin: Type.String(),
  caller: Type.String(),
  tokens: Type.Integer(),
  budget: Type.Optional(Type.Integer({ description: 'Tokens that the plugin is granted a day, for every caller.' })),
});

/** What can be seen of models. */
export const modelContracts = {
  list: defineContract({
    name: 'models.list',
    summary: 'Lists the models of the config.',
    role: 'admin',
    input: Type.Object({}, { additionalProperties: false }),
    output: listOf(modelView),
    http: { method: 'GET', path: '/api/models' },
  }),
  usage: defineContract({
    name: 'models.usage',
    summary: 'Lists the tokens that plugins used today (UTC), by caller; a caller sees its own, an admin all.',
    role: 'caller',
    input: Type.Object({ limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })) }, { additionalProperties: false }),
    output: Type.Object({
      items: Type.Array(usageView),
      total: Type.Integer(),
      resetsAtMs: Type.Number({ description: 'When the budgets begin anew.' }),
    }),
    http: { method: 'GET', path: '/api/models/usage' },
  }),
};
