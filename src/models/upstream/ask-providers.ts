import { setTimeout as sleep } from 'node:timers/promises';
import type { FormData } from 'undici';
import type { ModelFailure, RateLimit, StreamEvent, TokenUsage } from '../../conversation/answer.ts';
import { eventsOfAnswer } from '../../conversation/collect-answer.ts';
import type { ConversationRequest } from '../../conversation/request.ts';
import type {
  AsIsAnswer,
  AsIsRequest,
  AskedBy,
  UpstreamMeter,
  UpstreamReservation,
  UpstreamTarget,
  UpstreamUse,
} from '../upstream.ts';
import { failureOfError, malformedCode, readFailure, readRateLimits } from '../wire/failures.ts';
import type { WireFormat } from '../wire/wire-format.ts';
import { wireFormats } from '../wire/wire-formats.ts';
import { decideAfterFailure } from './after-failure.ts';
import { passOn } from './as-is-answer.ts';
import {
  brokenOff,
  explainLostAnswer,
  maxAnswerBytes,
  readBody,
  toHeaders,
  tooLong,
  type UpstreamHttp,
  type UpstreamResponse,
} from './http.ts';

/** What upstreams are made of. */
export interface UpstreamParts {
  /** Who may be asked for a model, in order. Rejects where nobody is, with near names. */
  readonly resolve: (model: string, by: AskedBy) => Promise<readonly UpstreamTarget[]>;
  /** The value of the key of a target. Throws where it should have one and there is none. */
  readonly readKey: (target: UpstreamTarget) => string | undefined;
  readonly meter: UpstreamMeter;
  readonly http: UpstreamHttp;
}

/** What is heard of an answer beside its events. */
export interface Heard {
  target: UpstreamTarget | undefined;
  isBilled: boolean;
  rateLimits: readonly RateLimit[];
  warnings: readonly string[];
}

/** What asks providers. */
export type ProviderAsker = ReturnType<typeof createProviderAsker>;

/** What a provider answered at all, or why it did not. */
type Attempt<Value> = { readonly value: Value } | { readonly failure: ModelFailure };

/** What is sent, in the words of the provider. */
interface Sent {
  readonly path: string;
  readonly body: (maxTokens?: number, isPlain?: boolean) => string | FormData;
  readonly headers: Readonly<Record<string, string>>;
  readonly read: () => ConversationRequest;
  readonly isBounded: boolean;
  readonly isFree?: boolean | undefined;
}

const unmetered: UpstreamReservation = { settle: () => {} };

interface Posted {
  readonly response: UpstreamResponse;
  readonly settle: (use: Omit<UpstreamUse, 'target' | 'latencyMs'>) => void;
}

const maxFailureBytes = 64 * 1024;
const usageRefusal = /stream_options|include_usage/;

