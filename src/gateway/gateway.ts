import type { Config } from '../config/config-types.ts';
import type { ModelFailure, StreamEvent } from '../conversation/answer.ts';
import { createAnswerCollector, eventsOfAnswer } from '../conversation/collect-answer.ts';
import { keptOf, type Message } from '../conversation/conversation.ts';
import { type ConversationRequest, namesOfTools } from '../conversation/request.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { EventLog } from '../events/event.ts';
import type { LoopEnd, Loops } from '../loop/loop.ts';
import { failureOfError } from '../models/upstream/failure-of-error.ts';
import type { Upstreams } from '../models/upstream.ts';
import { requireObject } from '../models/wire/json-fields.ts';
import type { RequestAddress, WireFormat, WireFormatName } from '../models/wire/wire-format.ts';
import { wireFormats } from '../models/wire/wire-formats.ts';
import { createAsk } from '../operations/ask.ts';
import { createToolBooks } from '../operations/calling/tool-book.ts';
import type { InvocableOperation } from '../operations/invoke.ts';
import type { KeptAnswerTable } from '../store/tables/kept-answers.ts';
import { replyAnswer, replyFailure, type TellableAnswer } from './answer-client.ts';
import { asItCame } from './as-it-came.ts';
import { openCompactions } from './compact.ts';
import { askedBy, type GatewayReply, type GatewayRequest } from './gateway-types.ts';
import { createKeptTurns } from './kept-turns.ts';
import { answerOfLoop, createLoopStream, type LoopTelling } from './loop-stream.ts';
import { createToolChooser, type InjectedTools, type OfferMode } from './offered-tools.ts';
import { createRequestFence, type FencedRequest, identifyRequest, newAnswerId, type RequestIdentity } from './request-fence.ts';
import { createResponseStore, refuseResponse, type StoredResponse } from './response-store.ts';

/** What the gateway is made of. */
export interface GatewayParts {
  readonly upstreams: Upstreams;
  readonly loops: Loops;
  readonly keptAnswers: KeptAnswerTable;
  readonly config: Pick<Config, 'gateway'>;
  readonly operations: ReadonlyMap<string, InvocableOperation>;
  readonly events: Pick<EventLog, 'subscribe'>;
  /** Epoch ms. */
  readonly now: () => number;
  /** Stands in for the time after which a silent stream gives a sign of life. */
  readonly pingMs?: number;
}

/** The door for clients of models. */
export interface Gateway {
  /** Answers a request for an answer of a model, in the format of its client. */
  answer(format: WireFormatName, request: GatewayRequest, address?: RequestAddress): Promise<GatewayReply>;
  /** A request with what it goes on from before it. Throws `not-found`. */
  continueResponse(said: ConversationRequest, request: GatewayRequest): ConversationRequest;
  /** A response that was kept, as its client got it. Throws `not-found`. */
  findResponse(id: string, request: GatewayRequest): StoredResponse;
  readonly responses: ReturnType<typeof createResponseStore>;
  close(): void;
}

/** An error as a client of the format expects it. */
export function replyError(format: WireFormatName, error: unknown): GatewayReply {
  return replyFailure(wireFormats[format], failureOfError(error));
}

/** One request on its way. */
interface Asked {
  readonly format: WireFormat;
  readonly request: GatewayRequest;
  /** As the client said it. */
  readonly said: ConversationRequest;
  /** With what the client could not bring back. */
  readonly whole: ConversationRequest;
}

const pingMs = 15_000;
const pruneEveryMs = 3_600_000;

