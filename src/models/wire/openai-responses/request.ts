import { omitUndefined } from '../../../config/json-object.ts';
import { type JsonObject, keep, keptOf, type Message, type Part } from '../../../conversation/conversation.ts';
import type { ConversationRequest, ResponseShape, ToolChoice, ToolDeclaration } from '../../../conversation/request.ts';
import {
  compact,
  describeWrong,
  flagIn,
  nonEmpty,
  numberIn,
  objectIn,
  objectsIn,
  onlyText,
  requireObject,
  requireObjects,
  textIn,
} from '../json-fields.ts';
import { readShape, writeShape } from '../openai-shapes.ts';
import { writeEach } from '../parts.ts';
import { fitForProvider } from '../provider-request.ts';
import { freeTextSchema, writeNativeTools } from '../tool-declarations.ts';
import type { Written } from '../wire-format.ts';
import { createLosses, type Losses } from '../writing.ts';
import { readResponsesContent, writeContentPart } from './content.ts';
import { readOutputItem, writeOutputItems, writeResultItem } from './items.ts';

const format = 'openai-responses';

/** Reads the body of `POST /responses`. */
export function readResponsesRequest(given: unknown): ConversationRequest {
  const body = requireObject(given, 'body');
  const { model, input, instructions, tools, tool_choice, parallel_tool_calls, temperature, top_p, ...others } = body;
  const { text, max_output_tokens, metadata, user, stream, previous_response_id, ...rest } = others;
  if (typeof model !== 'string') throw describeWrong('model', 'a text', model);
  const { format: shape, ...aboutText } = objectIn(text);
  const { effort, summary } = objectIn(rest.reasoning);
  const wish = omitUndefined({ effort: textIn(effort), isShown: typeof summary === 'string' ? true : undefined });
  const choice = readChoice(tool_choice);
  const declared = objectsIn(tools);
  const isDeclaration = ({ type }: JsonObject) => type === 'function' || type === 'custom';
  const unread = compact({
    ...rest,
    text: nonEmpty(compact({ ...aboutText, format: readShape(objectIn(shape).type, shape) === undefined ? shape : undefined })),
    tool_choice: choice === undefined ? (tool_choice ?? undefined) : undefined,
  });
  return {
    model,
    system: typeof instructions === 'string' && instructions !== '' ? [{ type: 'text', text: instructions }] : [],
    messages: readInput(input),
    tools: declared.filter(isDeclaration).map(readTool),
    nativeTools: declared.filter((tool) => !isDeclaration(tool)).map((value) => ({ format, value })),
    sampling: omitUndefined({ temperature: numberIn(temperature), topP: numberIn(top_p) }),
    isStreamed: stream === true,
    ...omitUndefined({
      toolChoice: choice,
      mayCallInParallel: flagIn(parallel_tool_calls),
      responseShape: readShape(objectIn(shape).type, shape),
      reasoning: Object.keys(wish).length === 0 ? undefined : wish,
      maxTokens: numberIn(max_output_tokens),
      metadata: metadata === undefined || metadata === null ? undefined : objectIn(metadata),
      endUser: textIn(user),
      previousAnswerId: textIn(previous_response_id),
    }),
    ...keep(format, unread),
  };
}

function readInput(input: unknown): Message[] {
  if (typeof input === 'string') return [{ role: 'user', parts: [{ type: 'text', text: input }] }];
  const messages: (Omit<Message, 'parts'> & { parts: Part[] })[] = [];
  let lastAssistant: Part[] | undefined;
  if (input === undefined || input === null) return messages;
  for (const [position, item] of requireObjects(input, 'input').entries()) {
    const message = readInputItem(item, `input[${position}]`);
    if (message.role === 'assistant' && lastAssistant !== undefined) {
      lastAssistant.push(...message.parts);
      continue;
    }
    const parts = [...message.parts];
    messages.push({ ...message, parts });
    lastAssistant = message.role === 'assistant' ? parts : undefined;
  }
  return messages;
}

/** What the assistant made is one message as long as nobody else speaks. */
function readInputItem(item: JsonObject, where: string): Message {
  const { type, role, content, ...fields } = item;
  if (type === 'function_call_output' || type === 'custom_tool_call_output') {
    const { call_id, output, ...rest } = fields;
    const about = { callId: textIn(call_id) ?? '', content: readResponsesContent(output, `${where}.output`), isError: false };
    const isFreeText = type === 'custom_tool_call_output';
    return { role: 'tool', parts: [{ type: 'tool-result', ...about, ...(isFreeText && { isFreeText }), ...keep(format, rest) }] };
  }
  if (type !== undefined && type !== 'message') return { role: 'assistant', parts: readOutputItem(item) };
  if (role === 'assistant') return { role, parts: readOutputItem({ ...item, type: 'message' }) };
  if (role !== 'user' && role !== 'system' && role !== 'developer') {
    throw describeWrong(`${where}.role`, 'user, assistant, system or developer', role);
  }
  const parts = readResponsesContent(content, `${where}.content`);
  if (role === 'developer') return { role: 'system', parts, ...keep(format, { role, ...fields }) };
  return { role, parts, ...keep(format, fields) };
}

function readTool({ type, name, description, parameters, strict, ...rest }: JsonObject): ToolDeclaration {
  const isFreeText = type === 'custom';
  return {
    name: textIn(name) ?? '',
    parameters: isFreeText ? freeTextSchema : objectIn(parameters),
    ...(isFreeText && { isFreeText }),
    ...omitUndefined({ description: textIn(description), isStrict: flagIn(strict) }),
    // A tool that does not say so is strict by default there, and is not in other formats.
    ...keep(format, typeof strict === 'boolean' || isFreeText ? rest : { strict, ...rest }),
  };
}

