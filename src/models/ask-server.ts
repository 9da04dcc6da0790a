import type { TextRequest, TextResult } from '../capabilities/llm.ts';
import type { AnswerStop, ConversationAnswer } from '../conversation/answer.ts';
import type { ConversationRequest, ResponseShape } from '../conversation/request.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import { explainModelFailure, type FailedRequest } from './explain-failure.ts';
import { createModelFetch } from './model-fetch.ts';
import type { WireFormat } from './wire/wire-format.ts';

/** One model server that speaks the OpenAI wire format. */
export interface ModelServer extends FailedRequest {
  readonly baseUrl: string;
  readonly timeoutMs: number;
}

const maxAnswerBytes = 8 * 1024 * 1024;

/** Asks once, without trying again. Does not reject. The wire format is loaded with the first request, not at the start. */
export async function askServer(server: ModelServer, request: TextRequest, signal: AbortSignal): Promise<TextResult> {
  const { openaiChat } = await import('./wire/openai-chat/openai-chat.ts');
  let isSent = false;
  let status: number | undefined;
  const onSent = (): void => {
    isSent = true;
  };
  const timeout = AbortSignal.timeout(server.timeoutMs);
  const baseUrl = server.baseUrl.replace(/\/+$/, '');
  const send = createModelFetch({ baseUrl, maxBytes: maxAnswerBytes, onSent });
  try {
    const { path, body } = openaiChat.writeRequest(toConversation(server.model, request)).value;
    const response = await send(`${baseUrl}${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(server.key === undefined ? {} : { authorization: `Bearer ${server.key}` }),
      },
      body: JSON.stringify(body),
      signal: AbortSignal.any([signal, timeout]),
    });
    status = response.status;
    const text = await response.text();
    if (!response.ok) {
      const failure = openaiChat.readFailure(response.status, response.headers, text);
      return { ok: false, error: explainModelFailure(failure, server), isBilled: false };
    }
    const answer = readAnswer(text, openaiChat);
    return answer === undefined ? { ok: false, error: explainFormat(server), isBilled: true } : toResult(answer, server.model);
  } catch (error) {
    // A server that was cut off, or that sent nonsense, may have counted tokens all the same.
    const isBilled = isSent && (signal.aborted || timeout.aborted || status !== undefined);
    if (signal.aborted)
      return { ok: false, error: new HotcellError('cancelled', 'The call ended before the model answered.'), isBilled };
    if (timeout.aborted) return { ok: false, error: explainTimeout(server), isBilled };
    return { ok: false, error: explainOther(error, server), isBilled };
  }
}

function toConversation(model: string, { system, messages, maxTokens, temperature, json }: TextRequest): ConversationRequest {
  return {
    model,
    system: system === undefined ? [] : [{ type: 'text', text: system }],
    messages: messages.map(({ role, content }) => ({ role, parts: [{ type: 'text', text: content }] })),
    tools: [],
    nativeTools: [],
    sampling: temperature === undefined ? {} : { temperature },
    maxTokens,
    isStreamed: false,
    ...(json === undefined ? {} : { responseShape: shapeOf(json) }),
  };
}

function shapeOf(json: NonNullable<TextRequest['json']>): ResponseShape {
  return typeof json === 'object' ? { kind: 'json-schema', schema: json } : { kind: 'json' };
}

/** Undefined for what is no answer that came to an end. */
function readAnswer(text: string, format: WireFormat): ConversationAnswer | undefined {
  try {
    const answer = format.readAnswer(JSON.parse(text));
    return answer.stop.kind === 'interrupted' ? undefined : answer;
  } catch {
    return undefined;
  }
}

/** The words in which plugins are told why an answer ended. */
const finishReasons: Readonly<Partial<Record<AnswerStop['kind'], string>>> = {
  end: 'stop',
  'stop-sequence': 'stop',
  'max-tokens': 'length',
  'content-filter': 'content-filter',
  refusal: 'content-filter',
  'tool-calls': 'tool-calls',
};

/** A server that does not tell what it used has used what was set aside. */
function toResult({ parts, stop, usage }: ConversationAnswer, model: string): TextResult {
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const counted = usage === undefined ? {} : { usage: { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens } };
  return { ok: true, text, model, finishReason: finishReasons[stop.kind] ?? 'other', ...counted };
}

function explainTimeout({ name, timeoutMs }: ModelServer): HotcellError {
  return new HotcellError('time-exceeded', `The model "${name}" did not answer within ${timeoutMs} ms.`, {
    fix: 'Ask for less, or raise models.timeoutMs in the config.',
  });
}

function explainFormat({ name }: ModelServer): HotcellError {
  return new HotcellError('model-failed', `The server of the model "${name}" answered, but not in the OpenAI wire format.`, {
    fix: `Check models.providers.${name}.baseUrl: it usually ends in /v1.`,
  });
}

function explainOther(error: unknown, { name, baseUrl }: ModelServer): HotcellError {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof HotcellError) return cause;
  return new HotcellError('model-failed', `The server of the model "${name}" cannot be reached.`, {
    cause: error,
    fix: `Check that the server under models.providers.${name}.baseUrl runs (${URL.parse(baseUrl)?.host ?? 'no host'}).`,
  });
}