/** Opens the door. */
export function createGateway(parts: GatewayParts): Gateway {
  const { upstreams, loops, keptAnswers, config, now } = parts;
  const ask = createAsk(parts.operations);
  const books = createToolBooks(ask);
  const endWatch = parts.events.subscribe({ types: ['tools-change', 'setting-change'] }, books.outdate);
  const chooser = createToolChooser(ask, books);
  const turns = createKeptTurns(keptAnswers, now);
  const responses = createResponseStore(keptAnswers, now);
  const findLoop: Parameters<typeof createRequestFence>[0]['findLoop'] = (id, caller) => {
    try {
      return loops.get(id, caller);
    } catch (error) {
      if (error instanceof HotcellError && error.code === 'loop-unknown') return undefined;
      throw error;
    }
  };
  const fence = createRequestFence({ table: keptAnswers, findLoop, now });
  const prune = (): void => keptAnswers.prune(now() - config.gateway.keepMs);
  const pruning = setInterval(prune, pruneEveryMs).unref();
  prune();

  /** Passes it on as it came; undefined where that cannot be. */
  async function forward(
    format: WireFormatName,
    request: GatewayRequest,
    address: RequestAddress,
  ): Promise<GatewayReply | undefined> {
    const body = requireObject(request.body, 'body');
    const forwarded = await upstreams.forward(asItCame(wireFormats[format], body, request, address), askedBy(request));
    if (forwarded === undefined) return undefined;
    if ('kind' in forwarded) return replyFailure(wireFormats[format], forwarded);
    const { provider, model } = forwarded.target;
    const headers = { ...forwarded.headers, 'x-hotcell-upstream': `${provider}/${model}`.replaceAll(/[^\x20-\x7e]/g, '?') };
    return { status: forwarded.status, headers, body: forwarded.bytes };
  }

  /** What a request goes on from is put before it. */
  function continueResponse(said: ConversationRequest, { caller, local }: GatewayRequest): ConversationRequest {
    const { previousAnswerId, ...rest } = said;
    const before = previousAnswerId === undefined ? [] : responses.conversationUpTo(previousAnswerId, caller, local);
    return openCompactions({ ...rest, messages: [...before, ...said.messages] });
  }

  /** Keeps of an answer what a later request may need. `messages` is everything that it came of. */
  function keepAnswer(
    { format, request, said }: Asked,
    answer: Parameters<WireFormat['writeAnswer']>[0],
    messages: readonly Message[],
    id: string,
  ): void {
    const { caller } = request;
    if (said.previousAnswerId === undefined) turns.keep(said, answer.parts, messages, { caller, format });
    if (format.name !== 'openai-responses') return;
    const response = format.writeAnswer(answer, { request: said, id }).value;
    const stored = { previous: said.previousAnswerId, input: said.messages, output: messages, response };
    if (isStored(said)) responses.put(id, caller, stored);
    else request.local?.set(id, stored);
  }

  function tell(asked: Asked, answer: Pick<TellableAnswer, 'events' | 'about' | 'headers'>, id: string): Promise<GatewayReply> {
    const { format, said } = asked;
    const isResponse = format.name === 'openai-responses';
    const context = { request: said, ...(isResponse && { id }) };
    return replyAnswer(format, { ...answer, isStreamed: said.isStreamed, context, pingMs: parts.pingMs ?? pingMs });
  }

  /** Asks the model once. */
  function askModel(asked: Asked): Promise<GatewayReply> {
    const id = newAnswerId();
    const answer = upstreams.ask(asked.whole, askedBy(asked.request));
    const collector = createAnswerCollector();
    async function* observe(): AsyncGenerator<StreamEvent> {
      for await (const event of answer.events) {
        collector.push(event);
        if (event.type === 'answer-end') {
          const whole = collector.answer();
          keepAnswer(asked, whole, [{ role: 'assistant', parts: whole.parts }], id);
        }
        yield event;
      }
    }
    return tell(asked, { events: observe(), about: answer, headers: {} }, id);
  }

  /** Lets the model call tools of the daemon, or tells of what the same request came to before. */
  function runTools(asked: Asked, injected: InjectedTools): Promise<GatewayReply> | GatewayReply {
    const { request, said } = asked;
    const { caller, headers } = request;
    const identity = identifyRequest(asked.format.name, request.body, headers['idempotency-key'] ?? headers['x-idempotency-key']);
    const entered = fence.enter(caller, identity);
    if (entered.kind === 'refuse') return replyFailure(asked.format, entered.failure);
    const clientNames = namesOfTools(said);
    const telling: LoopTelling = {
      isClients: (name) => clientNames.has(name),
      separator: asked.format.hasOneText === true ? '\n\n' : '',
      before: entered.before,
    };
    const story = { asked, entered, identity, telling };
    const isNew = entered.kind === 'run';
    const replay = { 'x-hotcell-replay': isNew ? 'executed' : 'replayed' };
    const events = isNew ? runLoop(story, injected) : followLoop(story);
    return tell(asked, { events, about: undefined, headers: replay }, entered.answerId);
  }

  interface Story {
    readonly asked: Asked;
    readonly entered: FencedRequest;
    readonly identity: RequestIdentity;
    readonly telling: LoopTelling;
  }

  function noteEnd({ asked, entered, identity, telling }: Story, end: LoopEnd): void {
    const messages = [...entered.before, ...end.messages];
    const hasRun = messages.some(({ role }) => role === 'tool');
    if (!hasRun && identity.key === undefined) fence.forget(asked.request.caller, identity);
    const answer = answerOfLoop(end, telling);
    if (answer.failure === undefined) keepAnswer(asked, answer, messages, entered.answerId);
  }

  async function* runLoop(story: Story, injected: InjectedTools): AsyncGenerator<StreamEvent> {
    const { asked, entered, identity, telling } = story;
    const { caller, headers, signal } = asked.request;
    const { previousAnswerId: _previous, ...conversation } = asked.whole;
    const { loopId: id, before, answerId } = entered;
    const session = headers['x-hotcell-session'];
    const release = fence.attend(id, signal);
    let isOver = false;
    let hasRun = false;
    if (asked.format.name === 'openai-responses' && isStored(asked.said)) {
      const { messages: input, ...request } = asked.said;
      responses.put(answerId, caller, {
        previous: asked.said.previousAnswerId,
        input,
        loopId: id,
        request: { ...request, messages: [] },
      });
    }
    const stream = createLoopStream(telling);
    try {
      const events = loops.run({
        id,
        conversation: {
          ...conversation,
          messages: [...conversation.messages, ...before],
          tools: [...conversation.tools, ...injected.declarations],
        },
        tools: injected.tools,
        bounds: injected.bounds,
        caller,
        purpose: 'gateway',
        ...(typeof session === 'string' && { session }),
        ...(headers['x-hotcell-cancel-on-disconnect'] !== undefined && { signal }),
      });
      for await (const event of events) {
        if (event.type === 'call-start' && !hasRun) fence.noteRun(caller, identity);
        hasRun ||= event.type === 'call-start';
        if (event.type === 'loop-end') {
          isOver = true;
          noteEnd(story, event);
        }
        yield* stream.push(event);
      }
    } finally {
      release();
      // The loop goes on without its client: what it comes to is kept all the same.
      // What cannot be kept is asked of the loop itself.
      if (!isOver) void noteLateEnd(story).catch(() => {});
    }
  }

  async function noteLateEnd(story: Story): Promise<void> {
    const { end } = await loops
      .follow(story.entered.loopId, story.asked.request.caller, new AbortController().signal)
      .catch(() => noEnd);
    if (end !== undefined) noteEnd(story, end);
  }

  async function* followLoop(story: Story): AsyncGenerator<StreamEvent> {
    const { asked, entered, telling } = story;
    const { caller, signal } = asked.request;
    const release = fence.attend(entered.loopId, signal);
    try {
      if (asked.said.isStreamed) yield { type: 'answer-start', id: entered.answerId, model: asked.said.model };
      const { end } = await loops.follow(entered.loopId, caller, signal);
      if (end === undefined) throw new HotcellError('cancelled', 'The client is gone.');
      noteEnd(story, end);
      const events = eventsOfAnswer(answerOfLoop(end, telling));
      for (const event of events) if (event.type !== 'answer-start' || !asked.said.isStreamed) yield event;
    } finally {
      release();
    }
  }

  async function answer(name: WireFormatName, request: GatewayRequest, address: RequestAddress): Promise<GatewayReply> {
    const format = wireFormats[name];
    const { caller } = request;
    const mode = modeOf(request, config.gateway.tools);
    const mayOffer = await chooser.mayOffer(caller, mode);
    const isResponse = name === 'openai-responses';
    if (!isResponse && !mayOffer && !turns.mayHave(caller)) {
      const forwarded = await forward(name, request, address);
      if (forwarded !== undefined) return forwarded;
    }
    const said = format.readRequest(request.body, address);
    if (isResponse && keptOf(said, name).background === true) return replyFailure(format, noBackground);
    const whole = turns.restore(isResponse ? continueResponse(said, request) : said, caller);
    const asked = { format, request, said, whole };
    const injected = mayOffer ? await chooser.choose(whole, { caller, mode, format: name }) : undefined;
    if (injected !== undefined) return runTools(asked, injected);
    const isAsSaid = !isResponse && whole === said && (mayOffer || turns.mayHave(caller));
    return (isAsSaid ? await forward(name, request, address) : undefined) ?? askModel(asked);
  }

  return {
    responses,
    continueResponse,
    findResponse(id, { caller }) {
      const stored = responses.get(id, caller);
      if (stored === undefined) throw refuseResponse(id);
      const { loopId, request, response } = stored;
      const view = response === undefined && loopId !== undefined ? findLoop(loopId, caller) : undefined;
      if (response !== undefined || request === undefined) return stored;
      const said = { ...request, messages: stored.input };
      const names = namesOfTools(request);
      const format = wireFormats['openai-responses'];
      if (view?.end === undefined) {
        const shell = { id, model: request.model, parts: [], stop: { kind: 'end' as const } };
        const status = view === undefined ? 'failed' : 'in_progress';
        return { ...stored, response: { ...format.writeAnswer(shell, { request: said, id }).value, status, completed_at: null } };
      }
      const told = answerOfLoop(view.end, { isClients: (name) => names.has(name), separator: '', before: [] });
      const whole = { ...stored, output: view.end.messages, response: format.writeAnswer(told, { request: said, id }).value };
      if (told.failure === undefined) responses.put(id, caller, whole);
      return whole;
    },
    async answer(name, request, address = {}) {
      try {
        return await answer(name, request, address);
      } catch (error) {
        return replyFailure(wireFormats[name], failureOfError(error));
      }
    },
    close() {
      endWatch();
      clearInterval(pruning);
    },
  };
}

const noEnd: { readonly end?: LoopEnd } = {};
const noBackground: ModelFailure = {
  kind: 'invalid-request',
  status: 400,
  message:
    'Responses are not made in the background here. Leave "background" out; GET /v1/responses/ID finds a response after a lost connection.',
  param: 'background',
};

function isStored(said: ConversationRequest): boolean {
  return keptOf(said, 'openai-responses').store !== false;
}

const modes: readonly OfferMode[] = ['auto', 'all', 'code', 'off'];

/** A client may want fewer tools or others; where the config says none there are none. */
function modeOf({ headers }: GatewayRequest, configured: OfferMode): OfferMode {
  const wanted = headers['x-hotcell-tools'];
  if (configured === 'off' || typeof wanted !== 'string') return configured;
  const mode = modes.find((each) => each === wanted);
  if (mode !== undefined) return mode;
  throw new HotcellError('body-invalid', `x-hotcell-tools: ${modes.join(', ')} was expected, "${wanted.slice(0, 40)}" came.`);
}
