import { omitUndefined } from '../../../config/json-object.ts';
import { type JsonObject, keep, keptOf } from '../../../conversation/conversation.ts';
import type { ConversationRequest, ResponseShape, ToolChoice, ToolDeclaration } from '../../../conversation/request.ts';
import {
  compact,
  describeWrong,
  flagIn,
  listIn,
  numberIn,
  objectIn,
  objectsIn,
  requireObject,
  requireObjects,
  textIn,
} from '../json-fields.ts';
import { readShape, writeShape } from '../openai-shapes.ts';
import { fitForProvider } from '../provider-request.ts';
import { freeTextSchema, writeNativeTools } from '../tool-declarations.ts';
import type { Written } from '../wire-format.ts';
import { createLosses, type Losses } from '../writing.ts';
import { readChatMessages, writeChatMessages } from './messages.ts';

const format = 'openai-chat';

/** Reads the body of `POST /chat/completions`. */
export function readChatRequest(given: unknown): ConversationRequest {
  const body = requireObject(given, 'body');
  const { model, messages, tools, functions, tool_choice, function_call, parallel_tool_calls, ...others } = body;
  const { temperature, top_p, seed, frequency_penalty, presence_penalty, stop, max_tokens, response_format, ...more } = others;
  const { reasoning_effort, metadata, user, stream, n, ...rest } = more;
  if (n !== undefined && n !== null && n !== 1) throw describeWrong('n', '1 (one answer at a time)', n);
  if (typeof model !== 'string') throw describeWrong('model', 'a text', model);
  const declared = [...objectsIn(tools), ...objectsIn(functions).map((value) => ({ type: 'function', function: value }))];
  const isDeclaration = ({ type }: JsonObject) => type === 'function' || type === 'custom';
  const choice = readChoice(tool_choice) ?? readChoice(function_call);
  const { type: shapeType, json_schema } = objectIn(response_format);
  const shape = readShape(shapeType, json_schema);
  const unread = compact({
    ...rest,
    tool_choice: choice === undefined ? (tool_choice ?? undefined) : undefined,
    response_format: shape === undefined ? (response_format ?? undefined) : undefined,
  });
  return {
    model,
    system: [],
    messages: readChatMessages(requireObjects(messages, 'messages')),
    tools: declared.filter(isDeclaration).map(readTool),
    nativeTools: declared.filter((tool) => !isDeclaration(tool)).map((value) => ({ format, value })),
    sampling: omitUndefined({
      temperature: numberIn(temperature),
      topP: numberIn(top_p),
      seed: numberIn(seed),
      frequencyPenalty: numberIn(frequency_penalty),
      presencePenalty: numberIn(presence_penalty),
      stopSequences: readStop(stop),
    }),
    isStreamed: stream === true,
    ...omitUndefined({
      toolChoice: choice,
      mayCallInParallel: flagIn(parallel_tool_calls),
      responseShape: shape,
      reasoning: typeof reasoning_effort === 'string' ? { effort: reasoning_effort } : undefined,
      maxTokens: numberIn(more.max_completion_tokens) ?? numberIn(max_tokens),
      metadata: metadata === undefined || metadata === null ? undefined : objectIn(metadata),
      endUser: textIn(user),
    }),
    ...keep(format, unread),
  };
}

function readStop(stop: unknown): readonly string[] | undefined {
  if (typeof stop === 'string') return [stop];
  const texts = listIn(stop).filter((entry) => typeof entry === 'string');
  return texts.length === 0 ? undefined : texts;
}

function readTool(tool: JsonObject): ToolDeclaration {
  const isFreeText = tool.type === 'custom';
  const { name, description, parameters, strict, ...rest } = objectIn(isFreeText ? tool.custom : tool.function);
  return {
    name: textIn(name) ?? '',
    parameters: isFreeText ? freeTextSchema : objectIn(parameters),
    ...(isFreeText && { isFreeText }),
    ...omitUndefined({ description: textIn(description), isStrict: flagIn(strict) }),
    ...keep(format, rest),
  };
}

