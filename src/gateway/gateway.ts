import type { Config } from '../config/config-types.ts';
import type { ModelFailure, StreamEvent } from '../conversation/answer.ts';
import { createAnswerCollector } from '../conversation/collect-answer.ts';
import { keptOf } from '../conversation/conversation.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { EventLog } from '../events/event.ts';
import type { Loops } from '../loop/loops.ts';
import type { ModelCatalog } from '../models/catalog.ts';
import type { Upstreams } from '../models/upstream.ts';
import { failureOfError } from '../models/wire/failures.ts';
import { requireObject } from '../models/wire/json-fields.ts';
import type { RequestAddress, WireFormat, WireFormatName } from '../models/wire/wire-format.ts';
import { wireFormats } from '../models/wire/wire-formats.ts';
import { createAsk } from '../operations/ask.ts';
import { openToolBooks } from '../operations/calling/tool-book.ts';
import type { InvocableOperation } from '../operations/invoke.ts';
import type { KeptAnswerTable } from '../store/tables/kept-answers.ts';
import { replyAnswer, replyFailure, replyJson, type TellableAnswer } from './answer-client.ts';
import { asItCame, passAsItCame } from './as-it-came.ts';
import { createBesideAnswers } from './beside-answers.ts';
import { compactConversation } from './compact.ts';
import { type Asked, askedBy, type GatewayReply, type GatewayRequest } from './gateway-types.ts';
import { createToolChooser, type InjectedTools, type OfferMode } from './injected-tools.ts';
import { createKeptTurns } from './kept-turns.ts';
import { createLoopAnswers, type KeepAnswer } from './loop-answer.ts';
import { createRequestFence, newAnswerId } from './request-fence.ts';
import { createResponses } from './responses.ts';

