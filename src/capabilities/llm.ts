import Type, { type Static } from 'typebox';
import type { CarryOut } from '../border/capability.ts';
import type { CapabilityUser } from '../border/capability-user.ts';
import { defaultLlmTokens } from '../config/permission-set.ts';
import { maxInputDepth, nestsDeeper, nestsTooDeep } from '../config/read/json-nesting.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import { suggestNearNames } from '../errors/near-names.ts';
import { matchersOf } from '../permissions/matchers.ts';
import type { Redactor } from '../secrets/secret-types.ts';
import type { Reservation, TokenBudgets } from './llm/token-budget.ts';
import { estimateTokens, messageTokens } from './llm/token-estimate.ts';
import { createPayloadReader } from './payload.ts';
import { createDenial } from './permission-denial.ts';
import { callGranted, type NestedAnswer, requireGranted, type ToolPort, type VisibleTool } from './tools.ts';

/** What a model is asked. Texts are free of secrets. */
export interface TextRequest {
  readonly system: string | undefined;
  readonly messages: readonly { readonly role: 'user' | 'assistant'; readonly content: string }[];
  readonly maxTokens: number;
  readonly temperature: number | undefined;
  /** `true` asks for JSON, a schema for JSON of that shape. */
  readonly json: true | Readonly<Record<string, unknown>> | undefined;
}

/** What a model may call on the way to its answer: tools of the plugin's grant, as calls within its call. */
export interface TextTools {
  /** `ref`: what the plugin called it. */
  readonly tools: readonly (VisibleTool & { readonly ref: string })[];
  /** Calls one of them; of one turn those run side by side that are marked for it. Rejects when it was refused before it ran. */
  call(ref: string, args: unknown, turn: string, signal: AbortSignal): Promise<NestedAnswer>;
  /** Sets aside what one more round may take. Throws `quota-exceeded`. */
  reserve(tokens: number): Reservation;
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
      /** The calls that the model made, in order. */
      readonly calls?: readonly { readonly name: string; readonly status: string }[];
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

/** Asks a model that may call tools on its way. Rejects also with what ended it before there was an answer. */
export type GenerateWithTools = (
  request: TextRequest,
  by: Pick<CapabilityUser, 'executionId' | 'caller' | 'isAdmin' | 'tool'>,
  tools: TextTools,
  signal: AbortSignal,
) => Promise<TextResult>;

interface Parts {
  readonly generator: TextGenerator;
  readonly budgets: TokenBudgets;
  /** What a model may call, and how. */
  readonly withTools?: { readonly port: ToolPort; readonly generate: GenerateWithTools } | undefined;
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
    tools: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 64 })),
  },
  { additionalProperties: false },
);
const readRequest = createPayloadReader(request);

/**
 * `context.llm`: `llm.generate {prompt | messages, system?, maxTokens?, temperature?, json?, tools?}` answers `{text, json?, model,
 * finishReason, usage: {inputTokens, outputTokens, budgetLeft}, calls?}`. Tokens are set aside before the model is asked, so that
 * calls at the same time cannot pass the budget together; with tools each time that it is asked.
 */
export function createLlm({ generator, budgets, redactor, withTools }: Parts): { readonly answer: CarryOut } {
  return {
    answer: async (asked, user, signal) => {
      const budget = readBudget(user);
      const { tools: names, ...said } = readRequest(asked);
      const wanted = readMessages(said, generator.maxTokens);
      // A model that was given no tools may call one all the same: it reads that there is none, and answers.
      const tools = withTools && names && findTools(withTools.port, names, user);
      generator.check();
      const clean = redactor === undefined || redactor.isIdle ? wanted : redactor.value(wanted);
      const { unitPath, caller, plugin } = user;
      let budgetLeft = 0;
      const reserve = (tokens: number): Reservation => {
        const reserved = budgets.reserve({ unitPath, caller, plugin, tokens, budget });
        return {
          settle: (used) => {
            budgetLeft = reserved.settle(used);
            return budgetLeft;
          },
        };
      };
      const ask = async (): Promise<TextResult> => {
        if (withTools !== undefined && tools !== undefined) {
          const call: TextTools['call'] = (ref, args, turn, until) =>
            callGranted(withTools.port, { ref, arguments: args, turn }, user, until);
          return withTools.generate(clean, user, { tools, call, reserve }, signal);
        }
        const { settle } = reserve(countTokens(clean));
        const result = await generator.generate(clean, user, signal);
        if (result.ok) settle(result.usage === undefined ? undefined : result.usage.inputTokens + result.usage.outputTokens);
        else settle(result.isBilled ? undefined : 0);
        return result;
      };
      user.noteUse('llm', 'generate', true);
      const result = await ask();
      if (!result.ok) throw result.error;
      const { usage, calls } = result;
      const answer = redactor === undefined ? result.text : redactor.text(result.text);
      return {
        payload: {
          text: answer,
          ...(clean.json === undefined ? {} : { json: parseAnswer(answer, result.finishReason) }),
          model: result.model,
          finishReason: result.finishReason,
          usage: { inputTokens: usage?.inputTokens ?? 0, outputTokens: usage?.outputTokens ?? 0, budgetLeft },
          ...(calls === undefined ? {} : { calls }),
        },
      };
    },
  };
}

/** The tools that a plugin names, each of them one that it and its caller may call. */
function findTools(port: ToolPort, refs: readonly string[], user: CapabilityUser): TextTools['tools'] {
  const refByName = new Map(refs.map((ref) => [requireGranted(port, ref, user), ref]));
  const visible = port.list(user.executionId);
  return [...refByName].map(([name, ref]) => {
    if (visible.some((tool) => tool.name === name)) return { ...port.find(user.executionId, ref), ref };
    const { allowsTool } = matchersOf(user.granted());
    const near = suggestNearNames(
      name,
      visible.flatMap((tool) => (allowsTool(tool.name) ? [tool.name] : [])),
    );
    throw new HotcellError('tool-unknown', `There is no tool "${name}".${near}`, {
      fix: 'See context.tools.list() for the tools that can be called.',
    });
  });
}

function readBudget(user: CapabilityUser): number {
  const { llm } = user.granted();
  if (llm === undefined) throw createDenial(user, { key: 'llm', tried: 'use context.llm' });
  return llm === true ? defaultLlmTokens : llm;
}

/** System messages are joined with `system`, so that what a plugin writes stands in one place. */
function readMessages(asked: Omit<Static<typeof request>, 'tools'>, maxTokens: number): TextRequest {
  const { prompt, messages, system, temperature, json } = asked;
  if ((prompt === undefined) === (messages === undefined)) {
    throw new HotcellError(
      'arguments-invalid',
      `context.llm.generate takes either prompt or messages, got ${prompt === undefined ? 'neither' : 'both'}.`,
      {
        fix: 'Write context.llm.generate({ prompt: "…" }).',
      },
    );
  }
  const all = messages ?? [{ role: 'user' as const, content: prompt ?? '' }];
  const systems = [
    ...(system === undefined ? [] : [system]),
    ...all.flatMap((each) => (each.role === 'system' ? [each.content] : [])),
  ];
  const rest = all.flatMap(({ role: who, content }) => (who === 'system' ? [] : [{ role: who, content }]));
  if (rest.length === 0)
    throw new HotcellError(
      'arguments-invalid',
      `context.llm.generate needs a message that is not a system message, got ${all.length} of the system.`,
    );
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