/** Creates what asks providers. */
export function createProviderAsker({ resolve, readKey, meter, http }: UpstreamParts) {
  /** Servers that refuse to be asked what an answer costs. */
  const plainAddresses = new Set<string>();

  /** Asks whoever has the model, one after the other, until somebody answers. Undefined where they do not suit. */
  async function tryTargets<Value>(
    { model, suits = () => true }: { readonly model: string; readonly suits?: (target: UpstreamTarget) => boolean },
    by: AskedBy,
    ask: (target: UpstreamTarget) => Promise<Attempt<Value>>,
  ): Promise<Attempt<Value> | undefined> {
    const targets = await resolve(model, by).catch(failureOfError);
    if ('kind' in targets) return { failure: targets };
    if (!targets.every(suits)) return undefined;
    let last: Attempt<Value> = { failure: nobody };
    for (const [position, target] of targets.entries()) {
      const hasNext = position < targets.length - 1;
      for (let failures = 1; ; failures += 1) {
        last = await ask(target);
        if (!('failure' in last)) return last;
        const { maxRetries } = target;
        const step = decideAfterFailure(last.failure, { failures, maxRetries, hasNext, random: Math.random() });
        if (step.do === 'stop') return last;
        if (step.do === 'next') break;
        await sleep(step.afterMs, undefined, { signal: by.signal });
      }
    }
    return last;
  }

  /** Sets the request aside and sends it. */
  async function post(target: UpstreamTarget, by: AskedBy, sent: Sent): Promise<Attempt<Posted>> {
    let reservation: UpstreamReservation;
    let key: string | undefined;
    const isPlain = plainAddresses.has(target.baseUrl);
    let body = sent.body(undefined, isPlain);
    try {
      key = readKey(target);
      reservation = sent.isFree === true ? unmetered : meter.reserve(sent.read, target, by);
    } catch (error) {
      return { failure: failureOfError(error) };
    }
    if (!sent.isBounded && reservation.maxTokens !== undefined) body = sent.body(reservation.maxTokens, isPlain);
    const beganAt = performance.now();
    const settle: Posted['settle'] = (use) => reservation.settle({ ...use, target, latencyMs: performance.now() - beganAt });
    try {
      const headers = { ...wireFormats[target.format].fixedHeaders, ...sent.headers };
      const response = await http.post(target, { path: sent.path, body, headers, key, signal: by.signal });
      const { status } = response;
      if (status >= 200 && status < 300) return { value: { response, settle } };
      settle({ status, usage: undefined, isBilled: false });
      const failure = await explainRefusal(target, response, key);
      if (isPlain || failure.kind !== 'invalid-request' || !usageRefusal.test(failure.message)) return { failure };
      plainAddresses.add(target.baseUrl);
      return await post(target, by, sent);
    } catch (error) {
      const failure = explainLostAnswer(error, target);
      // A server that fell silent, or was left, may have counted tokens all the same.
      const isBilled = by.signal.aborted || failure.kind === 'timeout';
      settle({ status: by.signal.aborted ? clientGone : failure.status, usage: undefined, isBilled });
      by.signal.throwIfAborted();
      return { failure };
    }
  }

  async function open(
    target: UpstreamTarget,
    request: ConversationRequest,
    by: AskedBy,
    heard: Heard,
  ): Promise<Attempt<{ first: StreamEvent; rest: AsyncGenerator<StreamEvent> }>> {
    const format = wireFormats[target.format];
    const write = (maxTokens = request.maxTokens) =>
      format.writeRequest({ ...request, model: target.model, ...(maxTokens !== undefined && { maxTokens }) });
    const { value: written, warnings } = write();
    const body = (bound?: number, isPlain = false) => {
      const whole = bound === undefined ? written : write(bound).value;
      return JSON.stringify(isPlain && format.usageOptions ? { ...whole, [format.usageOptions.field]: undefined } : whole);
    };
    const posted = await post(target, by, {
      path: format.pathOf(target.model, request.isStreamed),
      body,
      headers: {},
      read: () => request,
      isBounded: request.maxTokens !== undefined,
    });
    heard.target = target;
    // A server that fell silent may have counted tokens.
    heard.isBilled = !('failure' in posted) || posted.failure.kind === 'timeout';
    if ('failure' in posted) return posted;
    const { response, settle } = posted.value;
    heard.warnings = warnings;
    heard.rateLimits = readRateLimits(toHeaders(response.headers));
    const rest = settled(
      request.isStreamed ? readStream(format, request, response, target) : readWhole(format, request, response, target),
      response,
      settle,
    );
    try {
      const { value: first, done } = await rest.next();
      if (done === true) return { failure: explainLostAnswer(undefined, target) };
      return first.type === 'answer-failed' ? { failure: first.failure } : { value: { first, rest } };
    } catch (error) {
      by.signal.throwIfAborted();
      return { failure: explainLostAnswer(error, target) };
    }
  }

  return {
    async *ask(request: ConversationRequest, by: AskedBy, heard: Heard): AsyncIterable<StreamEvent> {
      const answer = await tryTargets(request, by, (target) => open(target, request, by, heard));
      if (answer === undefined || 'failure' in answer) {
        yield { type: 'answer-failed', failure: answer?.failure ?? nobody };
        return;
      }
      yield answer.value.first;
      yield* answer.value.rest;
    },
    async forward(request: AsIsRequest, by: AskedBy): Promise<AsIsAnswer | ModelFailure | undefined> {
      const { formats, headers, read, isBounded, isFree, isStreamed } = request;
      const suits = ({ format }: UpstreamTarget) => formats.includes(format);
      const answer = await tryTargets({ model: request.model, suits }, by, async (target) => {
        const { model } = target;
        const body = (bound?: number, isPlain?: boolean) => request.body(model, bound, isPlain);
        const posted = await post(target, by, { path: request.path(model), body, headers, read, isBounded, isFree });
        if ('failure' in posted) return posted;
        const { response, settle } = posted.value;
        const bytes = passOn(request, response, {
          target,
          signal: by.signal,
          onEnd: ({ isWhole, status = clientGone, usage, answerTokens }) =>
            settle({ status: isWhole ? response.status : status, usage, isBilled: true, answerTokens }),
        });
        return { value: { status: response.status, headers: pickPassedHeaders(response, isStreamed), bytes, target } };
      });
      return answer !== undefined && 'failure' in answer ? answer.failure : answer?.value;
    },
  };
}

/** What is counted for a request whose client left. */
const clientGone = 499;
const nobody: ModelFailure = { kind: 'not-found', status: 404, message: 'No provider has this model.' };