function readChoice(choice: unknown): ToolChoice | undefined {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { kind: choice };
  const value = objectIn(choice);
  if (value.type === 'allowed_tools') {
    const { mode, tools } = objectIn(value.allowed_tools);
    const names = objectsIn(tools).flatMap((tool) => textIn(objectIn(tool.function ?? tool.custom).name) ?? []);
    return { kind: 'some', names, mode: mode === 'required' ? 'required' : 'auto' };
  }
  const name = textIn(objectIn(value.function ?? value.custom).name) ?? textIn(value.name);
  return name === undefined ? undefined : { kind: 'tool', name };
}

/** Writes a request for `POST /chat/completions`. */
export function writeChatRequest(asked: ConversationRequest): Written<JsonObject> {
  const request = fitForProvider(asked, { maxIdChars: 40 });
  const losses = createLosses(format);
  losses.noteKept(request, 'request');
  const { sampling, responseShape, reasoning } = request;
  const { stream_options, max_completion_tokens, ...rest } = keptOf(request, format);
  if (sampling.topK !== undefined) losses.note('top_k');
  if (reasoning?.maxTokens !== undefined) losses.note('A number of tokens for reasoning');
  if (request.previousAnswerId !== undefined) losses.note('previous_response_id');
  const tools = [...request.tools.map((tool) => writeTool(tool, losses)), ...writeNativeTools(request, losses)];
  const isNewer = max_completion_tokens !== undefined;
  const body = compact({
    model: request.model,
    messages: writeChatMessages(request, losses),
    tools: tools.length === 0 ? undefined : tools,
    tool_choice: writeChoice(request, losses),
    parallel_tool_calls: request.mayCallInParallel,
    temperature: sampling.temperature,
    top_p: sampling.topP,
    seed: sampling.seed,
    frequency_penalty: sampling.frequencyPenalty,
    presence_penalty: sampling.presencePenalty,
    stop: sampling.stopSequences,
    [isNewer ? 'max_completion_tokens' : 'max_tokens']: request.maxTokens,
    response_format: responseShape && writeFormat(responseShape),
    reasoning_effort: reasoning?.effort,
    metadata: request.metadata,
    user: request.endUser,
    stream: request.isStreamed || undefined,
    stream_options: request.isStreamed ? { ...objectIn(stream_options), ...usageAlways } : undefined,
    ...rest,
  });
  return { value: body, warnings: losses.list };
}

/** Usage is asked for in any case; whether a client sees it is decided when its stream is written. */
const usageAlways = { include_usage: true };

function writeTool(tool: ToolDeclaration, losses: Losses): JsonObject {
  losses.noteKept(tool, 'tool');
  const { description, parameters, isStrict: strict } = tool;
  const { name } = tool;
  const rest = keptOf(tool, format);
  if (tool.isFreeText === true) return { type: 'custom', custom: compact({ name, description, ...rest }) };
  return { type: 'function', function: compact({ name, description, parameters, strict, ...rest }) };
}

function writeChoice({ toolChoice: choice, tools }: ConversationRequest, losses: Losses): unknown {
  if (choice === undefined) return undefined;
  const refer = (name: string): JsonObject => {
    const kind = tools.some((tool) => tool.name === name && tool.isFreeText === true) ? 'custom' : 'function';
    return { type: kind, [kind]: { name: name } };
  };
  if (choice.kind === 'tool') return refer(choice.name);
  if (choice.kind !== 'some') return choice.kind;
  if (choice.names.length === 0) losses.note('A choice among no tools');
  return { type: 'allowed_tools', allowed_tools: { mode: choice.mode, tools: choice.names.map(refer) } };
}

function writeFormat(shape: ResponseShape): JsonObject {
  const { type, about } = writeShape(shape);
  return about === undefined ? { type } : { type, json_schema: about };
}