/** What the gateway is made of. */
export interface GatewayParts {
  readonly upstreams: Upstreams;
  readonly catalog: ModelCatalog;
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

/** The door for clients of models, with everything that they ask for. */
export type Gateway = ReturnType<typeof createGateway>;

/** An error as a client of the format expects it. */
export function replyError(format: WireFormatName, error: unknown): GatewayReply {
  return replyFailure(wireFormats[format], failureOfError(error));
}

const pingMs = 15_000;
const pruneEveryMs = 3_600_000;

/** Opens the door. */
export function createGateway(parts: GatewayParts) {
  const { upstreams, loops, keptAnswers, config, now } = parts;
  const ask = createAsk(parts.operations);
  const books = openToolBooks(ask, parts.events);
  const chooser = createToolChooser(ask, books);
  const turns = createKeptTurns(keptAnswers, now);
  const findLoop = loopFinderOf(loops);
  const responses = createResponses({ table: keptAnswers, findLoop, now });
  const fence = createRequestFence({ table: keptAnswers, findLoop, now });
  const keepAnswer: KeepAnswer = (asked, answer, messages, id) => {
    const { format, request, said } = asked;
    const { caller } = request;
    if (said.previousAnswerId === undefined) turns.keep(said, answer.parts, messages, { caller, format });
    if (format.name === 'openai-responses') responses.keep(asked, answer, messages, id);
  };
  const answerByLoop = createLoopAnswers({ loops, fence, responses, keepAnswer });
  const beside = createBesideAnswers(parts);
  const prune = (): void => keptAnswers.prune(now() - config.gateway.keepMs);
  const pruning = setInterval(prune, pruneEveryMs).unref();
  prune();

  /** Passes it on as it came; undefined where that cannot be. */
  function forward(format: WireFormat, request: GatewayRequest, address: RequestAddress): Promise<GatewayReply | undefined> {
    return passAsItCame(upstreams, asItCame(format, requireObject(request.body, 'body'), request, address), request);
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

  /** Lets the model call tools of the daemon. */
  function runTools(asked: Asked, injected: InjectedTools): Promise<GatewayReply> | GatewayReply {
    const answer = answerByLoop(asked, injected);
    if (answer.kind === 'refuse') return replyFailure(asked.format, answer.failure);
    const headers = { 'x-hotcell-replay': answer.kind === 'run' ? 'executed' : 'replayed' };
    return tell(asked, { events: answer.events, about: undefined, headers }, answer.id);
  }

  /** The way of a request: on as it came where nobody has to read it, with tools where some are offered, else asked in another format. */
  async function findAnswer(format: WireFormat, request: GatewayRequest, address: RequestAddress): Promise<GatewayReply> {
    const { name } = format;
    const { caller } = request;
    const mode = modeOf(request, config.gateway.tools);
    const mayOffer = await chooser.mayOffer(caller, mode);
    const isResponse = name === 'openai-responses';
    const mustRead = isResponse || mayOffer || turns.mayHave(caller);
    const unread = mustRead ? undefined : await forward(format, request, address);
    if (unread !== undefined) return unread;
    const said = format.readRequest(request.body, address);
    if (isResponse && keptOf(said, name).background === true) return replyFailure(format, noBackground);
    const whole = turns.restore(isResponse ? responses.continueRequest(said, request) : said, caller);
    const asked = { format, request, said, whole };
    const injected = mayOffer ? await chooser.choose(whole, { caller, mode, format: name }) : undefined;
    if (injected !== undefined) return runTools(asked, injected);
    const isAsSaid = mustRead && !isResponse && whole === said;
    return (isAsSaid ? await forward(format, request, address) : undefined) ?? askModel(asked);
  }

  /** Answers a request for an answer of a model, in the format of its client. */
  async function answer(name: WireFormatName, request: GatewayRequest, address: RequestAddress = {}): Promise<GatewayReply> {
    try {
      return await findAnswer(wireFormats[name], request, address);
    } catch (error) {
      return replyError(name, error);
    }
  }

  return {
    ...beside,
    answer,
    /** Answers at an address of which the format reads the rest. */
    async answerAt(name: WireFormatName, rest: string, request: GatewayRequest): Promise<GatewayReply> {
      const { isCount, ...address } = wireFormats[name].readAddress?.(rest) ?? {};
      return isCount === true ? beside.countTokens(name, request, address) : answer(name, request, address);
    },
    async getResponse(id: string, request: GatewayRequest): Promise<GatewayReply> {
      return replyJson(responses.find(id, request));
    },
    async deleteResponse(id: string, request: GatewayRequest): Promise<GatewayReply> {
      responses.find(id, request);
      responses.remove(id, request.caller);
      return replyJson({ id, object: 'response.deleted', deleted: true });
    },
    compact(request: GatewayRequest): Promise<GatewayReply> {
      const said = wireFormats['openai-responses'].readRequest(request.body);
      return compactConversation(upstreams, responses.continueRequest(said, request), askedBy(request));
    },
    close(): void {
      books.close();
      clearInterval(pruning);
    },
  };
}

/** Finds loops of a caller; undefined for one that is not known any more. */
function loopFinderOf(loops: Loops): Parameters<typeof createResponses>[0]['findLoop'] {
  return (id, caller) => {
    try {
      return loops.get(id, caller);
    } catch (error) {
      if (error instanceof HotcellError && error.code === 'loop-unknown') return undefined;
      throw error;
    }
  };
}

const noBackground: ModelFailure = {
  kind: 'invalid-request',
  status: 400,
  message:
    'Responses are not made in the background here. Leave "background" out; GET /v1/responses/ID finds a response after a lost connection.',
  param: 'background',
};

const modes: readonly OfferMode[] = ['auto', 'all', 'code', 'off'];

/** A client may want fewer tools or others; where the config says none there are none. */
function modeOf({ headers }: GatewayRequest, configured: OfferMode): OfferMode {
  const wanted = headers['x-hotcell-tools'];
  if (configured === 'off' || typeof wanted !== 'string') return configured;
  const mode = modes.find((each) => each === wanted);
  if (mode !== undefined) return mode;
  throw new HotcellError('body-invalid', `x-hotcell-tools: ${modes.join(', ')} was expected, "${wanted.slice(0, 40)}" came.`);
}
