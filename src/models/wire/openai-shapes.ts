import { omitUndefined } from '../../config/json-object.ts';
import type { TokenUsage } from '../../conversation/answer.ts';
import { type JsonObject, keep, keptOf, type MediaSource } from '../../conversation/conversation.ts';
import type { ResponseShape } from '../../conversation/request.ts';
import { describeErrors } from './failures.ts';
import { compact, countIn, flagIn, nonEmpty, objectIn, textIn } from './json-fields.ts';
import type { ListedModel, WireFormat, WireFormatName } from './wire-format.ts';

// What both of OpenAI's formats say in the same way.

/** Some servers send the arguments of a call as an object instead of its text. */
export function argumentsText(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

/** The sound of `input_audio`; undefined when there is none. */
export function readInputAudio(audio: unknown): MediaSource | undefined {
  const { data, format } = objectIn(audio);
  if (typeof data !== 'string') return undefined;
  return { kind: 'data', mediaType: format === 'mp3' ? 'audio/mpeg' : `audio/${textIn(format) ?? 'wav'}`, data };
}

/** A sound as `input_audio`. */
export function writeInputAudio({ mediaType, data }: Extract<MediaSource, { kind: 'data' }>): JsonObject {
  return { data, format: mediaType === 'audio/mpeg' ? 'mp3' : mediaType.replace(/^audio\/(x-)?/, '') };
}

/** The shape that an answer is to have; `about` says more of one by a schema. */
export function readShape(type: unknown, about: unknown): ResponseShape | undefined {
  if (type === 'text') return { kind: 'text' };
  if (type === 'json_object') return { kind: 'json' };
  if (type !== 'json_schema') return undefined;
  const { name, schema, strict, description } = objectIn(about);
  const facts = { name: textIn(name), description: textIn(description), isStrict: flagIn(strict) };
  return { kind: 'json-schema', schema: objectIn(schema), ...omitUndefined(facts) };
}

/** The type of a shape, and what is said of one by a schema. */
export function writeShape(shape: ResponseShape): { type: string; about?: JsonObject } {
  if (shape.kind === 'text') return { type: 'text' };
  if (shape.kind === 'json') return { type: 'json_object' };
  const { name = 'answer', schema, isStrict: strict, description } = shape;
  return { type: 'json_schema', about: compact({ name, description, schema, strict }) };
}

/** Reads and writes what was used; the formats call the two sides otherwise. */
export function describeUsage(
  format: WireFormatName,
  asked: string,
  answered: string,
): [read: (usage: JsonObject) => TokenUsage, write: (usage: TokenUsage) => JsonObject] {
  const [inputs, outputs] = [`${asked}_tokens`, `${answered}_tokens`];
  const [inputDetails, outputDetails] = [`${inputs}_details`, `${outputs}_details`];
  return [
    ({ total_tokens, [inputs]: input, [outputs]: output, [inputDetails]: ofInput, [outputDetails]: ofOutput, ...rest }) => {
      const { cached_tokens, ...moreOfInput } = objectIn(ofInput);
      const { reasoning_tokens, ...moreOfOutput } = objectIn(ofOutput);
      const details = { [inputDetails]: nonEmpty(moreOfInput), [outputDetails]: nonEmpty(moreOfOutput) };
      return {
        inputTokens: countIn(input),
        outputTokens: countIn(output),
        ...(typeof cached_tokens === 'number' && { cacheReadTokens: countIn(cached_tokens) }),
        ...(typeof reasoning_tokens === 'number' && { reasoningTokens: countIn(reasoning_tokens) }),
        ...keep(format, compact({ ...rest, ...details })),
      };
    },
    (usage) => {
      const { inputTokens, outputTokens, cacheReadTokens = 0, reasoningTokens = 0 } = usage;
      const { [inputDetails]: ofInput, [outputDetails]: ofOutput, ...rest } = keptOf(usage, format);
      return {
        [inputs]: inputTokens,
        [inputDetails]: { cached_tokens: cacheReadTokens, ...objectIn(ofInput) },
        [outputs]: outputTokens,
        [outputDetails]: { reasoning_tokens: reasoningTokens, ...objectIn(ofOutput) },
        total_tokens: inputTokens + outputTokens,
        ...rest,
      };
    },
  ];
}

/** OpenAI has few words for what failed. */
export const openaiErrors = describeErrors({
  words: {
    'invalid-request': 'invalid_request_error',
    unauthenticated: 'authentication_error',
    forbidden: 'permission_error',
    'not-found': 'invalid_request_error',
    conflict: 'server_error',
    'too-large': 'invalid_request_error',
    'rate-limited': 'rate_limit_error',
    overloaded: 'server_error',
    timeout: 'server_error',
    'server-error': 'server_error',
  },
  body: ({ message, param = null, code = null }, type) => ({ error: { message, type, param, code } }),
});

/** What both formats have beside requests and answers. */
export const openaiFacts = {
  ...openaiErrors,
  family: 'openai',
  fixedHeaders: {},
  clientHeaders: ['openai-beta'],
  usageName: 'usage',
  listPath: '/models',
  ping: ': ping\n\n',
  describeModel: describeOpenaiModel,
  describeModels: (models) => ({ object: 'list', data: models.map(describeOpenaiModel) }),
} as const satisfies Partial<WireFormat>;

function describeOpenaiModel({ name, provider }: ListedModel): JsonObject {
  return { id: name, object: 'model', created: 0, owned_by: provider };
}
