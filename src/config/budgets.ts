import { defaultSettings as defaults } from './defaults.ts';
import { limitTable } from './limits.ts';

/** How many of something may be held: by one caller, of one plugin, by all together; and beyond that by admins alone. */
export interface PlaceBounds {
  readonly perCaller: number;
  readonly perPlugin: number;
  readonly inAll: number;
  readonly reserve: number;
}

/** Splits what there is so that one caller leaves some to another of the same plugin, and one plugin some to others. */
export function sharePlaces(inAll: number): PlaceBounds {
  const spare = Math.max(1, Math.floor(inAll / 4));
  const perPlugin = Math.max(1, inAll - spare);
  return { perCaller: Math.max(1, perPlugin - spare), perPlugin, inAll, reserve: spare };
}

/** The same for what there is a lot of: nobody but admins has the last tenth for himself. */
export function shareQueue(inAll: number): PlaceBounds {
  const spare = Math.floor(inAll / 10);
  return { perCaller: inAll - spare, perPlugin: inAll - Math.floor(spare / 2), inAll, reserve: Math.max(1, spare) };
}

/** Threads for WebAssembly beside those that one caller may have (`workers.max`). */
export const spareExtismThreads = 2;

/** Of what waiting cells hold in one place, one caller has three quarters at most, and the last eighth is for admins. */
export function shareWaiting(inAll: number) {
  return { perCaller: (inAll / 4) * 3, inAll, reserve: inAll / 8 };
}

/** What a budget counts. */
export type BudgetUnit =
  | 'bytes'
  | 'calls'
  | 'cells'
  | 'connections'
  | 'sessions'
  | 'events'
  | 'keys'
  | 'ms'
  | 'places'
  | 'questions'
  | 'rows'
  | 'tickets'
  | 'tokens';

/** One thing that callers can hold. A bound that is left out does not exist; the others always hold together. */
export interface Budget {
  /** What is held, in the words of the page. */
  readonly holds: string;
  readonly unit: BudgetUnit;
  /** Of one call, connection or plugin and caller together: `each` says of what. */
  readonly each?: { readonly of: string; readonly max: number };
  readonly perCaller?: number;
  readonly perPlugin?: number;
  readonly inAll?: number;
  /** Kept for admins: others never come nearer to `inAll` than this, or it lies beyond `inAll` where `atBound` says so. */
  readonly reserve?: number;
  /** What whoever passes the bound gets. */
  readonly atBound: string;
  /** The keys of the config that change it. */
  readonly settings?: readonly string[];
  /** Files in `test/` that reach the bound. */
  readonly tests: readonly string[];
}

const MIB = 1024 * 1024;
/** What one browser may be. */
export const browserBounds = { maxPages: 4, maxProcesses: 32, maxMemoryBytes: 1024 * MIB } as const;
/** A caller has one browser, and one of them is for admins. */
const browserPlaces: PlaceBounds = { perCaller: 1, perPlugin: 3, inAll: 3, reserve: 1 };
/** What `llm: true` grants a day. */
const llmTokens = 100_000;
const { queue, approvals, files, kv, executions, audit, workers, docker, generations, anonymous } = defaults;
const processMeans =
  'the next call waits for its turn, callers and then plugins in turn; admins have the reserve beyond the bound in all';
const asideMeans =
  'the question or the call of a tool is refused with `queue-full`; admins have the reserve beyond the bound in all';

/**
 * The one table of what a caller can hold. Whoever bounds something reads its numbers here or in the settings that a row
 * names; docs/limits.md is written from it by `npm run docs:limits`.
 */
