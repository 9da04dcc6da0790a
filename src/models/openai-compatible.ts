import type { TextRequest, TextResult } from '../capabilities/llm.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import { explainStatus, type FailedRequest } from './explain-failure.ts';
import { createModelFetch } from './model-fetch.ts';

/** One model server that speaks the OpenAI wire format. */
export interface ModelServer extends FailedRequest {
  readonly baseUrl: string;
  readonly timeoutMs: number;
}

const maxAnswerBytes = 8 * 1024 * 1024;

/** Asks once, without trying again. Does not reject. The libraries are loaded with the first request, not at the start. */
export async function askServer(server: ModelServer, request: TextRequest, signal: AbortSignal): Promise<TextResult> {
  const [{ generateText, APICallError }, { createOpenAICompatible }] = await Promise.all([
    import('ai'),
    import('@ai-sdk/openai-compatible'),
  ]);
  let isSent = false;
  const onSent = (): void => {
    isSent = true;
  };
  const timeout = AbortSignal.timeout(server.timeoutMs);
  const provider = createOpenAICompatible({
    name: 'hotcell',
    baseURL: server.baseUrl,
    ...(server.key === undefined ? {} : { apiKey: server.key }),
    fetch: createModelFetch({ baseUrl: server.baseUrl, maxBytes: maxAnswerBytes, onSent }),
    ...(request.json === undefined
      ? {}
      : { transformRequestBody: (body) => ({ ...body, response_format: formatOf(request.json) }) }),
  });
  try {
    const { text, finishReason, usage } = await generateText({
      model: provider.chatModel(server.model),
      ...(request.system === undefined ? {} : { instructions: request.system }),
      messages: request.messages.map(({ role, content }) => ({ role, content })),
      maxOutputTokens: request.maxTokens,
      ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
      maxRetries: 0,
      abortSignal: AbortSignal.any([signal, timeout]),
    });
    const counted = readUsage(usage);
    return { ok: true, text, model: server.model, finishReason, ...(counted === undefined ? {} : { usage: counted }) };
  } catch (error) {
    const wasCut = signal.aborted || timeout.aborted;
    const status = APICallError.isInstance(error) ? error.statusCode : undefined;
    const isRefused = status !== undefined && status >= 400;
    // A server that was cut off, or that sent nonsense, may have counted tokens all the same.
    const isBilled = isSent && !isRefused && (wasCut || status !== undefined);
    if (signal.aborted)
      return { ok: false, error: new HotcellError('cancelled', 'The call ended before the model answered.'), isBilled };
    if (timeout.aborted) return { ok: false, error: explainTimeout(server), isBilled };
    if (APICallError.isInstance(error) && isRefused) return { ok: false, error: explainStatus(error, status, server), isBilled };
    return { ok: false, error: explainOther(error, status, server), isBilled };
  }
}

function formatOf(json: TextRequest['json']): object {
  if (typeof json !== 'object') return { type: 'json_object' };
  return { type: 'json_schema', json_schema: { name: 'answer', schema: json } };
}

/** A server that does not tell what it used has used what was set aside. */
function readUsage({ inputTokens, outputTokens }: { inputTokens: number | undefined; outputTokens: number | undefined }) {
  if (inputTokens === undefined && outputTokens === undefined) return undefined;
  return { inputTokens: countOf(inputTokens), outputTokens: countOf(outputTokens) };
}

function countOf(tokens: number | undefined): number {
  return tokens !== undefined && Number.isSafeInteger(tokens) && tokens > 0 ? tokens : 0;
}

function explainTimeout({ name, timeoutMs }: ModelServer): HotcellError {
  return new HotcellError('time-exceeded', `The model "${name}" did not answer within ${timeoutMs} ms.`, {
    fix: 'Ask for less, or raise models.timeoutMs in the config.',
  });
}

function explainOther(error: unknown, status: number | undefined, { name, baseUrl }: ModelServer): HotcellError {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof HotcellError) return cause;
  if (status !== undefined) {
    return new HotcellError('model-failed', `The server of the model "${name}" answered, but not in the OpenAI wire format.`, {
      cause: error,
      fix: `Check models.providers.${name}.baseUrl: it usually ends in /v1.`,
    });
  }
  return new HotcellError('model-failed', `The server of the model "${name}" cannot be reached.`, {
    cause: error,
    fix: `Check that the server under models.providers.${name}.baseUrl runs (${URL.parse(baseUrl)?.host ?? 'no host'}).`,
  });
}
