import { type TSchema, Type } from 'typebox';
import { callerRuleFields, keyRules } from '../../../callers/caller.ts';
import { defineContract } from '../../operation.ts';
import { listOf } from '../paging.ts';

const role = Type.Enum(['admin', 'caller']);
const orNull = <Rule extends TSchema>(rule: Rule) => Type.Optional(Type.Union([rule, Type.Null()]));
/** A rule that is `null` is taken away. */
const ruleChanges = {
  tools: orNull(callerRuleFields.tools),
  ratePerMinute: orNull(callerRuleFields.ratePerMinute),
  maxConcurrent: orNull(callerRuleFields.maxConcurrent),
  mayAnswer: orNull(callerRuleFields.mayAnswer),
  code: orNull(callerRuleFields.code),
  models: orNull(callerRuleFields.models),
  modelTokensPerDay: orNull(callerRuleFields.modelTokensPerDay),
  modelDollarsPerDay: orNull(callerRuleFields.modelDollarsPerDay),
  expiresAtMs: orNull(callerRuleFields.expiresAtMs),
};

const keyId = Type.String({ minLength: 1, maxLength: 64 });

const missingTools = Type.Optional(
  Type.Array(Type.Object({ name: Type.String(), near: Type.Array(Type.String(), { description: 'Tools that may be meant.' }) }), {
    description: 'Tools of its list that nobody has now: the key reaches whatever comes by that name.',
  }),
);

const keyView = Type.Object({
  id: Type.String({ description: 'Also the caller id of whoever uses the key.' }),
  name: Type.String(),
  role,
  rules: keyRules,
  movedTools: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'Tools of its list whose names belong to other files now: the key does not reach them until its tools are set again.',
    }),
  ),
  missingTools,
  createdAtMs: Type.Number(),
  madeBy: Type.Optional(Type.String({ description: 'The caller id of who made it, where that is known.' })),
  lastUsedAtMs: Type.Optional(Type.Number()),
  revokedAtMs: Type.Optional(Type.Number()),
});

/** What can be done with API keys. */
export const keyContracts = {
  create: defineContract({
    name: 'keys.create',
    summary: 'Makes an API key; the answer is the only time that it is shown.',
    role: 'admin',
    isForPeople: true,
    input: {
      name: Type.Optional(Type.String({ minLength: 1, maxLength: 64, pattern: '^[^\\u0000-\\u001f]*$' })),
      role: Type.Optional(role),
      ...keyRules.properties,
    },
    output: Type.Object({
      id: Type.String(),
      name: Type.String(),
      role,
      rules: keyRules,
      key: Type.String(),
      missingTools,
      createdAtMs: Type.Number(),
    }),
    http: { method: 'POST', path: '/api/keys' },
  }),
  list: defineContract({
    name: 'keys.list',
    summary: 'Lists the API keys with their rules, without their secrets.',
    role: 'admin',
    input: {},
    output: listOf(keyView),
    http: { method: 'GET', path: '/api/keys' },
  }),
  update: defineContract({
    name: 'keys.update',
    summary: 'Changes the rules of an API key from its next request on; null takes a rule away.',
    role: 'admin',
    isForPeople: true,
    input: { id: keyId, ...ruleChanges },
    output: keyView,
    http: { method: 'PATCH', path: '/api/keys/:id' },
  }),
  revoke: defineContract({
    name: 'keys.revoke',
    summary: 'Revokes an API key at once.',
    role: 'admin',
    isForPeople: true,
    input: { id: keyId },
    output: Type.Object({ id: Type.String(), revoked: Type.Boolean() }),
    http: { method: 'DELETE', path: '/api/keys/:id' },
  }),
};
