import {
  type CreateMessageRequestParams,
  type CreateMessageResult,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/client';
import type { AnswerStop } from '../../conversation/answer.ts';
import type { AudioPart, ImagePart, TextPart } from '../../conversation/conversation.ts';
import type { ConversationRequest } from '../../conversation/request.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { cleanUntrustedText } from '../../permissions/untrusted-text.ts';
import type { HostedCall } from '../../tools/hosted/hosted-types.ts';

/** Asks a model for the caller of a call, out of its budget. Rejects with a HotcellError. */
export type AskModelForCall = (
  request: ConversationRequest,
  call: Pick<HostedCall, 'user' | 'signal'>,
) => Promise<{ readonly text: string; readonly model: string; readonly stop: AnswerStop['kind'] }>;

const maxRequestsOfCall = 25;
const maxRunning = 4;
const maxRequestChars = 2_000_000;
const maxAnswerTokens = 8192;

/** Creates the answers to one server; `allowed` is `mcp.servers.NAME.sampling`. */
export function createServerSampling(server: string, allowed: boolean | string | undefined, askModel: AskModelForCall) {
  const requestsByCall = new WeakMap<HostedCall, number>();
  const isAllowed = allowed === true || typeof allowed === 'string';
  let running = 0;

  function requireTurn(call: HostedCall | undefined): HostedCall {
    if (!isAllowed) {
      const how = `set mcp.servers.${server}.sampling to true, or to the name of a model`;
      throw new ProtocolError(
        ProtocolErrorCode.MethodNotFound,
        `No model answers this server. Who runs Hotcell may allow it: ${how}.`,
      );
    }
    if (call === undefined) throw refuse('A model is asked for one call that runs, and it is not clear which one this is for.');
    const before = requestsByCall.get(call) ?? 0;
    if (before >= maxRequestsOfCall) throw refuse(`One call may ask a model ${maxRequestsOfCall} times.`);
    if (running >= maxRunning) throw refuse(`A server may ask a model ${maxRunning} times at once: wait for an answer.`);
    requestsByCall.set(call, before + 1);
    return call;
  }

  return {
    /** The operator lets it ask. */
    isAllowed,
    /** Rejects with a ProtocolError, whose message the server reads. `call` is undefined where nobody knows for which one it asks. */
    async answer(
      params: CreateMessageRequestParams,
      asking: HostedCall | undefined,
      signal: AbortSignal,
    ): Promise<CreateMessageResult> {
      const call = requireTurn(asking);
      const request = readRequest(params, typeof allowed === 'string' ? allowed : '');
      call.user.noteUse('llm', 'sampling', true);
      running++;
      try {
        const either = AbortSignal.any([call.signal, signal]);
        const { text, model, stop } = await askModel(request, { user: call.user, signal: either });
        return { role: 'assistant', content: { type: 'text', text }, model, stopReason: stopReasons[stop] ?? stop };
      } catch (error) {
        if (!(error instanceof HotcellError)) throw error;
        // Of providers and budgets the server learns nothing; whoever reads the log of the call does.
        call.onOutput('stderr', Buffer.from(`${cleanUntrustedText(`The model did not answer: ${error.message}`, 2000)}\n`));
        throw new ProtocolError(ProtocolErrorCode.InternalError, `The model did not answer (${error.code}).`);
      } finally {
        running--;
      }
    },
  };
}

const stopReasons: Readonly<Partial<Record<AnswerStop['kind'], string>>> = {
  end: 'endTurn',
  'stop-sequence': 'stopSequence',
  'max-tokens': 'maxTokens',
};

/** Which model answers is the operator's choice: what the server would like, and context of other servers, count for nothing. */
function readRequest(params: CreateMessageRequestParams, model: string): ConversationRequest {
  const { systemPrompt, temperature, stopSequences, maxTokens, messages } = params;
  if (params.tools !== undefined || params.toolChoice !== undefined) throw refuse('A model is asked without tools.');
  if (JSON.stringify([systemPrompt, messages]).length > maxRequestChars)
    throw refuse(`A model is asked with at most ${maxRequestChars} characters.`);
  return {
    model,
    system: systemPrompt === undefined ? [] : [{ type: 'text', text: systemPrompt }],
    messages: messages.map(({ role, content }) => ({
      role,
      parts: (Array.isArray(content) ? content : [content]).map(readPart),
    })),
    tools: [],
    nativeTools: [],
    sampling: {
      ...(temperature === undefined ? {} : { temperature }),
      ...(stopSequences === undefined ? {} : { stopSequences }),
    },
    maxTokens: Math.max(1, Math.min(maxTokens, maxAnswerTokens)),
    isStreamed: false,
  };
}

type Content = CreateMessageRequestParams['messages'][number]['content'];

function readPart(block: Exclude<Content, readonly unknown[]>): TextPart | ImagePart | AudioPart {
  if (block.type === 'text') return { type: 'text', text: block.text };
  if (block.type !== 'image' && block.type !== 'audio') throw refuse('A model is asked with texts, images and sounds.');
  return { type: block.type, source: { kind: 'data', mediaType: block.mimeType, data: block.data } };
}

function refuse(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
