import { isObject } from '../../../config/json-object.ts';
import type { AnswerStop, ConversationAnswer, ModelFailure } from '../../../conversation/answer.ts';
import { type JsonObject, keptOf } from '../../../conversation/conversation.ts';
import type { ToolDeclaration } from '../../../conversation/request.ts';
import { readFailureIn } from '../failures.ts';
import { objectIn, objectsIn, textIn } from '../json-fields.ts';
import { describeUsage } from '../openai-shapes.ts';
import { readWhole } from '../reading.ts';
import type { AnswerContext, ReadOptions, Written } from '../wire-format.ts';
import { writeBody } from '../writing.ts';
import { readOutputItem, writeOutputItems } from './items.ts';
import { writeResponsesChoice, writeResponsesShape } from './request.ts';

const format = 'openai-responses';

/** Reads a `response`. Throws `model-failed` when it is none. */
export function readResponsesAnswer(body: unknown, options: ReadOptions = {}): ConversationAnswer {
  const about = { format, what: 'response of the OpenAI format', prefixes: ['resp', 'call'] } as const;
  return readWhole(body, about, options, (whole, readName) => {
    const { id, model, output, usage, status, error, incomplete_details, object, ...rest } = whole;
    return {
      id,
      model,
      parts: objectsIn(output).flatMap((item) => readOutputItem(item, readName, status !== 'completed')),
      stop: readResponsesStop(status, incomplete_details),
      usage: isObject(usage) ? readResponsesUsage(usage) : undefined,
      failure: status === 'failed' ? readResponseError(error) : undefined,
      rest,
    };
  });
}

/** Reads the error of a response that failed. */
export function readResponseError(error: unknown): ModelFailure {
  return readFailureIn({ error: { message: 'The response failed.', ...objectIn(error) } });
}

export function readResponsesStop(status: unknown, details: unknown): AnswerStop {
  if (status === 'completed' || status === undefined) return { kind: 'end' };
  const { reason } = objectIn(details);
  if (status !== 'incomplete' || reason === 'interrupted') return { kind: 'interrupted' };
  if (reason === 'max_output_tokens') return { kind: 'max-tokens' };
  if (reason === 'content_filter') return { kind: 'content-filter' };
  return { kind: 'other', native: { format, value: textIn(reason) ?? 'incomplete' } };
}

const incomplete: Readonly<Partial<Record<AnswerStop['kind'], string>>> = {
  'max-tokens': 'max_output_tokens',
  'context-full': 'max_output_tokens',
  'content-filter': 'content_filter',
  interrupted: 'interrupted',
};

/** Status and reason of an answer that ended so. */
export function writeResponsesStop({ kind, native }: AnswerStop): { status: string; incomplete_details: JsonObject | null } {
  const reason = native?.format === format ? native.value : incomplete[kind];
  return {
    status: reason === undefined ? 'completed' : 'incomplete',
    incomplete_details: reason === undefined ? null : { reason },
  };
}

export const [readResponsesUsage, writeResponsesUsage] = describeUsage(format, 'input', 'output');

/** A `response` without what was answered: what was asked for, and what the format demands besides. */
export function writeResponseShell(
  id: string,
  model: string,
  { request, createdAt }: AnswerContext,
  own: JsonObject,
): JsonObject {
  const asked = request === undefined ? {} : keptOf(request, format);
  const { stream_options, include, input, ...echoed } = asked;
  return {
    id: id.startsWith('resp_') ? id : `resp_${id}`,
    object: 'response',
    created_at: createdAt ?? Math.floor(Date.now() / 1000),
    completed_at: null,
    status: 'in_progress',
    background: false,
    error: null,
    incomplete_details: null,
    instructions: request?.system.map(({ text }) => text).join('\n\n') || null,
    max_output_tokens: request?.maxTokens ?? null,
    max_tool_calls: null,
    model,
    output: [],
    parallel_tool_calls: request?.mayCallInParallel ?? true,
    previous_response_id: request?.previousAnswerId ?? null,
    presence_penalty: 0,
    frequency_penalty: 0,
    prompt_cache_key: null,
    safety_identifier: null,
    service_tier: 'default',
    store: true,
    temperature: request?.sampling.temperature ?? 1,
    tool_choice: (request === undefined ? undefined : writeResponsesChoice(request)) ?? 'auto',
    tools: request?.tools.map(describeTool) ?? [],
    top_logprobs: 0,
    top_p: request?.sampling.topP ?? 1,
    truncation: 'disabled',
    usage: null,
    user: request?.endUser ?? null,
    metadata: request?.metadata ?? {},
    ...echoed,
    reasoning: { effort: request?.reasoning?.effort ?? null, summary: null, ...objectIn(asked.reasoning) },
    text: { format: writeResponsesShape(request?.responseShape ?? { kind: 'text' }), ...objectIn(asked.text) },
    ...own,
  };
}

function describeTool({ name, description: said, parameters, isStrict = false, isFreeText }: ToolDeclaration): JsonObject {
  const description = said ?? null;
  if (isFreeText === true) return { type: 'custom', name, description };
  return { type: 'function', name, description, parameters, strict: isStrict };
}

/** Writes a `response`. */
export function writeResponsesAnswer(answer: ConversationAnswer, context: AnswerContext = {}): Written<JsonObject> {
  return writeBody(format, 'answer', answer, (losses) => {
    const { stop, usage, failure } = answer;
    if (stop.sequence !== undefined) losses.note('Which stop sequence was met');
    const id = context.id ?? answer.id;
    let count = 0;
    const output = writeOutputItems(answer.parts, (prefix) => `${prefix}_${id}_${count++}`, losses);
    const shell = writeResponseShell(id, answer.model, context, keptOf(answer, format));
    const ending = failure === undefined ? writeResponsesStop(stop) : { status: 'failed', error: writeResponseError(failure) };
    const completed_at = shell.completed_at ?? shell.created_at;
    return { ...shell, ...ending, completed_at, output, usage: usage ? writeResponsesUsage(usage) : null };
  });
}

/** Writes the error of a response that failed. */
export function writeResponseError({ kind, code, message }: ModelFailure): JsonObject {
  return { code: code ?? (kind === 'rate-limited' ? 'rate_limit_exceeded' : 'server_error'), message };
}
