import type { Config } from '../../config/config-types.ts';
import { countedAs } from '../../config/counted-callers.ts';
import { isObject } from '../../config/json-object.ts';
import { describeValue } from '../../config/schema-faults.ts';
import { Deadline } from '../../engines/deadline.ts';
import type { GuestIssue } from '../../engines/throw-report.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { Approvals } from '../../permissions/approvals/approvals.ts';
import type { Store } from '../../store/store-types.ts';
import type { PreparedTool } from '../../tools/prepared-tool.ts';
import { seesTool } from '../../tools/seen-by-callers.ts';
import type { ToolEntry } from '../../tools/tool-types.ts';
import { type SchemaIssue, sayIssue } from '../../tools/validation/schema-issue.ts';
import { nameRunner } from '../../units/unit.ts';
import { ActiveCall } from '../active-call.ts';
import { askForApproval } from '../approval.ts';
import type { BeforeCall, StageParts } from '../call-parts.ts';
import type { CallAnswer, CallRequest } from '../call-types.ts';
import { showAnswer } from '../record/execution-reader.ts';
import { createExecutionRecord } from '../record/execution-record.ts';
import { requireRunner } from '../runner.ts';
import { chooseTimeoutMs, isTimeoutMs } from '../time-limit.ts';
import type { Dispatcher } from '../wait/dispatcher.ts';
import { decideAdmission, type Refusal } from './admission.ts';
import type { CallerLimits } from './caller-limits.ts';
import { type Idempotency, sideEffectKeyOf } from './idempotency.ts';
import { checkNesting } from './nesting.ts';

/** What decides about a call before it enters. */
export interface AcceptParts
  extends Pick<StageParts, 'registry' | 'engines' | 'active' | 'now' | 'beforeCall' | 'switches' | 'toolUses'> {
  readonly config: Pick<Config, 'tools' | 'safeMode' | 'idempotency'>;
  readonly store: Pick<Store, 'problem'>;
  readonly approvals: Pick<Approvals, 'ask'>;
  readonly idempotency: Idempotency;
  readonly limits: CallerLimits;
  readonly dispatcher: Pick<Dispatcher, 'findFull'>;
  readonly prepare: (entry: ToolEntry) => PreparedTool;
  readonly nextId: () => string;
  readonly isDraining: () => boolean;
}

const maxSessionLength = 200;

/** Arguments that passed, as a value and as the one JSON text that is both the record and the input of the guest. */
interface CallArguments {
  readonly value: unknown;
  readonly json: string;
}

interface Examined extends CallArguments {
  readonly entry: ToolEntry;
  readonly tool: PreparedTool;
  readonly session: string;
}

/** Everything before the queue. */
export type Acceptance = ReturnType<typeof createAcceptance>;