export const budgets = {
  'call.time': {
    holds: 'time of a call, waiting included, but not the wait for a person',
    unit: 'ms',
    each: { of: 'call', max: limitTable.wallMs.default },
    atBound: 'the call ends as `timeout`',
    settings: ['limits.wallMs', 'pluginLimits'],
    tests: ['engines/quickjs/limits.test.ts', 'engines/process/deno/limits.test.ts'],
  },
  'call.memory': {
    holds: 'memory of a running cell',
    unit: 'bytes',
    each: { of: 'call', max: limitTable.memoryBytes.default },
    atBound: 'the call ends with `memory-exceeded`',
    settings: ['limits.memoryBytes', 'pluginLimits'],
    tests: ['engines/quickjs/limits.test.ts', 'engines/process/deno/limits.test.ts'],
  },
  'door.connections': {
    holds: 'connections to the doors',
    unit: 'connections',
    perCaller: 6144,
    inAll: 12_288,
    reserve: 512,
    atBound: 'the request is refused with `rate-limited`; all four are less where fewer than 25,600 descriptors may be open',
    tests: ['http/admission/shares.test.ts'],
  },
  'door.anonymous': {
    holds: 'connections that showed no token or key yet',
    unit: 'connections',
    inAll: 512,
    atBound: 'the oldest of them is closed',
    tests: ['http/quotas.test.ts'],
  },
  'door.anonymousSockets': {
    holds: 'WebSockets before `auth`',
    unit: 'connections',
    inAll: 64,
    atBound: 'the oldest of them is closed with 4429',
    tests: ['http/quotas.test.ts'],
  },
  'door.sockets': {
    holds: 'WebSockets',
    unit: 'connections',
    perCaller: 32,
    inAll: 256,
    reserve: 64,
    atBound: 'the handshake or `auth` is refused with `rate-limited`',
    tests: ['http/quotas.test.ts'],
  },
  'door.mcpSessions': {
    holds: 'sessions of MCP clients of the era that has them',
    unit: 'sessions',
    perCaller: 32,
    inAll: 512,
    reserve: 32,
    atBound:
      'of a caller the session ends that was idle longest; where all together have too many the new one is refused with 429',
    tests: ['mcp-door/sessions.test.ts'],
  },
  'door.streams': {
    holds: 'streams of events',
    unit: 'connections',
    perCaller: 32,
    inAll: 256,
    reserve: 64,
    atBound: 'a new stream is refused with `rate-limited`',
    tests: ['http/quotas.test.ts'],
  },
  'door.subscriptions': {
    holds: 'subscriptions to events over WebSockets',
    unit: 'places',
    each: { of: 'connection', max: 32 },
    perCaller: 64,
    inAll: 1024,
    reserve: 128,
    atBound: '`events.subscribe` is refused with `rate-limited`',
    tests: ['http/quotas.test.ts'],
  },
  'door.tickets': {
    holds: 'tickets that wait to be used',
    unit: 'tickets',
    perCaller: 64,
    inAll: 1000,
    reserve: 100,
    atBound: 'a new one is refused with `rate-limited`',
    tests: ['http/quotas.test.ts'],
  },
  'door.requests': {
    holds: 'requests under way',
    unit: 'calls',
    each: { of: 'WebSocket', max: 1024 },
    perCaller: 8192,
    inAll: 20_480,
    reserve: 1024,
    atBound: 'the request is refused with `rate-limited`',
    tests: ['http/admission/shares.test.ts', 'http/quotas.test.ts'],
  },
  'door.bodies': {
    holds: 'bodies over 16 KiB of requests under way',
    unit: 'bytes',
    perCaller: 64 * MIB,
    inAll: 256 * MIB,
    reserve: 64 * MIB,
    atBound: 'the request is refused with `rate-limited` before its body is read',
    tests: ['http/quotas.test.ts'],
  },
  'door.unread': {
    holds: 'answers over 16 KiB, and what waits behind 16 KiB on a WebSocket, that were sent and are not read yet',
    unit: 'bytes',
    perCaller: 64 * MIB,
    inAll: 256 * MIB,
    reserve: 64 * MIB,
    atBound:
      'of a caller: the answer is refused with `rate-limited`, and a WebSocket that was to be told an event is closed with 4408; in all: the connection whose answer waits longest is closed, of the caller who has most',
    tests: ['http/streams/unread-answers.test.ts'],
  },
  'gateway.answers': {
    holds: 'answers of models under way to clients of the gateway',
    unit: 'calls',
    perCaller: 1024,
    inAll: 4096,
    reserve: 256,
    atBound: 'the request is refused with `rate-limited`',
    tests: ['gateway/attacks.test.ts'],
  },
  'cells.memory': {
    holds: 'memory of calls that wait and of kept cells',
    unit: 'bytes',
    ...shareWaiting(defaults.waiting.maxMemoryBytes),
    atBound: 'the memory is put on the disk',
    settings: ['waiting.maxMemoryBytes'],
    tests: ['engines/quickjs/suspend/waiting-memory.test.ts'],
  },
  'cells.stored': {
    holds: 'the same on the disk',
    unit: 'bytes',
    ...shareWaiting(defaults.waiting.maxStoredBytes),
    atBound: 'a call that begins to wait ends with `waiting-memory-exceeded`, a kept cell is lost',
    settings: ['waiting.maxStoredBytes'],
    tests: ['engines/quickjs/suspend/waiting-memory.test.ts'],
  },
  'queue.waiting': {
    holds: 'calls that wait for their turn',
    unit: 'calls',
    ...shareQueue(queue.maxPending),
    perCaller: queue.maxPendingPerCaller,
    atBound: 'a new call is refused with `queue-full`; admins have the reserve beyond the bound in all',
    settings: ['queue.maxPending', 'queue.maxPendingPerCaller'],
    tests: ['tools/limits-of-queue.test.ts'],
  },
  'queue.running': {
    holds: 'calls that run, those that wait for something else included',
    unit: 'calls',
    ...shareQueue(queue.maxRunning),
    atBound: processMeans,
    settings: ['queue.maxRunning'],
    tests: ['tools/limits-of-queue.test.ts', 'tools/fairness.test.ts'],
  },
  'queue.turns': {
    holds: 'calls of a turn of a model that wait for the earlier calls of the turn',
    unit: 'calls',
    each: { of: 'turn', max: 100 },
    perCaller: 6000,
    // A turn calls many plugins.
    perPlugin: 10_000,
    inAll: 10_000,
    reserve: 1000,
    atBound: 'a new call is refused with `queue-full`; admins have the reserve beyond the bound in all',
    tests: ['calls/accept/call-turns.test.ts'],
  },
  'loop.running': {
    holds: 'loops of a model and its tools that run',
    unit: 'calls',
    perCaller: 1000,
    // A loop belongs to a caller, and to no plugin.
    perPlugin: 2000,
    inAll: 2000,
    reserve: 200,
    atBound: 'a new one is refused with `queue-full`; admins have the reserve beyond the bound in all',
    tests: ['loop/loops.test.ts'],
  },
  'loop.time': {
    holds: 'time of a loop, but not the wait for a person',
    unit: 'ms',
    each: { of: 'loop', max: 600_000 },
    atBound: 'it ends with the reason `deadline`',
    tests: ['loop/decide-round.test.ts', 'loop/run-loop.test.ts'],
  },
  'loop.turn': {
    holds: 'calls of one answer of a model that are run',
    unit: 'calls',
    each: { of: 'answer', max: 32 },
    atBound: 'the model reads of the others that they were not run',
    tests: ['loop/decide-round.test.ts'],
  },
  'loop.result': {
    holds: 'what a model reads of one call',
    unit: 'bytes',
    each: { of: 'call', max: 128 * 1024 },
    atBound: 'the result is cut, and says so',
    tests: ['loop/decide-round.test.ts'],
  },
  'loop.results': {
    holds: 'what a model reads of all calls of a loop',
    unit: 'bytes',
    each: { of: 'loop', max: MIB },
    atBound: 'the model is asked once more, without tools',
    tests: ['loop/decide-round.test.ts'],
  },
  'loop.answer': {
    holds: 'one answer of a model in a loop',
    unit: 'bytes',
    each: { of: 'answer', max: 8 * MIB },
    atBound: 'the loop ends with the reason `model-failed`',
    tests: ['loop/run-loop.test.ts'],
  },
  'loop.steering': {
    holds: 'messages that wait to be taken into a loop between two rounds',
    unit: 'rows',
    each: { of: 'loop', max: 32 },
    atBound: 'the next is refused with `queue-full`',
    tests: ['loop/loops.test.ts'],
  },
  'extism.places': {
    holds: 'WebAssembly calls that run',
    unit: 'places',
    ...sharePlaces(workers.max + spareExtismThreads),
    atBound: processMeans,
    settings: ['workers.max'],
    tests: ['queues/places.test.ts', 'promises/engines/places.test.ts'],
  },
  'extism.aside': {
    holds: 'WebAssembly calls that wait for a person, a model or another tool',
    unit: 'places',
    ...sharePlaces(32),
    atBound: asideMeans,
    tests: ['queues/places.test.ts', 'promises/engines/places.test.ts'],
  },
  'deno.places': {
    holds: 'calls in Deno processes',
    unit: 'places',
    ...sharePlaces(16),
    atBound: processMeans,
    tests: ['queues/places.test.ts', 'promises/engines/places.test.ts'],
  },
  'deno.aside': {
    holds: 'calls in Deno processes that wait for a person, a model or another tool',
    unit: 'places',
    ...sharePlaces(16),
    atBound: asideMeans,
    tests: ['queues/places.test.ts', 'promises/engines/places.test.ts'],
  },
  'docker.places': {
    holds: 'calls of plugins in containers',
    unit: 'places',
    ...sharePlaces(docker.maxRunning),
    atBound: processMeans,
    settings: ['docker.maxRunning'],
    tests: ['queues/places.test.ts', 'promises/engines/places.test.ts'],
  },
  'docker.aside': {
    holds: 'calls of plugins in containers that wait for a person, a model or another tool',
    unit: 'places',
    ...sharePlaces(16),
    atBound: asideMeans,
    tests: ['queues/places.test.ts', 'promises/engines/places.test.ts'],
  },
  'docker.commands': {
    holds: 'commands in containers that run',
    unit: 'places',
    ...sharePlaces(docker.maxRunning),
    atBound: processMeans,
    settings: ['docker.maxRunning'],
    tests: ['engines/process/docker/command/container-places.test.ts'],
  },
  'docker.commandQueue': {
    holds: 'commands that wait for a container',
    unit: 'places',
    ...shareQueue(docker.maxWaiting),
    atBound: 'the command is refused with `queue-full`; admins have the reserve beyond the bound in all',
    settings: ['docker.maxWaiting'],
    tests: ['engines/process/docker/command/container-places.test.ts'],
  },
  'schedules.kept': {
    holds: 'calls that are made later',
    unit: 'calls',
    perCaller: 100,
    perPlugin: 1000,
    inAll: 1000,
    reserve: 100,
    atBound: 'a new one is refused with `quota-exceeded`; admins have the reserve beyond the bound in all',
    tests: ['calls/schedule/schedule-book.test.ts'],
  },
  'browser.places': {
    holds: 'browsers that are open, each of one call with all that it calls',
    unit: 'places',
    ...browserPlaces,
    atBound: processMeans,
    tests: ['builtins/browser/browser.test.ts'],
  },
  'browser.pages': {
    holds: 'pages of a browser',
    unit: 'places',
    each: { of: 'browser', max: browserBounds.maxPages },
    atBound: 'a page beyond it is closed at once',
    tests: ['builtins/browser/browser.test.ts'],
  },
  'browser.processes': {
    holds: 'processes of a browser',
    unit: 'places',
    each: { of: 'browser', max: browserBounds.maxProcesses },
    atBound: 'the browser is killed, and the call ends with `memory-exceeded`',
    tests: ['builtins/browser/browser.test.ts'],
  },
  'browser.memory': {
    holds: 'memory of all processes of a browser, without what programs share',
    unit: 'bytes',
    each: { of: 'browser', max: browserBounds.maxMemoryBytes },
    atBound: 'the browser is killed, and the call ends with `memory-exceeded`',
    tests: ['builtins/browser/browser.test.ts'],
  },
  'replay.running': {
    holds: 'executions that are replayed',
    unit: 'places',
    perCaller: 2,
    perPlugin: 6,
    inAll: 8,
    reserve: 2,
    atBound: 'the replay is refused with `queue-full`; admins have the reserve beyond the bound in all',
    tests: ['replay/replay.test.ts'],
  },
  'cells.sessions': {
    holds: 'kept cells of the sandbox: of sessions, and of plugins that keep one for all',
    unit: 'cells',
    inAll: 256,
    atBound: 'the cell unused for longest goes, of the caller who has most; its next call is warned',
    tests: ['engines/quickjs/schedule/kept-cells.test.ts'],
  },
  'cells.kept': {
    holds: 'kept cells of Deno, and as many of Docker',
    unit: 'cells',
    inAll: 8,
    atBound: 'the cell unused for longest goes, of the caller who has most',
    tests: ['engines/process/deno/deno-engine.test.ts'],
  },
  'approvals.open': {
    holds: 'open questions to people',
    unit: 'questions',
    ...shareQueue(approvals.maxOpen),
    perCaller: approvals.maxOpenPerCaller,
    atBound:
      'what would ask is refused with `queue-full`; admins have the reserve beyond the bound in all; what plugins and hooks ask for themselves counts apart',
    settings: ['approvals.maxOpen', 'approvals.maxOpenPerCaller'],
    tests: ['permissions/approvals/approvals.test.ts'],
  },
  'approvals.details': {
    holds: 'what open questions to people show',
    unit: 'bytes',
    perCaller: 20 * MIB,
    inAll: 64 * MIB,
    reserve: 20 * MIB,
    atBound: 'what would ask is refused with `queue-full`; admins have the reserve beyond the bound in all',
    tests: ['permissions/approvals/approvals.test.ts'],
  },
  'disk.workspace': {
    holds: 'files in the workspace of a caller',
    unit: 'bytes',
    perCaller: files.workspaceQuotaBytes,
    atBound: 'the write is refused with `quota-exceeded`',
    settings: ['files.workspaceQuotaBytes', 'files.maxFileBytes'],
    tests: ['capabilities/files.test.ts'],
  },
  'disk.kv': {
    holds: 'stored values (`context.kv`)',
    unit: 'bytes',
    each: { of: 'plugin and caller', max: kv.quotaBytes },
    atBound: 'the write is refused with `quota-exceeded`',
    settings: ['kv.quotaBytes', 'kv.maxValueBytes'],
    tests: ['capabilities/kv.test.ts'],
  },
  'disk.executions': {
    holds: 'records of calls',
    unit: 'rows',
    inAll: executions.keep,
    atBound: 'the oldest are removed',
    settings: ['executions.keep'],
    tests: ['store/tables/calls/executions.test.ts'],
  },
  'disk.executionBytes': {
    holds: 'records of calls with their recordings and logs',
    unit: 'bytes',
    inAll: executions.maxBytes,
    atBound: 'the oldest that ended go, of the caller who has most',
    settings: ['executions.maxBytes', 'executions.maxValueBytes', 'executions.maxRecordingBytes'],
    tests: ['store/tables/calls/executions.test.ts', 'promises/disk-budget.test.ts'],
  },
  'disk.recordings': {
    holds: 'recordings of successful calls',
    unit: 'rows',
    each: { of: 'tool', max: executions.keepRecordingsPerTool },
    atBound: 'the oldest of the tool is removed; a longer one than `executions.maxRecordingBytes` is not kept',
    settings: ['executions.keepRecordingsPerTool', 'executions.maxRecordingBytes'],
    tests: ['store/tables.test.ts'],
  },
  'disk.idempotencyKeys': {
    holds: 'idempotency keys that are remembered',
    unit: 'keys',
    perCaller: 200_000,
    inAll: 1_000_000,
    reserve: 100_000,
    atBound: 'a call with a new key is refused with `rate-limited`; keys of callers without a token are not remembered',
    settings: ['idempotency.keepMs'],
    tests: ['calls/accept/idempotency.test.ts'],
  },
  'disk.loops': {
    holds: 'loops of a model that run, and ends of those of the last day',
    unit: 'bytes',
    each: { of: 'loop', max: 32 * MIB },
    perCaller: 128 * MIB,
    inAll: 512 * MIB,
    reserve: 128 * MIB,
    atBound:
      'the oldest ends go, of the caller or of all; a loop that finds no room then runs all the same, but does not survive a restart',
    tests: ['loop/loops.test.ts'],
  },
  'disk.answers': {
    holds: 'answers of models that a later request may go on from',
    unit: 'bytes',
    each: { of: 'answer', max: 16 * MIB },
    perCaller: 64 * MIB,
    inAll: 512 * MIB,
    atBound: 'the oldest go, of the caller or of whoever has most; a longer one is not kept',
    settings: ['gateway.keepMs'],
    tests: ['gateway/kept-answers.test.ts'],
  },
  'disk.events': {
    holds: 'kept events',
    unit: 'events',
    inAll: 20_000,
    atBound: 'the oldest are removed',
    tests: ['store/tables.test.ts'],
  },
  'disk.eventBytes': {
    holds: 'what kept events tell',
    unit: 'bytes',
    inAll: 64 * MIB,
    atBound: 'the oldest are removed',
    tests: ['store/tables.test.ts', 'events/event-log.test.ts'],
  },
  'disk.generations': {
    holds: 'builds of a plugin, with their code and images',
    unit: 'rows',
    perPlugin: generations.keep,
    atBound: 'the oldest is removed, but never the one that serves',
    settings: ['generations.keep'],
    tests: ['plugins/supervisor.test.ts'],
  },
  'rate.modelBudgets': {
    holds: 'tokens and dollars of models; without a bound unless the key has one',
    unit: 'tokens',
    atBound: 'the request is refused with `model-budget-exceeded`, which says when the day ends, and `Retry-After`',
    tests: ['models/meter.test.ts'],
  },
  'disk.modelUses': {
    holds: 'names of models that are counted apart; kept for 90 days',
    unit: 'rows',
    each: { of: 'caller and day', max: 200 },
    atBound: 'more are counted together as `(other)`',
    tests: ['models/meter.test.ts'],
  },
  'models.lists': {
    holds: 'models of a provider that are remembered from its list',
    unit: 'rows',
    each: { of: 'provider', max: 1000 },
    inAll: 64_000,
    atBound: 'more of a provider are left out; of more than 64 providers the list that was read first is read anew',
    tests: ['models/model-lists.test.ts'],
  },
  'rate.models': {
    holds: 'tokens of `context.llm`, where the grant names no other number',
    unit: 'tokens',
    each: { of: 'plugin, caller and day', max: llmTokens },
    atBound: 'the request is refused with `quota-exceeded`, which says when the day ends',
    tests: ['capabilities/llm.test.ts'],
  },
  'rate.calls': {
    holds: 'calls a minute of a key, and its calls under way; without a bound unless one is set',
    unit: 'calls',
    atBound: 'the call is refused with `rate-limited` and `Retry-After`',
    settings: ['callers.ratePerMinute', 'callers.maxConcurrent'],
    tests: ['calls/accept/caller-limits.test.ts'],
  },
  'rate.anonymous': {
    holds: 'requests a minute without a token',
    unit: 'calls',
    each: { of: 'address', max: anonymous.ratePerMinute },
    atBound: 'the request is refused with `rate-limited` and `Retry-After`',
    settings: ['anonymous.ratePerMinute'],
    tests: ['http/admission/anonymous-callers.test.ts'],
  },
  'calls.anonymous': {
    holds: 'calls under way without a token',
    unit: 'calls',
    inAll: anonymous.maxConcurrent,
    atBound: 'the call is refused with `rate-limited` and `Retry-After`',
    settings: ['anonymous.maxConcurrent'],
    tests: ['calls/accept/caller-limits.test.ts'],
  },
  'keys.made': {
    holds: 'API keys that come of one that the operator made: itself, those made with it, and with those; revoked ones counted',
    unit: 'keys',
    perCaller: 1000,
    atBound: 'a new one is refused with `rate-limited`; the operator’s own token has no bound',
    tests: ['callers/key-ring.test.ts'],
  },
  'network.open': {
    holds: 'requests, responses and connections of plugins that are open',
    unit: 'connections',
    each: { of: 'call that reads on', max: 32 },
    perCaller: 2048,
    perPlugin: 3072,
    inAll: 4096,
    reserve: 256,
    atBound: 'the request is refused with `queue-full`; admins have the reserve beyond the bound in all',
    tests: ['capabilities/network/open-requests.test.ts', 'capabilities/network/streaming.test.ts'],
  },
  'hooks.waiting': {
    holds: 'events that wait for a hook',
    unit: 'events',
    each: { of: 'hook', max: 1000 },
    atBound: 'newer events are not told to it, and a `hook-problem` says so',
    tests: ['hooks/event-hooks.test.ts', 'hooks/hook-queues.test.ts'],
  },
  'disk.audit': {
    holds: 'rows of the audit',
    unit: 'rows',
    inAll: audit.keep,
    atBound: 'the oldest are removed',
    settings: ['audit.keep'],
    tests: ['operations/handlers/access/audit.test.ts'],
  },
} as const satisfies Record<string, Budget>;
