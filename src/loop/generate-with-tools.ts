import { randomUUID } from 'node:crypto';
import type { Caller } from '../callers/caller.ts';
import type { GenerateWithTools, TextTools } from '../capabilities/llm.ts';
import type { StreamEvent } from '../conversation/answer.ts';
import { Deadline } from '../engines/deadline.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import { estimateRequest } from '../models/prices.ts';
import { toConversation, toResult } from '../models/text-generator.ts';
import type { UpstreamAnswer, Upstreams } from '../models/upstream.ts';
import type { Redactor } from '../secrets/secret-types.ts';
import type { LoopEnd, LoopStop } from './loop.ts';
import { loopBoundsOf } from './loop-budget.ts';
import { freshState } from './loop-state.ts';
import { type RunLoopCall, toRanCall, toRefusedCall } from './run-call.ts';
import { runLoop } from './run-loop.ts';

interface Parts {
  readonly upstreams: Pick<Upstreams, 'ask'>;
  readonly redactor: Redactor;
  /** Whose call an execution is; undefined when it is over. */
  readonly callerOf: (executionId: string) => Caller | undefined;
}

/** The longest delay of a timer: the call that asks has a time of its own, which ends the loop. */
const foreverMs = 2 ** 31 - 1;
/** Ends that the model knows of, and those that say nothing new of its answer. */
const usualEnds: ReadonlySet<LoopStop> = new Set(['answered', 'client-calls', 'model-failed', 'failed', 'cancelled']);

/**
 * Creates what `context.llm` asks with tools: the one loop, whose calls are calls within the call of the plugin, with its caller, depth,
 * time and approvals. It is not kept: the call of the plugin is what survives, or not.
 */
export function createToolGenerator({ upstreams, redactor, callerOf }: Parts): GenerateWithTools {
  return async (request, { executionId, caller: callerId, isAdmin, tool }, tools, signal) => {
    const caller = callerOf(executionId) ?? { id: callerId, role: isAdmin === true ? 'admin' : 'caller' };
    const declared = tools.tools.map(({ name, description, input }) => ({
      name,
      description,
      parameters: { ...input, type: 'object' },
    }));
    const calls: { round: number; index: number; name: string; status: string }[] = [];
    let last: UpstreamAnswer | undefined;
    const loop = {
      request: {
        id: `llm_${randomUUID()}`,
        conversation: { ...toConversation(request), tools: declared },
        tools: Object.fromEntries(
          tools.tools.map(({ name, ref, flags }) => [name, { ref, ...(flags.isDeep && { isDeep: true }) }]),
        ),
        bounds: { ...loopBoundsOf(tools.tools), timeoutMs: foreverMs },
        caller,
        purpose: 'plugin' as const,
      },
      state: freshState,
      deadline: new Deadline(foreverMs),
      signal,
      leaving: new AbortController().signal,
      keep: () => {},
    };
    const ask: Upstreams['ask'] = (asked, by) => {
      last = upstreams.ask(redactor.isIdle ? asked : redactor.value(asked), { ...by, tool });
      const tokens = estimateRequest(asked) + (asked.maxTokens ?? 0);
      return { ...last, events: setAside(last, () => tools.reserve(tokens)) };
    };
    let end: LoopEnd | undefined;
    for await (const event of runLoop(loop, { upstreams: { ask }, runCall: callWith(tools) })) {
      if (event.type === 'call-end') {
        const { round, index, name, status } = event;
        calls.push({ round, index, name, status });
      }
      if (event.type === 'loop-end') end = event;
    }
    if (end === undefined || end.reason === 'cancelled') {
      const error = new HotcellError('cancelled', 'The call ended before the model answered.');
      return { ok: false, error, isBilled: true };
    }
    const { answer, usage, reason, pressedBy } = end;
    const result = toResult({ ...answer, usage }, { target: () => last?.target(), isBilled: () => true });
    if (!result.ok) return result;
    const bound = pressedBy ?? (usualEnds.has(reason) ? undefined : reason);
    const inOrder = calls.sort((a, b) => a.round - b.round || a.index - b.index).map(({ name, status }) => ({ name, status }));
    return { ...result, ...(bound !== undefined && { finishReason: bound }), calls: inOrder };
  };
}

/** A call of the model is one within the call of the plugin. */
function callWith({ call }: TextTools): RunLoopCall {
  return async ({ loopId, round, planned, signal }) => {
    try {
      return toRanCall(await call(planned.tool.ref, planned.arguments, `${loopId} ${round}`, signal));
    } catch (error) {
      if (error instanceof HotcellError && error.code !== 'shutting-down') return toRefusedCall(error);
      throw error;
    }
  };
}

/** Every round is set aside in the budget of the plugin before the model is asked, as one without tools is. */
async function* setAside(answer: UpstreamAnswer, reserve: () => ReturnType<TextTools['reserve']>): AsyncGenerator<StreamEvent> {
  const reserved = reserve();
  let used: number | undefined;
  let isOver = false;
  try {
    for await (const event of answer.events) {
      const isLast = event.type === 'answer-end' || event.type === 'answer-failed';
      if (isLast && event.usage !== undefined) used = event.usage.inputTokens + event.usage.outputTokens;
      yield event;
      isOver ||= isLast;
    }
  } finally {
    reserved.settle(used ?? (isOver && !answer.isBilled() ? 0 : undefined));
  }
}