/** Creates the acceptance of calls: resolve, admit, validate. */
export function createAcceptance(parts: AcceptParts) {
  const { config, registry, idempotency, dispatcher, switches, now } = parts;

  function findRefusal(
    entry: ToolEntry,
    { caller, isBuiltinOnly = false, isForModel = false }: CallRequest,
  ): Refusal | undefined {
    return decideAdmission({
      tool: entry.name,
      plugin: entry.plugin,
      areToolsEnabled: switches?.isOn('enabled') ?? config.tools.enabled,
      isCustomEnabled: (switches?.isOn('custom') ?? config.tools.custom) && !isBuiltinOnly,
      source: entry.source,
      isDraining: parts.isDraining(),
      safeMode: config.safeMode,
      mode: entry.manifest.mode,
      flags: entry.manifest.flags,
      who: entry.manifest.who,
      role: caller.role,
      isForModel,
      isolation: entry.served.unit.manifest.isolation,
      needsEngine: entry.served.unit.manifest.permissions.engine,
      granted: entry.served.granted,
      findFull: () =>
        dispatcher.findFull({
          callerId: countedAs(caller.id),
          unitPath: entry.served.unit.path,
          isAdmin: caller.role === 'admin',
        }),
    });
  }

  /** Everything that can be said against a call before anything is done for it. */
  function examine(request: CallRequest, isAdmitted: boolean): Examined {
    const entry =
      request.entry ??
      registry.resolve(request.ref, (each) => seesTool(request.caller, each) && (request.parent === undefined || !each.isSecond));
    const problem = parts.store.problem();
    if (problem !== undefined) throw problem;
    const refusal = findRefusal(entry, request);
    if (refusal !== undefined) throw new HotcellError(refusal.code, refusal.message, { fix: refusal.fix });
    if (!isAdmitted) parts.limits.admit(request);
    if (request.signal?.aborted === true) throw new HotcellError('cancelled', 'The call was cancelled before it began.');
    requireRunner(parts.engines, entry);
    const tool = parts.prepare(entry);
    const session = readSession(request);
    checkNesting(entry, request, { session, maxDepth: config.tools.maxDepth, active: parts.active });
    return { entry, tool, session, ...readArguments(request.arguments, entry, tool) };
  }

  /** Much may have changed while it was asked, so the call is examined again; it was taken from the rate already. */
  async function ask(beforeCall: BeforeCall, request: CallRequest, examined: Examined): Promise<ActiveCall | CallAnswer> {
    const { entry, tool, session, value } = examined;
    const { caller, parent, signal } = request;
    const check = (args: unknown): void => void readArguments(args, entry, tool);
    const question = { entry, arguments: value, caller, session, parent: parent?.executionId, signal, check };
    // The call counts as under way while somebody is asked about it.
    const leaveLimits = parts.limits.enter(request);
    let args: unknown;
    try {
      args = await beforeCall.ask(question);
    } finally {
      leaveLimits();
    }
    const asked = { ...request, arguments: args };
    return enter(asked, examine(asked, true));
  }

  function enter(request: CallRequest, { entry, tool, session, value, json }: Examined): ActiveCall | CallAnswer {
    const createdAtMs = now();
    const { served, name, version, plugin } = entry;
    const { id: caller } = request.caller;
    const idempotencyKey = request.idempotencyKey ?? null;
    const id = parts.nextId();
    const { sideEffectMs } = config.idempotency;
    const effectKey = idempotencyKey === null && sideEffectMs > 0 ? sideEffectKeyOf(entry, { session, arguments: value }) : null;
    const key = idempotencyKey ?? effectKey;
    const within = effectKey === null ? {} : { withinMs: sideEffectMs };
    const unitTool = `${served.unit.path}#${name}`;
    const keyUse = { caller: request.caller, tool: unitTool, key: key ?? '', arguments: value, executionId: id, ...within };
    const earlier = key === null ? undefined : idempotency.claim(keyUse);
    if (earlier !== undefined) return showAnswer(earlier, request.caller);
    const generation = served.unit.id;
    const facts = {
      id,
      tool: name,
      version,
      plugin,
      generation,
      caller,
      session,
      argumentsJson: json,
      createdAtMs,
      idempotencyKey,
      parent: request.parent?.executionId ?? null,
      engine: nameRunner(served.unit.runner),
    };
    const releaseKey = key === null ? undefined : () => idempotency.release(keyUse);
    const above = request.parent === undefined ? undefined : parts.active.get(request.parent.executionId);
    const call = new ActiveCall({
      request,
      entry,
      tool,
      record: createExecutionRecord(facts),
      deadline: new Deadline(chooseTimeoutMs(request.timeoutMs, tool.limits.wallMs), above?.deadline),
    });
    call.releaseKey = releaseKey;
    try {
      const endLease = served.lease();
      const leaveLimits = parts.limits.enter(request);
      call.leave = () => {
        leaveLimits();
        endLease();
      };
      parts.toolUses?.note(entry);
      request.onAccepted?.(id);
      call.approval = askForApproval(call, parts.approvals);
    } catch (error) {
      call.leave?.();
      releaseKey?.();
      throw error;
    }
    return call;
  }

  return {
    /** Why this caller may not call this tool just now. */
    findRefusal,
    /**
     * Throws the refusal, which leaves nothing behind. Returns the answer of an earlier execution, if there is one. A promise only
     * where somebody wants to be asked about the call first.
     */
    accept(request: CallRequest): ActiveCall | CallAnswer | Promise<ActiveCall | CallAnswer> {
      const examined = examine(request, false);
      const { beforeCall } = parts;
      return beforeCall?.wants(examined.entry) ? ask(beforeCall, request, examined) : enter(request, examined);
    },
  };
}

