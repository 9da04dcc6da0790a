import { HotcellError } from '../errors/hotcell-error.ts';
import type { EventLog } from '../events/event.ts';
import type { BeforeCall, CallQuestion } from '../tools/before-call.ts';
import type { HearingHook, HookBook } from './hook-book.ts';
import type { RunHook } from './hook-runner.ts';
import { readVerdict } from './verdict.ts';

/** A call waits for the answer, so it is short. */
const defaultTimeoutMs = 2000;

/**
 * Asks hooks about calls, one after the other in the order of their names; each sees the arguments as the one before it left
 * them. A hook that fails, is late or answers what nobody understands stops the call.
 */
export function createBeforeCall(parts: {
  readonly book: Pick<HookBook, 'isHeard' | 'findHearing'>;
  readonly run: RunHook;
  readonly events: Pick<EventLog, 'publish'>;
  /** Epoch ms. */
  readonly now: () => number;
}): BeforeCall {
  const { book, run, events, now } = parts;

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

  return {
    wants: ({ name }) => book.isHeard('tool:before', name),
    async ask(question) {
      const tool = question.entry.name;
      let args = question.arguments;
      for (const hook of book.findHearing('tool:before', tool)) {
        // While the one before ran it may have been revoked or edited.
        if (!hook.isCurrent()) continue;
        try {
          args = await askOne(hook, question, args);
        } catch (error) {
          if (error instanceof HotcellError && error.code !== 'cancelled') {
            const { code, message } = error;
            events.publish('hook-refusal', { subject: hook.name, data: { tool, code, message } });
          }
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

function fail({ name }: HearingHook, tool: string, what: string, executionId?: string): HotcellError {
  const where = executionId === undefined ? '' : ` Its run is ${executionId}.`;
  return new HotcellError('hook-failed', `The hook "${name}" ${what}, so this call of ${tool} did not begin.${where}`, {
    facts: { hook: name, ...(executionId === undefined ? {} : { executionId }) },
    fix: `Mend the hook or switch it off: hotcell hook revoke ${name}`,
  });
}
