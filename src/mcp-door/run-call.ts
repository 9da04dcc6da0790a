import {
  type InputRequiredResult,
  inputRequired,
  type LoggingLevel,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Caller } from '../callers/caller.ts';
import type { ClientAbility } from '../calls/call-types.ts';
import { omitUndefined } from '../config/json-object.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { Ask } from '../operations/ask.ts';
import type { Ended } from '../operations/calling/call-content.ts';
import { type CallNews, CallWatch } from '../operations/calling/call-watch.ts';
import { type ApprovalView, approvalContracts } from '../operations/contracts/access/approvals.ts';
import { executionContracts } from '../operations/contracts/executions.ts';
import type { OperationContext } from '../operations/operation.ts';
import type { ClientAbilities } from './client-abilities.ts';
import {
  answerQuestions,
  type ClientQuestion,
  type QuestionByKey,
  type SortedQuestions,
  sortQuestions,
  toInputRequests,
} from './questions.ts';
import { hashRequest, type RequestState, readState } from './request-state.ts';
import type { WaitingCalls } from './waiting-calls.ts';

/** What the client asked to be carried out. */
export interface RequestedCall {
  readonly method: 'tools/call' | 'prompts/get' | 'resources/read';
  readonly name: string;
  readonly args: unknown;
  /** Begins it; resolves when it has ended. */
  readonly start: (context: OperationContext) => Promise<Ended>;
}

/** What is answered to the request. */
export type CallOutcome =
  | { readonly kind: 'ended'; readonly ended: Ended }
  /** The client asks its person and comes again. */
  | { readonly kind: 'input'; readonly result: InputRequiredResult }
  /** It goes on under this id, and the client looks after it. */
  | { readonly kind: 'task'; readonly executionId: string }
  /** It waits for somebody whom this client cannot ask. */
  | { readonly kind: 'elsewhere'; readonly questions: readonly ApprovalView[] };

/** What calls are carried out with, for one caller. */
export interface CallParts {
  readonly ask: Ask;
  readonly caller: Caller;
  readonly can: ClientAbilities;
  readonly seal: (state: RequestState, ctx: ServerContext) => Promise<string>;
  readonly waiting: WaitingCalls;
  /** So long a request is held for an answer from elsewhere, in ms. */
  readonly holdMs: number;
}

/** Made once: every request ends so. */
const noLongerWatched = new Error('The call is watched no longer.');
/** A call that goes on for longer becomes a task, where the client has tasks. */
const taskAfterMs = 250;
/** People answer questions: so long a client of the older era is waited for. */
const formTimeoutMs = 15 * 60_000;

/**
 * Carries a call out until it has ended, or until its client has something to do: then the call goes on by itself, and the next
 * request about it (with a state, as a task, or simply the same again) finds it.
 */