/** Checks the arguments of a call against its tool; absent ones are `{}`. Throws `arguments-invalid` or `payload-too-large`. */
function readArguments(given: unknown, entry: ToolEntry, tool: PreparedTool): CallArguments {
  const named = given ?? {};
  if (!isObject(named)) {
    throw new HotcellError(
      'arguments-invalid',
      `${sayTool(entry)} takes an object of named arguments, got ${describeValue(named)}.`,
    );
  }
  const sent = stringify(named, entry);
  const value = tool.fillDefaults === undefined ? named : tool.fillDefaults(named);
  const json = value === named ? sent : stringify(value, entry);
  const maxBytes = tool.limits.argumentBytes;
  // A UTF-16 unit is at most three bytes, so most texts need not be measured.
  if (json.length * 3 > maxBytes && Buffer.byteLength(json) > maxBytes) {
    const message = `The arguments of ${sayTool(entry)} are ${Buffer.byteLength(json)} bytes; at most ${maxBytes} are taken.`;
    throw new HotcellError('payload-too-large', message, { fix: 'Send less, or raise limits.argumentBytes.' });
  }
  const issues = tool.input.findIssues(value, json.length);
  if (issues !== undefined) throw refuseArguments(entry, issues);
  return { value, json };
}

/** Checks what else a door hands over unparsed. Returns the session. */
function readSession(request: CallRequest): string {
  const { session = 'default', timeoutMs } = request;
  if (session === '' || session.length > maxSessionLength) {
    const message = `A session has 1 to ${maxSessionLength} characters; this one has ${session.length}.`;
    throw new HotcellError('body-invalid', message);
  }
  if (timeoutMs !== undefined && !isTimeoutMs(timeoutMs)) {
    throw new HotcellError('body-invalid', `timeoutMs must be a number of at least 1, got ${String(timeoutMs)}.`);
  }
  return session;
}

function stringify(value: unknown, entry: ToolEntry): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    const reason =
      error instanceof RangeError ? 'they are nested too deeply' : 'they hold a cycle or a value that JSON does not know';
    throw new HotcellError('arguments-invalid', `The arguments of ${sayTool(entry)} are not JSON: ${reason}.`);
  }
}

/** The refusal of a schema of the plugin itself, which ran in the sandbox: the same as for a JSON Schema. */
export function refuseParsed(call: ActiveCall, issues: readonly GuestIssue[]): HotcellError {
  const { arguments: given = {} } = call.request;
  const said = issues.map(({ path, message }) => ({ path, expected: message, got: describeValue(findAt(given, path)), message }));
  return refuseArguments(call.entry, said, { executionId: call.record.id });
}

/** What stands at `items[0].name`. */
function findAt(value: unknown, path: string): unknown {
  let found = value;
  for (const key of path.split(/[.[\]]+/).filter((step) => step !== '')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined;
    found = Reflect.get(found, key);
  }
  return found;
}

function refuseArguments(
  entry: ToolEntry,
  issues: readonly SchemaIssue[],
  more: Readonly<Record<string, unknown>> = {},
): HotcellError {
  const message = `The arguments do not fit ${sayTool(entry)}: ${issues.map(sayIssue).join('; ')}.`;
  return new HotcellError('arguments-invalid', message, {
    facts: { tool: entry.name, version: entry.version, issues, ...more },
    fix:
      'offering' in entry
        ? 'Compare them with what it lists: hotcell prompt list, hotcell resource list.'
        : `Compare the arguments with the schema: hotcell tool info ${entry.name}.`,
  });
}

function sayTool(entry: ToolEntry): string {
  return `${entry.name}@${entry.version}`;
}
