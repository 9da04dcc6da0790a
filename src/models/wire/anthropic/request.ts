import { omitUndefined } from '../../../config/json-object.ts';
import { type JsonObject, keep, keptOf, type Message, type Part, type TextPart } from '../../../conversation/conversation.ts';
import type {
  ConversationRequest,
  ReasoningWish,
  ResponseShape,
  ToolChoice,
  ToolDeclaration,
} from '../../../conversation/request.ts';
import {
  compact,
  describeWrong,
  flagIn,
  listIn,
  nonEmpty,
  numberIn,
  objectIn,
  objectsIn,
  onlyText,
  requireObject,
  requireObjects,
  textIn,
} from '../json-fields.ts';
import { fitForProvider } from '../provider-request.ts';
import { freeTextSchema, writeNativeTools } from '../tool-declarations.ts';
import type { Written } from '../wire-format.ts';
import { createLosses, type Losses } from '../writing.ts';
import { readBlocks, writeBlocks } from './blocks.ts';

const format = 'anthropic';

/** The format demands a bound; this one is written when the request has none. */
const usualMaxTokens = 8192;

/** Reads the body of `POST /v1/messages`. */
export function readMessagesRequest(given: unknown): ConversationRequest {
  const body = requireObject(given, 'body');
  const { model, messages, system, tools, tool_choice, temperature, top_p, top_k, ...others } = body;
  const { stop_sequences, max_tokens, metadata, stream, ...rest } = others;
  if (typeof model !== 'string') throw describeWrong('model', 'a text', model);
  const declared = objectsIn(tools);
  const isDeclaration = ({ type }: JsonObject) => type === undefined || type === null || type === 'custom';
  const stops = listIn(stop_sequences).filter((entry) => typeof entry === 'string');
  const { user_id, ...aboutRequest } = objectIn(metadata);
  const { disable_parallel_tool_use: isSerial } = objectIn(tool_choice);
  const choice = readChoice(objectIn(tool_choice));
  const unread = compact({
    ...rest,
    metadata: nonEmpty(aboutRequest),
    tool_choice: choice === undefined ? (tool_choice ?? undefined) : undefined,
  });
  return {
    model,
    system: readBlocks(system).filter((part) => part.type === 'text'),
    messages: requireObjects(messages, 'messages').flatMap(readMessage),
    tools: declared.filter(isDeclaration).map(readTool),
    nativeTools: declared.filter((tool) => !isDeclaration(tool)).map((value) => ({ format, value })),
    sampling: omitUndefined({
      temperature: numberIn(temperature),
      topP: numberIn(top_p),
      topK: numberIn(top_k),
      stopSequences: stops.length === 0 ? undefined : stops,
    }),
    isStreamed: stream === true,
    ...omitUndefined({
      toolChoice: choice,
      mayCallInParallel: typeof isSerial === 'boolean' ? !isSerial : undefined,
      responseShape: readShape(objectIn(rest.output_config)),
      reasoning: readReasoning(objectIn(rest.thinking), objectIn(rest.output_config)),
      maxTokens: numberIn(max_tokens),
      endUser: textIn(user_id),
    }),
    ...keep(format, unread),
  };
}

/** Results stand in messages of the user there; here they are messages of their own. */
function readMessage(message: JsonObject, position: number): Message[] {
  const { role, content, ...rest } = message;
  if (role !== 'user' && role !== 'assistant' && role !== 'system') {
    throw describeWrong(`messages[${position}].role`, 'user, assistant or system', role);
  }
  if (typeof content !== 'string') requireObjects(content, `messages[${position}].content`);
  const messages: { role: Message['role']; parts: Part[] }[] = [];
  for (const part of readBlocks(content)) {
    const roleOfPart = part.type === 'tool-result' ? 'tool' : role;
    if (messages.at(-1)?.role === roleOfPart) messages.at(-1)?.parts.push(part);
    else messages.push({ role: roleOfPart, parts: [part] });
  }
  if (messages.length === 0) messages.push({ role, parts: [] });
  return messages.map((one, index) => (index === 0 ? { ...one, ...keep(format, rest) } : one));
}

function readTool({ name, description, input_schema, strict, type, ...rest }: JsonObject): ToolDeclaration {
  return {
    name: textIn(name) ?? '',
    parameters: objectIn(input_schema),
    ...omitUndefined({ description: textIn(description), isStrict: flagIn(strict) }),
    ...keep(format, type === 'custom' ? { type, ...rest } : rest),
  };
}

function readChoice({ type, name }: JsonObject): ToolChoice | undefined {
  if (type === 'auto' || type === 'none') return { kind: type };
  if (type === 'any') return { kind: 'required' };
  return type === 'tool' && typeof name === 'string' ? { kind: 'tool', name } : undefined;
}

function readShape({ format: shape }: JsonObject): ResponseShape | undefined {
  const { type, schema } = objectIn(shape);
  return type === 'json_schema' ? { kind: 'json-schema', schema: objectIn(schema) } : undefined;
}

function readReasoning({ type, budget_tokens, display }: JsonObject, { effort }: JsonObject): ReasoningWish | undefined {
  const wish = omitUndefined({
    effort: textIn(effort) ?? (type === 'disabled' ? 'none' : undefined),
    maxTokens: type === 'enabled' ? numberIn(budget_tokens) : undefined,
    isShown: type === 'enabled' || type === 'adaptive' ? display !== 'omitted' : undefined,
  });
  return Object.keys(wish).length === 0 ? undefined : wish;
}