async function* readStream(
  format: WireFormat,
  request: ConversationRequest,
  { body }: UpstreamResponse,
  target: UpstreamTarget,
): AsyncGenerator<StreamEvent> {
  const reader = format.createStreamReader({ request });
  const decoder = new TextDecoder();
  let bytes = 0;
  let hasBegun = false;
  let failure: ModelFailure | undefined;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > maxAnswerBytes) {
        failure = tooLong;
        break;
      }
      const events = reader.push(decoder.decode(chunk, { stream: true }));
      hasBegun ||= events.length > 0;
      yield* events;
    }
  } catch (error) {
    failure = explainLostAnswer(error, target, hasBegun);
  }
  const ending = reader.end();
  if (!hasBegun && ending.some((event) => event.type === 'answer-failed' && event.failure.code === malformedCode)) {
    // It has not begun for whoever asked, either: another provider may answer instead.
    yield { type: 'answer-failed', failure: failure ?? malformed(target.provider, format) };
    return;
  }
  for (const event of ending) {
    // An end that says no reason is none that the provider said.
    if (event.type === 'answer-end' && event.stop.kind === 'interrupted') failure ??= brokenOff(target);
    yield event.type === 'answer-end' && failure !== undefined ? failedEnd(event, failure) : event;
  }
}

function failedEnd({ usage }: Extract<StreamEvent, { type: 'answer-end' }>, failure: ModelFailure): StreamEvent {
  return { type: 'answer-failed', failure, ...(usage && { usage }) };
}

async function* readWhole(
  format: WireFormat,
  request: ConversationRequest,
  response: UpstreamResponse,
  { provider }: UpstreamTarget,
): AsyncGenerator<StreamEvent> {
  const text = await readBody(response, maxAnswerBytes);
  yield* text === undefined
    ? [{ type: 'answer-failed', failure: tooLong } as const]
    : parseWhole(format, request, text, provider);
}

function parseWhole(format: WireFormat, request: ConversationRequest, text: string, provider: string): StreamEvent[] {
  try {
    return eventsOfAnswer(format.readAnswer(JSON.parse(text), { request }));
  } catch {
    return [{ type: 'answer-failed', failure: malformed(provider, format) }];
  }
}

function malformed(provider: string, { name }: WireFormat): ModelFailure {
  const message = `The provider "${provider}" answered, but not in the wire format ${name}.`;
  return { kind: 'server-error', status: 502, message, code: malformedCode };
}

const charsPerToken = 4;

/** Settles what was set aside when the events end, whoever ends them. */
async function* settled(
  events: AsyncGenerator<StreamEvent>,
  response: UpstreamResponse,
  settle: Posted['settle'],
): AsyncGenerator<StreamEvent> {
  let status = clientGone;
  let usage: TokenUsage | undefined;
  let chars = 0;
  try {
    for await (const event of events) {
      if ('usage' in event) usage = event.usage;
      if (event.type === 'part-delta') chars += event.text.length;
      if (event.type === 'answer-end') status = response.status;
      if (event.type === 'answer-failed') status = event.failure.status;
      yield event;
    }
  } finally {
    response.destroy();
    settle({ status, usage, isBilled: true, answerTokens: Math.ceil(chars / charsPerToken) });
  }
}

/** Servers like to repeat the key that they refuse. */
async function explainRefusal(
  { provider, keyName }: UpstreamTarget,
  response: UpstreamResponse,
  key: string | undefined,
): Promise<ModelFailure> {
  const { status } = response;
  const text = (await readBody(response, maxFailureBytes).catch(() => '')) ?? '';
  response.destroy();
  if (status >= 300 && status < 400) {
    const message = `The provider "${provider}" answered with a redirect (HTTP ${status}); put the final address into its baseUrl.`;
    return { kind: 'server-error', status: 502, message, code: 'upstream_redirect' };
  }
  const failure = readFailure(status, toHeaders(response.headers), text);
  const said = key === undefined ? failure.message : failure.message.replaceAll(key, '[key]');
  if (failure.kind !== 'unauthenticated') return { ...failure, message: said };
  // To the client it would mean that its own key is wrong.
  const which = keyName === undefined ? 'a request without a key' : `the key "${keyName}"`;
  const message = `The provider "${provider}" refused ${which} of this daemon: ${said}`;
  return { ...failure, kind: 'server-error', status: 502, message, code: 'upstream_key_refused' };
}

const passedHeaders =
  /^(?:content-type|content-length|content-encoding|request-id|x-request-id|retry-after|retry-after-ms|x-ratelimit-.*|anthropic-ratelimit-.*|openai-(?:model|processing-ms|version))$/;

/** A stream may come to less than its provider said, or more: what is passed on of it is not its length. */
function pickPassedHeaders({ headers }: UpstreamResponse, isStreamed: boolean): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => {
      const isPassed = passedHeaders.test(name) && !(isStreamed && name === 'content-length');
      return isPassed ? [[name, String(value)]] : [];
    }),
  );
}
