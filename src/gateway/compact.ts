import { randomUUID } from 'node:crypto';
import { isObject } from '../config/json-object.ts';
import { collectAnswer } from '../conversation/collect-answer.ts';
import { type JsonObject, type Message, type Part, textOf } from '../conversation/conversation.ts';
import type { ConversationRequest } from '../conversation/request.ts';
import type { AskedBy, Upstreams } from '../models/upstream.ts';
import { writeResponsesUsage } from '../models/wire/openai-responses/answer.ts';
import { wireFormats } from '../models/wire/wire-formats.ts';
import { replyFailure, replyJson } from './answer-client.ts';
import type { GatewayReply } from './gateway-types.ts';

const mark = 'hotcell.';
const format = 'openai-responses';

const task = `Sum up the conversation so far, so that whoever goes on needs nothing else of it: what is wanted, what was decided and
done, results of tools that still matter (with names, numbers and paths as they are), and what is open. Answer with the summary alone.`;

/** Answers `POST /v1/responses/compact`: what the person said stays, the rest becomes one item that later requests bring along. */
export async function compactConversation(
  upstreams: Upstreams,
  request: ConversationRequest,
  by: AskedBy,
): Promise<GatewayReply> {
  const { model, system, messages } = request;
  const asked: ConversationRequest = {
    model,
    system,
    messages: [...messages, { role: 'user', parts: [{ type: 'text', text: task }] }],
    tools: request.tools,
    nativeTools: [],
    toolChoice: { kind: 'none' },
    sampling: {},
    isStreamed: false,
  };
  const { parts, usage, failure } = await collectAnswer(upstreams.ask(asked, by).events);
  if (failure !== undefined) return replyFailure(wireFormats[format], failure);
  const summary = textOf(parts);
  const said = messages.filter(({ role }) => role === 'user');
  const body = wireFormats[format].writeRequest({ ...asked, messages: said }).value;
  const encrypted_content = `${mark}${Buffer.from(summary).toString('base64url')}`;
  const id = randomUUID().replaceAll('-', '');
  const output = [...(Array.isArray(body.input) ? body.input : []), { type: 'compaction', id: `cmp_${id}`, encrypted_content }];
  const value = {
    id: `resp_${id}`,
    object: 'response.compaction',
    created_at: Math.floor(Date.now() / 1000),
    output,
    usage: writeResponsesUsage(usage ?? { inputTokens: 0, outputTokens: 0 }),
  };
  return replyJson(value);
}

/** A conversation with the summaries that such items hold; those of providers stay as they are. */
export function openCompactions(request: ConversationRequest): ConversationRequest {
  const isOurs = (part: Part): boolean => part.type === 'native' && readSummary(part.value) !== undefined;
  if (!request.messages.some(({ parts }) => parts.some(isOurs))) return request;
  const messages = request.messages.flatMap((message): Message[] => {
    const summaries = message.parts.flatMap((part) => (part.type === 'native' ? (readSummary(part.value) ?? []) : []));
    if (summaries.length === 0) return [message];
    const text = `What happened so far:\n\n${summaries.join('\n\n')}`;
    const rest = message.parts.filter((part) => !isOurs(part));
    return [{ role: 'user', parts: [{ type: 'text', text }] }, ...(rest.length === 0 ? [] : [{ ...message, parts: rest }])];
  });
  return { ...request, messages };
}

function readSummary(item: JsonObject): string | undefined {
  const { type, encrypted_content: content } = item;
  if (!isObject(item) || type !== 'compaction' || typeof content !== 'string' || !content.startsWith(mark)) return undefined;
  return Buffer.from(content.slice(mark.length), 'base64url').toString('utf8');
}