export async function runCall(parts: CallParts, requested: RequestedCall, ctx: ServerContext): Promise<CallOutcome> {
  const { ask, caller, can, waiting } = parts;
  const { mcpReq } = ctx;
  const watch = new CallWatch(tellClient(ctx));
  const left = new AbortController();
  const cancelled = new AbortController();
  const request = hashRequest(requested.method, requested.name, requested.args);
  const onAbort = (): void => {
    if (!watch.isAsked) cancelled.abort();
    else {
      // Whoever hangs up while a person is asked did not take the question back: the same call again finds this one.
      if (watch.executionId !== undefined) waiting.keep(caller, request, watch.executionId);
      left.abort(noLongerWatched);
    }
  };
  mcpReq.signal.addEventListener('abort', onAbort, { once: true });
  const context = {
    caller,
    signal: left.signal,
    cancelSignal: cancelled.signal,
    stream: watch,
    clientCan: listAbilities(can),
  };
  const used = new Set<string>();
  /** Questions that the client was asked in this request and gave no answer to. */
  const dismissed = new Set<string>();
  try {
    const { answer } = await begin();
    for (let lateMs: number | undefined = can.tasks ? taskAfterMs : undefined; ; ) {
      const step = await watch.next(answer, lateMs);
      if (step.kind === 'answer') {
        // A client that hung up does not read this answer.
        if (!left.signal.aborted) waiting.forget(caller, request);
        return { kind: 'ended', ended: step.answer };
      }
      const executionId = watch.executionId ?? '';
      if (step.kind === 'late') {
        if (can.tasks) return { kind: 'task', executionId };
        const { elsewhere: questions } = await sort(watch.known);
        lateMs = undefined;
        // All were answered meanwhile: it goes on.
        if (questions.length === 0) continue;
        waiting.keep(caller, request, executionId);
        return { kind: 'elsewhere', questions };
      }
      const { askable, elsewhere } = await sort(step.questions);
      if (await answerGiven(askable)) continue;
      if (askable.length > 0) {
        if (can.tasks && askable.some(({ approval }) => approval.kind !== 'ask')) return { kind: 'task', executionId };
        if (mcpReq.envelope === undefined) {
          await askNow(askable);
          continue;
        }
        const questions = Object.fromEntries(askable.map(({ key, approval }) => [key, approval.id]));
        const requestState = await parts.seal({ executionId, request, questions }, ctx);
        return { kind: 'input', result: inputRequired({ inputRequests: toInputRequests(askable), requestState }) };
      }
      if (can.tasks && elsewhere.length > 0) return { kind: 'task', executionId };
      watch.know(step.questions);
      if (elsewhere.length > 0) lateMs = dismissed.size > 0 ? 0 : parts.holdMs;
    }
  } finally {
    mcpReq.signal.removeEventListener('abort', onAbort);
    left.abort(noLongerWatched);
  }

  /** In an object: an answer that is awaited here would be the end of the call. */
  async function begin(): Promise<{ readonly answer: Promise<Ended> }> {
    const state = readState(mcpReq.requestState());
    if (state !== undefined && state.request !== request) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'The requestState belongs to another request.', {
        reason: 'invalid_request_state',
      });
    }
    const executionId = state?.executionId ?? waiting.find(caller, request);
    if (executionId === undefined) return { answer: requested.start({ ...context, signal: new AbortController().signal }) };
    if (state !== undefined) await answerAsked(state);
    const answer = ask(executionContracts.follow, { id: executionId }, context);
    const { items } = await ask(approvalContracts.list, { executionId, limit: 1000 }, context);
    for (const { id } of items) watch.asked(id);
    return { answer };
  }

  async function answerAsked({ questions }: RequestState): Promise<void> {
    const asked = await Promise.all(
      Object.entries(questions).map(async ([key, id]) => ({ key, approval: await ask(approvalContracts.get, { id }, context) })),
    );
    const open = asked.filter(({ approval }) => approval.status === 'open');
    await answer(open, mcpReq.inputResponses ?? {});
  }

  /** Clients of the older era are asked in the middle of their request; whoever gives up there finds the call by the same request. */
  async function askNow(askable: readonly ClientQuestion[]): Promise<void> {
    const others = new AbortController();
    const options = {
      timeout: formTimeoutMs,
      resetTimeoutOnProgress: true,
      onprogress: () => {},
      signal: AbortSignal.any([mcpReq.signal, others.signal]),
    };
    try {
      const answers = await Promise.all(
        askable.map(
          async ({ key, request: form }) =>
            [key, await mcpReq.send({ method: form.method, params: { ...form.params } }, options)] as const,
        ),
      );
      await answer(askable, Object.fromEntries(answers));
    } catch (error) {
      if (watch.executionId !== undefined) waiting.keep(caller, request, watch.executionId);
      if (mcpReq.signal.aborted || error instanceof HotcellError) throw error;
      for (const { approval } of askable) dismissed.add(approval.id);
    } finally {
      others.abort();
    }
  }

  async function answer(questions: readonly QuestionByKey[], responses: Readonly<Record<string, unknown>>): Promise<void> {
    for (const id of await answerQuestions(questions, responses, { ask, context })) dismissed.add(id);
  }

  /** A client may bring answers along before it is asked; each of them counts once. */
  async function answerGiven(askable: readonly ClientQuestion[]): Promise<boolean> {
    const given = mcpReq.inputResponses ?? {};
    if (mcpReq.requestState() !== undefined) return false;
    const answered = askable.filter(
      ({ approval, key }) => approval.kind === 'ask' && Object.hasOwn(given, key) && !used.has(key),
    );
    for (const { key } of answered) used.add(key);
    await answer(answered, given);
    return answered.length > 0;
  }

  async function sort(ids: readonly string[]): Promise<SortedQuestions> {
    const { askable, elsewhere } = await sortQuestions(ids, { ask, context, can });
    const isLeft = ({ approval }: ClientQuestion): boolean => dismissed.has(approval.id);
    return {
      askable: askable.filter((each) => !isLeft(each)),
      elsewhere: [...elsewhere, ...askable.filter(isLeft).map(({ approval }) => approval)],
    };
  }
}

function listAbilities({ form, sampling, roots }: ClientAbilities): ClientAbility[] {
  return [...(form ? ['form' as const] : []), ...(sampling ? ['sampling' as const] : []), ...(roots ? ['roots' as const] : [])];
}

const levels: Readonly<Record<string, LoggingLevel>> = { debug: 'debug', info: 'info', warn: 'warning', error: 'error' };

/** Tells the client of a request how its call gets on, as far as it asked to be told. */
export function tellClient({ mcpReq }: ServerContext): CallNews {
  const progressToken = mcpReq._meta?.progressToken;
  let last = Number.NEGATIVE_INFINITY;
  return {
    progress(done, total, message) {
      // The protocol has progress rise.
      if (progressToken === undefined || done <= last) return;
      last = done;
      const params = { progressToken, progress: done, ...omitUndefined({ total, message }) };
      void mcpReq.notify({ method: 'notifications/progress', params }).catch(ignoreGone);
    },
    log(level, text) {
      void mcpReq.log(levels[level] ?? 'info', text).catch(ignoreGone);
    },
  };
}

/** A client that went away is told nothing. */
function ignoreGone(): void {}
