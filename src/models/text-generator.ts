import type { Caller } from '../callers/caller.ts';
import type { TextGenerator, TextRequest, TextResult } from '../capabilities/llm.ts';
import type { ModelSettings } from '../config/settings/model-settings.ts';
import type { AnswerStop, ConversationAnswer, ModelFailure } from '../conversation/answer.ts';
import { collectAnswer } from '../conversation/collect-answer.ts';
import { textOf } from '../conversation/conversation.ts';
import type { ConversationRequest, ResponseShape } from '../conversation/request.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { AskModelForCall } from '../mcp-servers/questions/answer-sampling.ts';
import type { Redactor } from '../secrets/secret-types.ts';
import type { ModelCatalog } from './catalog.ts';
import { explainModelFailure } from './explain-failure.ts';
import type { UpstreamAnswer, Upstreams } from './upstream.ts';

/** What a text is made with. */
export interface TextGeneratorParts {
  readonly settings: Pick<ModelSettings, 'maxTokens'>;
  readonly catalog: Pick<ModelCatalog, 'check'>;
  readonly upstreams: Pick<Upstreams, 'ask'>;
  /** Whose call an execution is; undefined when it is over. */
  readonly callerOf: (executionId: string) => Caller | undefined;
}

/** Creates what `context.llm` asks: the default model of the config. */
export function createTextGenerator({ settings, catalog, upstreams, callerOf }: TextGeneratorParts): TextGenerator {
  return {
    get maxTokens() {
      return settings.maxTokens;
    },
    check: catalog.check,
    async generate(request, { executionId, caller: id, isAdmin, tool }, signal) {
      const caller = callerOf(executionId) ?? { id, role: isAdmin === true ? 'admin' : 'caller' };
      const answer = upstreams.ask(toConversation(request), { caller, purpose: 'plugin', tool, signal });
      try {
        return toResult(await collectAnswer(answer.events), answer);
      } catch (error) {
        if (!signal.aborted) throw error;
        return { ok: false, error: new HotcellError('cancelled', 'The call ended before the model answered.'), isBilled: true };
      }
    },
  };
}

/** One short question, to see whether a model answers. */
export function writeTestRequest(model: string): ConversationRequest {
  const request = {
    system: undefined,
    messages: [{ role: 'user' as const, content: 'Answer with the word pong.' }],
    maxTokens: 16,
  };
  return { ...toConversation({ ...request, temperature: undefined, json: undefined }), model };
}

/** Asked of a model by the name of nobody: the default. */
export function toConversation({ system, messages, maxTokens, temperature, json }: TextRequest): ConversationRequest {
  return {
    model: '',
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

/** The words in which plugins are told why an answer ended. */
const finishReasons: Readonly<Partial<Record<AnswerStop['kind'], string>>> = {
  end: 'stop',
  'stop-sequence': 'stop',
  'max-tokens': 'length',
  'content-filter': 'content-filter',
  refusal: 'content-filter',
  'tool-calls': 'tool-calls',
};

const brokenOff: ModelFailure = { kind: 'server-error', status: 502, message: 'An answer without an end.' };

/** A server that does not tell what it used has used what was set aside. */
export function toResult(
  { parts, stop, usage, failure }: ConversationAnswer,
  answer: Pick<UpstreamAnswer, 'target' | 'isBilled'>,
): TextResult {
  const target = answer.target();
  if (failure !== undefined) return { ok: false, error: explainModelFailure(failure, target), isBilled: answer.isBilled() };
  if (stop.kind === 'interrupted') return { ok: false, error: explainModelFailure(brokenOff, target), isBilled: true };
  const text = textOf(parts);
  const counted = usage === undefined ? {} : { usage: { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens } };
  return { ok: true, text, model: target?.model ?? '', finishReason: finishReasons[stop.kind] ?? 'other', ...counted };
}

/** Creates what servers ask for models: in the name of the caller whose call it is, with its budget and its models. */
export function createModelAsker({
  catalog,
  upstreams,
  redactor,
  callerOf,
}: {
  readonly catalog: Pick<ModelCatalog, 'check'>;
  readonly upstreams: Pick<Upstreams, 'ask'>;
  readonly redactor: Redactor;
  /** Whose call an execution is; undefined when it is over. */
  readonly callerOf: (executionId: string) => Caller | undefined;
}): AskModelForCall {
  return async (request, { user, signal }) => {
    if (request.model === '') catalog.check();
    const caller = callerOf(user.executionId) ?? { id: user.caller, role: user.isAdmin === true ? 'admin' : 'caller' };
    const clean = redactor.isIdle ? request : redactor.value(request);
    const answer = upstreams.ask(clean, { caller, purpose: 'plugin', tool: user.tool, signal });
    const { parts, stop, failure } = await collectAnswer(answer.events).catch((error: unknown) => {
      if (!signal.aborted) throw error;
      throw new HotcellError('cancelled', 'The call ended before the model answered.');
    });
    const target = answer.target();
    if (failure !== undefined) throw explainModelFailure(failure, target);
    if (stop.kind === 'interrupted') throw new HotcellError('model-failed', 'The answer of the model broke off.');
    const text = textOf(parts);
    return { text: redactor.text(text), model: target?.model ?? '', stop: stop.kind };
  };
}