/** Writes a request for `POST /v1/messages`. */
export function writeMessagesRequest(asked: ConversationRequest): Written<JsonObject> {
  const request = fitForProvider(asked, { maxIdChars: 64 });
  const losses = createLosses(format);
  losses.noteKept(request, 'request');
  const { sampling, maxTokens } = request;
  const { system, messages } = splitSystem(request);
  const systemBlocks = writeBlocks(system, 'to-provider', losses);
  if (maxTokens === undefined)
    losses.tell(`The request says no max_tokens, which ${format} demands: ${usualMaxTokens} was written.`);
  if (sampling.seed !== undefined) losses.note('seed');
  if (sampling.frequencyPenalty !== undefined || sampling.presencePenalty !== undefined) losses.note('A penalty');
  if (request.previousAnswerId !== undefined) losses.note('previous_response_id');
  if (request.metadata !== undefined) losses.note('metadata');
  const tools = [...request.tools.map((tool) => writeTool(tool, losses)), ...writeNativeTools(request, losses)];
  const { output_config, thinking, metadata, ...rest } = keptOf(request, format);
  const body = compact({
    model: request.model,
    max_tokens: maxTokens ?? usualMaxTokens,
    system: systemBlocks.length === 0 ? undefined : systemBlocks,
    messages: writeMessages(messages, losses),
    tools: tools.length === 0 ? undefined : tools,
    tool_choice: writeChoice(request, tools.length > 0, losses),
    temperature: sampling.temperature,
    top_p: sampling.topP,
    top_k: sampling.topK,
    stop_sequences: sampling.stopSequences,
    metadata: nonEmpty({ user_id: request.endUser, ...objectIn(metadata) }),
    thinking: thinking ?? writeThinking(request.reasoning),
    output_config: writeOutput(request, objectIn(output_config), losses),
    stream: request.isStreamed || undefined,
    ...rest,
  });
  return { value: body, warnings: losses.list };
}

/** What the system says first has a place of its own. */
function splitSystem({ system, messages }: ConversationRequest): { system: TextPart[]; messages: readonly Message[] } {
  const first = messages.findIndex(({ role }) => role !== 'system');
  const count = first === -1 ? messages.length : first;
  const leading = messages.slice(0, count).flatMap(({ parts }) => parts.filter((part) => part.type === 'text'));
  return { system: [...system, ...leading], messages: messages.slice(count) };
}

/** Messages of one role that follow each other become one: results and what the user says then belong together. */
function writeMessages(messages: readonly Message[], losses: Losses): JsonObject[] {
  const written: { role: string; content: JsonObject[]; rest: JsonObject; from: Message['role'] }[] = [];
  for (const message of messages) {
    losses.noteKept(message, 'message');
    const content = writeBlocks(message.parts, 'to-provider', losses);
    if (content.length === 0) continue;
    const role = message.role === 'tool' ? 'user' : message.role;
    const last = written.at(-1);
    if (last?.role === role && last.from === 'tool') {
      last.content.push(...content);
      last.from = message.role;
    } else written.push({ role, content, rest: keptOf(message, format), from: message.role });
  }
  return written.map(({ role, content, rest }) => ({ role, content: onlyText(content) ?? content, ...rest }));
}

function writeTool(tool: ToolDeclaration, losses: Losses): JsonObject {
  losses.noteKept(tool, 'tool');
  if (tool.isFreeText === true) losses.tell(`The tool "${tool.name}" takes a text; it is declared with {"input": text}.`);
  const { description, isStrict: strict } = tool;
  const input_schema = { type: 'object', ...(tool.isFreeText === true ? freeTextSchema : tool.parameters) };
  return compact({ name: tool.name, description, input_schema, strict, ...keptOf(tool, format) });
}

function writeChoice(request: ConversationRequest, hasTools: boolean, losses: Losses): JsonObject | undefined {
  const { toolChoice: choice, mayCallInParallel } = request;
  if (!hasTools) return undefined;
  const disable_parallel_tool_use = mayCallInParallel === undefined ? undefined : !mayCallInParallel;
  if (choice === undefined) return disable_parallel_tool_use === true ? { type: 'auto', disable_parallel_tool_use } : undefined;
  if (choice.kind === 'none') return { type: 'none' };
  if (choice.kind === 'tool') return compact({ type: 'tool', name: choice.name, disable_parallel_tool_use });
  if (choice.kind === 'some') losses.note('A choice among some of the tools');
  const mode = choice.kind === 'some' ? choice.mode : choice.kind;
  return compact({ type: mode === 'required' ? 'any' : 'auto', disable_parallel_tool_use });
}

function writeThinking(wish: ReasoningWish | undefined): JsonObject | undefined {
  if (wish?.effort === 'none') return { type: 'disabled' };
  return wish?.maxTokens === undefined ? undefined : { type: 'enabled', budget_tokens: wish.maxTokens };
}

function writeOutput(
  { reasoning, responseShape: shape }: ConversationRequest,
  own: JsonObject,
  losses: Losses,
): JsonObject | undefined {
  if (shape?.kind === 'json') losses.note('JSON without a schema');
  const effort = reasoning?.effort === 'none' ? undefined : reasoning?.effort === 'minimal' ? 'low' : reasoning?.effort;
  const schema = shape?.kind === 'json-schema' ? { type: 'json_schema', schema: shape.schema } : undefined;
  return nonEmpty({ ...own, effort: effort ?? own.effort, format: schema ?? own.format });
}
