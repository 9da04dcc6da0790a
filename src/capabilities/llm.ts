import Type, { type Static } from 'typebox';
import type { Capability } from '../border/capability.ts';
import type { CapabilityUser } from '../border/capability-user.ts';
import { maxInputDepth, nestsDeeper, nestsTooDeep } from '../config/read/json-nesting.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import { defaultLlmTokens } from '../permissions/decision.ts';
import type { Redactor } from '../secrets/secret-types.ts';
import { createDenial } from './denial.ts';
import type { TokenBudgets } from './llm/token-budget.ts';
import { estimateTokens, messageTokens } from './llm/token-estimate.ts';
import { createPayloadReader } from './payload.ts';

/** What a model is asked. Texts are free of secrets. */
export interface TextRequest {
  readonly system: string | undefined;
  readonly messages: readonly { readonly role: 'user' | 'assistant'; readonly content: string }[];
  readonly maxTokens: number;
  readonly temperature: number | undefined;
  /** `true` asks for JSON, a schema for JSON of that shape. */
  readonly json: true | Readonly<Record<string, unknown>> | undefined;
}

/** What came of it. `isBilled` tells of a failure whether tokens may have been used. */
export type TextResult =
  | {
      readonly ok: true;
      readonly text: string;
      readonly model: string;
      readonly finishReason: string;
      /** Absent when the server does not tell. */
      readonly usage?: { readonly inputTokens: number; readonly outputTokens: number };
    }
  | { readonly ok: false; readonly error: HotcellError; readonly isBilled: boolean };

/** The models, as `context.llm` needs them. */
export interface TextGenerator {
  /** Tokens of an answer when the plugin says nothing. */
  readonly maxTokens: number;
  /** Throws `model-not-configured`, with the lines that are missing. */
  check(): void;
  /** Rejects only on a fault of the daemon. Aborting ends the request. */
  generate(
    request: TextRequest,
    by: Pick<CapabilityUser, 'executionId' | 'caller' | 'isAdmin' | 'tool'>,
    signal: AbortSignal,
  ): Promise<TextResult>;
}

interface Parts {
  readonly generator: TextGenerator;
  readonly budgets: TokenBudgets;
  readonly redactor?: Redactor | undefined;
}

const text = Type.String({ maxLength: 2_000_000 });
const role = Type.Union([Type.Literal('system'), Type.Literal('user'), Type.Literal('assistant')]);
const message = Type.Object({ role, content: text }, { additionalProperties: false });
const request = Type.Object(
  {
    prompt: Type.Optional(text),
    messages: Type.Optional(Type.Array(message, { minItems: 1, maxItems: 1000 })),
    system: Type.Optional(text),
    maxTokens: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
    temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
    json: Type.Optional(Type.Union([Type.Literal(true), Type.Record(Type.String(), Type.Unknown())])),
  },
  { additionalProperties: false },
);
const readRequest = createPayloadReader(request);

/**
 * `context.llm`: `llm.generate {prompt | messages, system?, maxTokens?, temperature?, json?}` answers `{text, json?, model,
 * finishReason, usage: {inputTokens, outputTokens, budgetLeft}}`. Tokens are set aside before the model is asked, so that
 * calls at the same time cannot pass the budget together.
 */
export function createLlm({ generator, budgets, redactor }: Parts): Capability {
  return {
    name: 'llm',
    operations: ['llm.generate'],
    answer: async (asked, user, signal) => {
      const budget = readBudget(user);
      const wanted = readMessages(readRequest(asked), generator.maxTokens);
      generator.check();
      const clean = redactor === undefined || redactor.isIdle ? wanted : redactor.value(wanted);
      const { unitPath, caller, plugin } = user;
      const reserved = budgets.reserve({ unitPath, caller, plugin, tokens: countTokens(clean), budget });
      user.noteUse('llm', 'generate', true);
      const result = await generator.generate(clean, user, signal);
      if (!result.ok) {
        reserved.settle(result.isBilled ? undefined : 0);
        throw result.error;
      }
      const { usage } = result;
      const budgetLeft = reserved.settle(usage === undefined ? undefined : usage.inputTokens + usage.outputTokens);
      const answer = redactor === undefined ? result.text : redactor.text(result.text);
      return {
        payload: {
          text: answer,
          ...(clean.json === undefined ? {} : { json: parseAnswer(answer, result.finishReason) }),
          model: result.model,
          finishReason: result.finishReason,
          usage: { inputTokens: usage?.inputTokens ?? 0, outputTokens: usage?.outputTokens ?? 0, budgetLeft },
        },
      };
    },
  };
}

function readBudget(user: CapabilityUser): number {
  const { llm } = user.granted();
  if (llm === undefined) throw createDenial(user, { key: 'llm', tried: 'use context.llm' });
  return llm === true ? defaultLlmTokens : llm;
}

/** System messages are joined with `system`, so that what a plugin writes stands in one place. */
function readMessages(asked: Static<typeof request>, maxTokens: number): TextRequest {
  const { prompt, messages, system, temperature, json } = asked;
  if ((prompt === undefined) === (messages === undefined)) {
    throw new HotcellError('arguments-invalid', 'context.llm.generate takes either prompt or messages, and not both.', {
      fix: 'Write context.llm.generate({ prompt: "…" }).',
    });
  }
  const all = messages ?? [{ role: 'user' as const, content: prompt ?? '' }];
  const systems = [
    ...(system === undefined ? [] : [system]),
    ...all.flatMap((each) => (each.role === 'system' ? [each.content] : [])),
  ];
  const rest = all.flatMap(({ role: who, content }) => (who === 'system' ? [] : [{ role: who, content }]));
  if (rest.length === 0)
    throw new HotcellError('arguments-invalid', 'context.llm.generate needs a message that is not a system message.');
  return {
    system: systems.length === 0 ? undefined : systems.join('\n\n'),
    messages: rest,
    maxTokens: asked.maxTokens ?? maxTokens,
    temperature,
    json,
  };
}

function countTokens({ system, messages, maxTokens, json }: TextRequest): number {
  const texts = [
    ...(system === undefined ? [] : [system]),
    ...messages.map(({ content }) => content),
    ...(json === undefined || json === true ? [] : [JSON.stringify(json)]),
  ];
  return texts.reduce((sum, each) => sum + estimateTokens(each) + messageTokens, maxTokens);
}

/** Models like to wrap JSON into a fence of Markdown. */
function parseAnswer(answer: string, finishReason: string): unknown {
  const bare = /^\s*```(?:json)?\s*\n([\s\S]*?)\n?```\s*$/.exec(answer)?.[1] ?? answer;
  if (nestsDeeper(bare, maxInputDepth)) {
    throw new HotcellError('model-failed', `The model answered with JSON that is of no use. ${nestsTooDeep}`, {
      fix: 'Ask again, or say in the prompt what the JSON is to look like.',
    });
  }
  try {
    return JSON.parse(bare);
  } catch (cause) {
    const why = finishReason === 'length' ? ': it was cut at maxTokens' : '';
    throw new HotcellError('model-failed', `The model did not answer with JSON${why}.`, {
      cause,
      fix: finishReason === 'length' ? 'Raise maxTokens.' : 'Ask again, or say in the prompt what the JSON is to look like.',
    });
  }
}
