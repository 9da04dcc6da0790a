import {
  type JsonObject,
  keep,
  keptOf,
  type Message,
  type Part,
  type ReasoningPart,
  type ToolCallPart,
} from '../../../conversation/conversation.ts';
import type { ConversationRequest } from '../../../conversation/request.ts';
import { freeTextArguments, readToolArguments } from '../../../conversation/tool-arguments.ts';
import { compact, describeWrong, objectIn, objectsIn, textIn } from '../json-fields.ts';
import { argumentsText } from '../openai-shapes.ts';
import { type ReadName, readCallPart, sealAs, shownReasoning, unseal } from '../parts.ts';
import type { Losses } from '../writing.ts';
import { readChatContent, writeChatContent } from './content.ts';

const format = 'openai-chat';

/** Reads messages; functions of the time before tools become calls with ids. */
export function readChatMessages(messages: readonly JsonObject[]): Message[] {
  let functionId = '';
  return messages.map((message, position): Message => {
    const where = `messages[${position}]`;
    const { role, content, ...fields } = message;
    switch (role) {
      case 'system':
      case 'developer': {
        const parts = readChatContent(content, `${where}.content`);
        return { role: 'system', parts, ...keep(format, role === 'system' ? fields : { role, ...fields }) };
      }
      case 'user':
        return { role, parts: readChatContent(content, `${where}.content`), ...keep(format, fields) };
      case 'assistant':
        if (Object.keys(objectIn(fields.function_call)).length > 0) functionId = `function_${position}`;
        return readAssistant(message, where, functionId);
      case 'tool':
      case 'function': {
        const { tool_call_id, name, ...rest } = fields;
        const callId = role === 'tool' ? (textIn(tool_call_id) ?? '') : functionId;
        const parts = readChatContent(content, `${where}.content`);
        const named = typeof name === 'string' ? { name } : {};
        return {
          role: 'tool',
          parts: [{ type: 'tool-result', callId, ...named, content: parts, isError: false, ...keep(format, rest) }],
        };
      }
      default:
        throw describeWrong(`${where}.role`, 'system, developer, user, assistant or tool', role);
    }
  });
}

function readAssistant(message: JsonObject, where: string, functionId: string): Message {
  const { role, content, refusal, tool_calls, function_call, reasoning_content, reasoning, audio, ...rest } = message;
  const { id: audioId } = objectIn(audio);
  return {
    role: 'assistant',
    parts: [
      ...readThought(reasoning_content, reasoning),
      ...readChatContent(content, `${where}.content`),
      ...(typeof refusal === 'string' && refusal !== '' ? [{ type: 'refusal' as const, text: refusal }] : []),
      ...(typeof audioId === 'string' ? [{ type: 'audio' as const, source: { kind: 'id' as const, id: audioId, format } }] : []),
      ...objectsIn(tool_calls).map((call) => readChatCall(call)),
      ...objectsIn([function_call]).map((call) => readChatCall({ id: functionId, function: call })),
    ],
    ...keep(format, rest),
  };
}

/** Reasoning has one of two names, by server; it is written with the same again. */
export function markField(isOther: boolean) {
  return isOther ? keep(format, { item: 'reasoning' }) : {};
}

/** What was thought, in the field of either name. */
export function readThought(content: unknown, other: unknown): ReasoningPart[] {
  const text = textIn(content) ?? textIn(other) ?? '';
  return text === '' ? [] : [{ type: 'reasoning', text, ...markField(content === undefined) }];
}

/** Reads one entry of `tool_calls`. */
export function readChatCall(call: JsonObject, readName?: ReadName, isCut = false): ToolCallPart {
  const { id, type, function: called, custom, extra_content, index, ...rest } = call;
  const isFreeText = type === 'custom' || (called === undefined && custom !== undefined);
  const about = objectIn(isFreeText ? custom : called);
  const given = isFreeText
    ? freeTextArguments(textIn(about.input) ?? '')
    : readToolArguments(argumentsText(about.arguments), { isCut });
  const sealed = readCallSeal(extra_content);
  const others = extra_content === undefined || sealed !== undefined ? rest : { extra_content, ...rest };
  return readCallPart(format, { id, name: about.name, given, isFreeText, sealed, rest: others }, readName);
}

/** Where Google's servers with this format put the signature of a call. */
export function readCallSeal(extra: unknown) {
  return unseal('gemini', objectIn(objectIn(extra).google).thought_signature);
}

/** Writes one entry of `tool_calls`. */
export function writeChatCall(call: ToolCallPart, losses: Losses): JsonObject {
  losses.noteKept(call, 'tool-call');
  const seal = sealAs('gemini', call.sealed);
  const { name, arguments: given } = call;
  const about =
    call.isFreeText === true
      ? { type: 'custom', custom: { name, input: given.text } }
      : { type: 'function', function: { name, arguments: given.text } };
  return compact({
    id: call.id,
    ...about,
    extra_content: seal === undefined ? undefined : { google: { thought_signature: seal } },
    ...keptOf(call, format),
  });
}

