import { createHash } from 'node:crypto';
import type { Caller } from '../../callers/caller.ts';
import type { ToolPort, VisibleTool } from '../../capabilities/tools.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { ToolRegistry } from '../../tools/registry.ts';
import { isOpenTo } from '../../tools/seen-by-callers.ts';
import { metaTools } from '../../tools/shown-to-models.ts';
import { maxRefLength, parseToolRef } from '../../tools/tool-ref.ts';
import type { ToolEntry } from '../../tools/tool-types.ts';
import type { ActiveCall } from '../active-call.ts';
import type { StageParts } from '../call-parts.ts';
import type { CallAnswer, CallRequest } from '../call-types.ts';
import type { Dispatcher } from '../wait/dispatcher.ts';

/** What a running call asks for through `context.tools.call`. */
type NestedRequest = Parameters<ToolPort['call']>[1];

interface NestedParts extends Pick<StageParts, 'active'> {
  /** The call that was made for a question before the daemon ended, and goes on; it is found once. */
  readonly takeResumed: (executionId: string, question: number) => ActiveCall | undefined;
  readonly call: (request: CallRequest) => Promise<CallAnswer>;
  readonly dispatcher: Pick<Dispatcher, 'lendPlace' | 'takeBackPlace'>;
}

/** Calls that running calls make. They have the caller, the session and at most the time of the call above. */
export type NestedCalls = ReturnType<typeof createNestedCalls>;

/** Creates the calls within calls. */
export function createNestedCalls({ active, takeResumed, call, dispatcher }: NestedParts) {
  /** What a call answers that goes on after a restart, as the call above it does. */
  async function followResumed(executionId: string, question: number, signal: AbortSignal): Promise<CallAnswer> {
    const resumed = takeResumed(executionId, question);
    if (resumed === undefined) {
      throw new HotcellError(
        'interrupted',
        'The daemon stopped during this call; how far it came is in its record, and it is not made again.',
      );
    }
    const cancel = (): void => void resumed.stop('cancelled');
    signal.addEventListener('abort', cancel, { once: true });
    return resumed.answered.finally(() => signal.removeEventListener('abort', cancel));
  }

  return {
    /** Who made the call; undefined when it is over. */
    callerOf: (executionId: string): Caller | undefined => active.get(executionId)?.request.caller,
    /** Runs a call to its end; aborting cancels it. Rejects with a HotcellError when it was refused before it ran. */
    async call(
      executionId: string,
      { ref, arguments: args, timeoutMs, idempotencyKey, turn, question }: NestedRequest,
      signal: AbortSignal,
    ): Promise<CallAnswer> {
      const parent = active.get(executionId);
      if (parent === undefined) throw new HotcellError('cancelled', 'The call that wanted to call a tool is over.');
      const leftMs = Math.max(1, Math.floor(parent.deadline.leftMs()));
      const request: CallRequest = {
        ref,
        arguments: args,
        caller: parent.request.caller,
        session: parent.record.session,
        timeoutMs: timeoutMs === undefined ? leftMs : Math.min(timeoutMs, leftMs),
        parent: {
          executionId,
          chain: parent.chain,
          above: [...(parent.request.parent?.above ?? []), executionId],
          ...(question !== undefined && { question: question.id }),
        },
        signal,
        ...(parent.request.clientCan !== undefined && { clientCan: parent.request.clientCan }),
        ...(parent.request.isBuiltinOnly === true && { isBuiltinOnly: true }),
        ...((parent.entry.source === 'builtin' || turn !== undefined) && { isForModel: true }),
        ...(turn !== undefined && { turn }),
        ...(idempotencyKey !== undefined && { idempotencyKey: hideKey(parent.unitPath, idempotencyKey) }),
      };
      // While it waits for its children a call needs no place of its own: else parents could fill all places and wait for ever.
      dispatcher.lendPlace(parent);
      try {
        return await (question?.isAgain ? followResumed(executionId, question.id, signal) : call(request));
      } catch (error) {
        throw withoutOtherNames(error, ref);
      } finally {
        dispatcher.takeBackPlace(parent);
      }
    },
  };
}

function hideKey(unitPath: string, key: string): string {
  if (key === '') throw new HotcellError('arguments-invalid', 'An idempotency key must not be empty.');
  return `nested-${createHash('sha256')
    .update(JSON.stringify([unitPath, key]))
    .digest('base64url')}`;
}

/** Near names would tell a plugin of tools that it may not call. */
function withoutOtherNames(error: unknown, ref: string): unknown {
  if (!(error instanceof HotcellError) || error.code !== 'tool-unknown' || parseToolRef(ref).range !== undefined) return error;
  return new HotcellError('tool-unknown', `There is no tool "${ref.slice(0, maxRefLength)}".`, {
    fix: 'See context.tools.list() for the tools that can be called.',
  });
}

/** Makes of the call journey what `context.tools` needs. `nested` is asked late: the journey is made after the capabilities. */
export function createToolPort(parts: {
  readonly registry: Pick<ToolRegistry, 'list' | 'nameOf' | 'resolve'>;
  readonly nested: () => NestedCalls;
}): ToolPort {
  const { registry, nested } = parts;
  const seenBy = (caller: Caller) => (entry: ToolEntry) => isOpenTo(caller, entry) && !metaTools.has(entry.name);
  return {
    nameOf: registry.nameOf,
    list(executionId) {
      const caller = nested().callerOf(executionId);
      return caller === undefined ? [] : registry.list().filter(seenBy(caller)).map(describeTool);
    },
    find(executionId, ref) {
      const caller = nested().callerOf(executionId);
      if (caller === undefined) throw new HotcellError('cancelled', 'The call that wanted to call a tool is over.');
      return describeTool(registry.resolve(ref, seenBy(caller)));
    },
    call: (executionId, request, signal) => nested().call(executionId, request, signal),
  };
}

function describeTool({ name, version, manifest }: ToolEntry): VisibleTool {
  const { description, input, flags } = manifest;
  return { name, version, description, input, flags };
}