function readChoice(choice: unknown): ToolChoice | undefined {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { kind: choice };
  const { type, name, mode, tools } = objectIn(choice);
  if (type === 'allowed_tools') {
    const names = objectsIn(tools).map((tool) => textIn(tool.name));
    // One of the provider's own tools has no name; then the choice is kept as it is.
    if (names.includes(undefined)) return undefined;
    return { kind: 'some', names: names.flatMap((one) => one ?? []), mode: mode === 'required' ? 'required' : 'auto' };
  }
  return (type === 'function' || type === 'custom') && typeof name === 'string' ? { kind: 'tool', name } : undefined;
}

/** Writes a request for `POST /responses`. */
export function writeResponsesRequest(asked: ConversationRequest): Written<JsonObject> {
  const request = fitForProvider(asked, { maxIdChars: 64, hasRanCalls: true });
  const losses = createLosses(format);
  losses.noteKept(request, 'request');
  const { sampling, system } = request;
  for (const name of ['topK', 'seed', 'frequencyPenalty', 'presencePenalty', 'stopSequences'] as const) {
    if (sampling[name] !== undefined) losses.note(name);
  }
  if (request.reasoning?.maxTokens !== undefined) losses.note('A number of tokens for reasoning');
  const tools = [...request.tools.map((tool) => writeTool(tool, losses)), ...writeNativeTools(request, losses)];
  for (const part of system) losses.noteKept(part, 'system');
  const { text, reasoning, ...rest } = keptOf(request, format);
  const body = compact({
    model: request.model,
    instructions: system.length === 0 ? undefined : system.map((part) => part.text).join('\n\n'),
    input: writeInput(request.messages, losses),
    tools: tools.length === 0 ? undefined : tools,
    tool_choice: writeResponsesChoice(request),
    parallel_tool_calls: request.mayCallInParallel,
    temperature: sampling.temperature,
    top_p: sampling.topP,
    max_output_tokens: request.maxTokens,
    text: writeText(request.responseShape, objectIn(text)),
    reasoning: writeReasoning(request, objectIn(reasoning)),
    metadata: request.metadata,
    user: request.endUser,
    previous_response_id: request.previousAnswerId,
    stream: request.isStreamed || undefined,
    ...rest,
  });
  return { value: body, warnings: losses.list };
}

/** Writes messages as items. */
function writeInput(messages: readonly Message[], losses: Losses): JsonObject[] {
  let count = 0;
  const idOf = (prefix: string) => `${prefix}_${count++}`;
  return messages.flatMap((message) => {
    losses.noteKept(message, 'message');
    const { role, parts } = message;
    if (role === 'tool') return writeEach(parts, (part) => writeResultItem(part, losses));
    if (role === 'assistant')
      return writeOutputItems(
        parts.filter((part) => isOurs(part, losses)),
        idOf,
        losses,
      );
    const content = writeEach(parts, (part) => writeContentPart(part, false, losses));
    return [{ type: 'message', role, content: onlyText(content) ?? content, ...keptOf(message, format) }];
  });
}

/** The provider takes back only reasoning that it made itself. */
function isOurs(part: Part, losses: Losses): boolean {
  if (part.type !== 'reasoning') return true;
  // An item may come back under an id of this format with the seal of another: the seal says who made it.
  const isOwn = part.sealed === undefined ? keptOf(part, format).id !== undefined : part.sealed.format === format;
  if (isOwn) return true;
  losses.note('Reasoning that another provider made');
  return false;
}

function writeTool(tool: ToolDeclaration, losses: Losses): JsonObject {
  losses.noteKept(tool, 'tool');
  const { description, parameters, isStrict: strict } = tool;
  const { name } = tool;
  if (tool.isFreeText === true) return compact({ type: 'custom', name, description, ...keptOf(tool, format) });
  return compact({ type: 'function', name, description, parameters, strict: strict ?? false, ...keptOf(tool, format) });
}

/** Writes the choice of tools, in requests and in answers. */
export function writeResponsesChoice({ toolChoice: choice, tools }: ConversationRequest): unknown {
  if (choice === undefined) return undefined;
  const refer = (name: string): JsonObject => {
    const isFreeText = tools.some((tool) => tool.name === name && tool.isFreeText === true);
    return { type: isFreeText ? 'custom' : 'function', name: name };
  };
  if (choice.kind === 'tool') return refer(choice.name);
  return choice.kind === 'some' ? { type: 'allowed_tools', mode: choice.mode, tools: choice.names.map(refer) } : choice.kind;
}

function writeText(shape: ResponseShape | undefined, own: JsonObject): JsonObject | undefined {
  if (shape === undefined) return nonEmpty(own);
  return { ...own, format: writeResponsesShape(shape) };
}

/** Writes the shape that an answer is to have. */
export function writeResponsesShape(shape: ResponseShape): JsonObject {
  const { type, about } = writeShape(shape);
  return { type, ...about };
}

function writeReasoning({ reasoning: wish, kept }: ConversationRequest, own: JsonObject): JsonObject | undefined {
  const summary = wish?.isShown === true && kept?.[format] === undefined ? 'auto' : undefined;
  return nonEmpty({ summary, ...own, effort: wish?.effort });
}
