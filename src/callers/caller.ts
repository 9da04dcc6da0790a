import { type Static, Type } from 'typebox';
import type { ToolOwners } from '../names/tool-owners.ts';

/** What the operator lays down for one key, rule by rule; what is absent is not limited. */
export const callerRuleFields = {
  tools: Type.Unsafe<readonly string[]>(
    Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
      maxItems: 200,
      description: 'Names of tools, * for any text: this key never hears of others.',
    }),
  ),
  ratePerMinute: Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Calls a minute.' }),
  maxConcurrent: Type.Integer({ minimum: 1, maximum: 100_000, description: 'Calls under way at once.' }),
  mayAnswer: Type.Boolean({ description: 'May answer questions that its own calls asked; never grants.' }),
  code: Type.Boolean({ description: 'May have scripts run that call its tools: search_code and run_code.' }),
  models: Type.Unsafe<readonly string[]>(
    Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
      maxItems: 200,
      description: 'Models that it may ask: `provider/model`, models or aliases, * for any text; all when absent.',
    }),
  ),
  modelTokensPerDay: Type.Integer({ minimum: 1, maximum: 1_000_000_000_000, description: 'Tokens of models a day (UTC).' }),
  modelDollarsPerDay: Type.Number({
    exclusiveMinimum: 0,
    maximum: 1_000_000,
    description: 'What models may cost it a day (UTC).',
  }),
  expiresAtMs: Type.Integer({ minimum: 0, description: 'When the key ends, epoch ms.' }),
};

/** The rules of a key, as they are kept. */
export const keyRules = Type.Partial(Type.Object(callerRuleFields), { additionalProperties: false });

/** The rules of one caller. */
export type CallerRules = Readonly<Static<typeof keyRules>>;

/** Who calls. `local` is the operator on the machine itself. */
export interface Caller extends CallerRules {
  readonly id: string;
  readonly role: 'admin' | 'caller';
  /** Nobody knows who: the id is of this one request, and what it leaves behind is deleted when its call is over. */
  readonly isAnonymous?: boolean;
  /** Whose tools `tools` named when it was laid down. */
  readonly toolOwners?: ToolOwners;
}

/** The operator on the machine itself: whoever has the token of the daemon, and the daemon where it asks itself. */
export const operatorCaller: Caller = Object.freeze({ id: 'local', role: 'admin' });

/** Stands for whoever said nothing of itself yet: it may do nothing, and what it holds is counted as one. */
export const unknownCaller: Caller = Object.freeze({ id: 'anonymous', role: 'caller', isAnonymous: true });
