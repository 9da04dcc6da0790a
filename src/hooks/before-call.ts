import Type from 'typebox';
import { Compile } from 'typebox/compile';
import type { BeforeCall, CallQuestion } from '../calls/call-parts.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { EventLog } from '../events/event.ts';
import { cleanUntrustedText } from '../permissions/untrusted-text.ts';
import type { HearingHook, HookRegistry } from './hook-registry.ts';
import type { RunHook } from './hook-runner.ts';

/** A call waits for the answer, so it is short. */
const defaultTimeoutMs = 2000;

/**
 * Asks hooks about calls, one after the other in the order of their names; each sees the arguments as the one before it left
 * them. A hook that fails, is late or answers what nobody understands stops the call.
 */
export function createBeforeCall(parts: {
  readonly registry: Pick<HookRegistry, 'isHeard' | 'findHearing' | 'findBlocking'>;
  readonly run: RunHook;
  readonly events: Pick<EventLog, 'publish'>;
  /** Epoch ms. */
  readonly now: () => number;
}): BeforeCall {
  const { registry, run, events, now } = parts;

  async function askOne(hook: HearingHook, question: CallQuestion, args: unknown): Promise<unknown> {
    const { entry: tool, session, signal } = question;
    const timeoutMs = hook.manifest.timeoutMs ?? defaultTimeoutMs;
    const entry = await hook.entry.catch((error: unknown) => {
      throw fail(hook, tool.name, error instanceof HotcellError ? `cannot run (${error.code})` : 'cannot run');
    });
    const answer = await run({ entry, event: describeCall(hook, question, args, now()), timeoutMs, session, signal }).catch(
      (error: unknown) => {
        throw fail(hook, tool.name, error instanceof HotcellError ? `could not be asked (${error.code})` : 'could not be asked');
      },
    );
    if (signal?.aborted) throw new HotcellError('cancelled', 'The call was cancelled before it began.');
    if (answer.status === 'timeout') throw fail(hook, tool.name, `did not answer within ${timeoutMs} ms`, answer.executionId);
    if (answer.status !== 'success') {
      throw fail(hook, tool.name, `failed (${answer.error?.code ?? answer.status})`, answer.executionId);
    }
    const verdict = readVerdict(answer.output);
    switch (verdict?.kind) {
      case undefined:
        throw fail(hook, tool.name, 'answered what is neither a veto nor arguments', answer.executionId);
      case 'veto':
        throw new HotcellError('hook-refused', `The hook "${hook.name}" refused this call of ${tool.name}: ${verdict.reason}`, {
          facts: { hook: hook.name, executionId: answer.executionId },
        });
      case 'pass':
        return args;
      case 'change':
        try {
          question.check(verdict.arguments);
        } catch (error) {
          if (!(error instanceof HotcellError)) throw error;
          throw fail(hook, tool.name, `changed the arguments into ones that do not fit (${error.message})`, answer.executionId);
        }
        return verdict.arguments;
    }
  }

  function tellRefusal(hook: string, tool: string, error: unknown): void {
    if (!(error instanceof HotcellError) || error.code === 'cancelled') return;
    const { code, message } = error;
    events.publish('hook-refusal', { subject: hook, data: { tool, code, message } });
  }

  return {
    wants: ({ name }) => registry.isHeard('tool:before', name),
    async ask(question) {
      const tool = question.entry.name;
      let args = question.arguments;
      const hearing = registry.findHearing('tool:before', tool);
      for (const { name } of registry.findBlocking(tool)) {
        const error = describeChanged(name, tool);
        tellRefusal(name, tool, error);
        throw error;
      }
      for (const hook of hearing) {
        try {
          // While the one before ran it may have been revoked or edited.
          const standing = hook.check();
          if (standing === 'revoked') continue;
          if (standing === 'changed') throw describeChanged(hook.name, tool);
          args = await askOne(hook, question, args);
        } catch (error) {
          tellRefusal(hook.name, tool, error);
          throw error;
        }
      }
      return args;
    },
  };
}

function describeCall({ subscription }: HearingHook, question: CallQuestion, args: unknown, nowMs: number) {
  const { entry, caller, session, parent } = question;
  const { event, type, action } = subscription;
  const { name: tool, version, plugin } = entry;
  const context = { tool, version, plugin, arguments: args, caller: caller.id, session, ...(parent ? { parent } : {}) };
  return { event, type, action, sessionKey: session, timestamp: nowMs, context };
}

function describeChanged(hook: string, tool: string): HotcellError {
  const message = `The files of the hook "${hook}" changed since it was approved to watch over calls, so this call of ${tool} did not begin.`;
  return new HotcellError('hook-failed', message, {
    facts: { hook },
    fix: `Look at what it is now, then approve or revoke it: hotcell hook show ${hook}, hotcell hook approve ${hook}, hotcell hook revoke ${hook}`,
  });
}

function fail({ name }: HearingHook, tool: string, what: string, executionId?: string): HotcellError {
  const where = executionId === undefined ? '' : ` Its run is ${executionId}.`;
  return new HotcellError('hook-failed', `The hook "${name}" ${what}, so this call of ${tool} did not begin.${where}`, {
    facts: { hook: name, ...(executionId === undefined ? {} : { executionId }) },
    fix: `Mend the hook or switch it off: hotcell hook revoke ${name}`,
  });
}

/** What a hook says about a call that is about to begin. */
export type Verdict =
  | { readonly kind: 'pass' }
  | { readonly kind: 'veto'; readonly reason: string }
  | { readonly kind: 'change'; readonly arguments: Readonly<Record<string, unknown>> };

const maxReasonChars = 500;

// The second spelling is that of hooks in the wild: block, blockReason or reason, params.
const answer = Compile(
  Type.Object(
    {
      veto: Type.Optional(Type.String()),
      arguments: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
      block: Type.Optional(Type.Boolean()),
      blockReason: Type.Optional(Type.String()),
      reason: Type.Optional(Type.String()),
      params: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    },
    { additionalProperties: false },
  ),
);

/**
 * Reads what a handler of `tool:before` returned: nothing lets the call pass, `{ veto: "…" }` stops it, `{ arguments: {…} }`
 * changes it. Undefined for anything else, which must stop the call too: a veto with a typing error is no leave to go on.
 */
export function readVerdict(output: unknown): Verdict | undefined {
  if (output === undefined || output === null) return { kind: 'pass' };
  if (!answer.Check(output)) return undefined;
  if (output.veto !== undefined) return { kind: 'veto', reason: bound(output.veto) };
  if (output.block === true) return { kind: 'veto', reason: bound(output.blockReason ?? output.reason ?? '') };
  const changed = output.arguments ?? output.params;
  return changed === undefined ? { kind: 'pass' } : { kind: 'change', arguments: changed };
}

/** One line that hides nothing: a model and a terminal read it. */
function bound(text: string): string {
  return cleanUntrustedText(text, maxReasonChars) || 'it gave no reason.';
}