/** Writes what was said so far. Images in results follow in a message of the user, since results are texts here. */
export function writeChatMessages({ system, messages }: ConversationRequest, losses: Losses): JsonObject[] {
  const written: JsonObject[] = system.length === 0 ? [] : [{ role: 'system', content: writeChatContent(system, losses) }];
  let shown: Part[] = [];
  const flush = () => {
    if (shown.length > 0) written.push({ role: 'user', content: writeChatContent(shown, losses) });
    shown = [];
  };
  for (const message of messages) {
    losses.noteKept(message, 'message');
    if (message.role !== 'tool') flush();
    if (message.role === 'assistant') written.push(...writeAssistant(message, losses));
    else if (message.role === 'tool') {
      for (const part of message.parts) shown.push(...writeResult(part, written, losses));
    } else written.push({ role: message.role, content: writeChatContent(message.parts, losses), ...keptOf(message, format) });
  }
  flush();
  return written;
}

function writeResult(part: Part, written: JsonObject[], losses: Losses): Part[] {
  if (part.type !== 'tool-result') {
    losses.note(`A part ${part.type} among results`);
    return [];
  }
  losses.noteKept(part, 'tool-result');
  const isText = ({ type }: Part) => type === 'text' || type === 'refusal' || type === 'native';
  const shown = part.content.filter((one) => !isText(one));
  const texts = part.content.filter(isText);
  const tool_call_id = part.callId;
  const hint: Part[] =
    shown.length > 0 && texts.length === 0 ? [{ type: 'text', text: 'The result follows in the next message.' }] : [];
  written.push({ role: 'tool', tool_call_id, content: writeChatContent([...texts, ...hint], losses), ...keptOf(part, format) });
  if (part.isError) losses.note('That a result is an error (its text still says so)');
  return shown;
}

/** A message of which nothing is left would be refused. */
function writeAssistant(message: Message, losses: Losses): JsonObject[] {
  const { content, ...others } = writeAssistantParts(message.parts, losses);
  const isLost = content === null && message.parts.length > 0 && Object.keys(others).length === 0;
  return isLost ? [] : [{ role: 'assistant', content, ...others, ...keptOf(message, format) }];
}

/** The fields of an assistant's message, in requests and in answers. */
export function writeAssistantParts(parts: readonly Part[], losses: Losses): JsonObject {
  const reasoning = parts.filter((part) => part.type === 'reasoning');
  const refusals = parts.filter((part) => part.type === 'refusal');
  const calls = parts.filter((part) => part.type === 'tool-call');
  const audio = parts.find((part) => part.type === 'audio');
  const shown = parts.filter(({ type }) => type === 'text' || type === 'native');
  for (const part of parts) noteLost(part, losses);
  const thought = reasoning.map(shownReasoning).join('\n\n');
  const content = writeChatContent(shown, losses);
  const isNamedOtherwise = reasoning.some((part) => keptOf(part, format).item === 'reasoning');
  return compact({
    content: content === '' ? null : joinTexts(content),
    refusal: refusals.length === 0 ? undefined : refusals.map(({ text }) => text).join('\n\n'),
    [isNamedOtherwise ? 'reasoning' : 'reasoning_content']: thought === '' ? undefined : thought,
    tool_calls: calls.length === 0 ? undefined : calls.map((call) => writeChatCall(call, losses)),
    audio: audio === undefined ? undefined : writeAudio(audio, losses),
  });
}

function noteLost(part: Part, losses: Losses): void {
  if (part.type === 'reasoning' && part.sealed !== undefined) losses.note('The signature of reasoning');
  if (part.type === 'text' && part.phase !== undefined) losses.note(`The phase "${part.phase}" of a text`);
  if (part.type === 'text' && part.sealed !== undefined) losses.note('The signature of a text');
  if (part.type === 'ran-call') losses.note('A call that was run on the way');
  if (part.type === 'image' || part.type === 'file') losses.note(`A part ${part.type} of the assistant`);
}

function writeAudio(part: Extract<Part, { type: 'audio' }>, losses: Losses): JsonObject | undefined {
  losses.noteKept(part, 'audio');
  if (part.source.kind === 'id') return { id: part.source.id, ...keptOf(part, format) };
  if (part.source.kind === 'url') return losses.note('Audio by its URL');
  return { data: part.source.data, transcript: part.transcript ?? '', ...keptOf(part, format) };
}

/** Clients of this format expect one text. */
function joinTexts(content: string | JsonObject[]): unknown {
  if (typeof content === 'string') return content;
  const isPlain = content.every((part) => part.type === 'text' && Object.keys(part).length === 2);
  return isPlain ? content.map(({ text }) => text).join('') : content;
}
