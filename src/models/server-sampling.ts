import type { Caller } from '../callers/caller.ts';
import { textOf } from '../conversation/conversation.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { AskModelForCall } from '../mcp-servers/questions/answer-sampling.ts';
import type { Redactor } from '../secrets/secret-types.ts';
import type { ModelCatalog } from './catalog.ts';
import { explainModelFailure } from './explain-failure.ts';
import { collect } from './text-generator.ts';
import type { Upstreams } from './upstream.ts';

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
    const { parts, stop, failure } = await collect(answer).catch((error: unknown) => {
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
