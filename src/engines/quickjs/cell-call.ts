import { randomFillSync } from 'node:crypto';
import { type BorderCrossing, type BorderHost, type LogLine, unanswered } from '../../border/border.ts';
import { pendingBytesOf } from '../../border/call-meter.ts';
import { Recorder } from '../../border/recorder.ts';
import type { QueuePlace } from '../../concurrency/fair-queue.ts';
import type { Holder } from '../../concurrency/place-count.ts';
import { countedAs } from '../../config/counted-callers.ts';
import { readSeed } from '../earlier-answers.ts';
import type { Program, RunOutcome, RunRequest, RunUsage } from '../engine.ts';
import type { FailedRun } from '../run-outcome.ts';
import type { CallSliceResult, CallStart, DeliveredAnswer, SliceBudget } from './protocol.ts';
import type { WorkerThread } from './schedule/worker-thread.ts';
import { ordinaryKey } from './suspend/resumed-program.ts';
import type { SpentBudget, SuspendedCall } from './suspend/suspended-call.ts';

/** Whose cell it is: admins have a reserve. */
export type CellHolder = Pick<Holder, 'callerId' | 'isAdmin'>;

/** The memory of one cell, wherever it is: not begun, in a worker thread, on its way out of one, or here. */
export interface CellMemory {
  readonly id: number;
  readonly program: Program;
  /** A call is in it, from its start to its end. */
  isInUse: boolean;
  /** Whose session a kept cell is; absent for one that callers share. */
  ownerId?: string;
  place:
    | { kind: 'new' }
    | { kind: 'resident'; thread: WorkerThread }
    | { kind: 'moving'; from: WorkerThread }
    | { kind: 'parked'; delta: Uint8Array }
    | { kind: 'stored'; file: string; bytes: number };
}

/** One call between its start and its end. */
export interface CellCall {
  readonly request: RunRequest;
  readonly host: BorderHost;
  readonly cell: CellMemory;
  readonly keepCell: boolean;
  /** It runs a hook of the plugin, not a handler. */
  readonly isHook: boolean;
  readonly seed: readonly [number, number, number];
  readonly startedAtMs: number;
  state: 'queued' | 'running' | 'waiting' | 'ended';
  /** What the turns of calls that can run go round over. */
  readonly callerId: string;
  readonly isAdmin: boolean;
  readonly unitPath: string;
  /** Its place among the calls that can run. */
  place: QueuePlace<CellCall> | undefined;
  /** When it became runnable last, as performance.now() tells. */
  queuedAt: number;
  start: CallStart | undefined;
  answers: DeliveredAnswer[];
  /** Questions without an answer yet; aborting ends the work behind them. */
  readonly open: Map<number, OpenQuestion>;
  readonly used: SpentBudget;
  readonly recorder: Recorder;
  /** What is left of what an earlier run was answered at once. */
  answered: BorderCrossing[] | undefined;
  /** How far the clock of that run was behind ours. */
  readonly clockOffsetMs: number;
  thread: WorkerThread | undefined;
  /** Set when the call was ended from outside while its slice runs. */
  ending: FailedRun | undefined;
  readonly finish: (outcome: RunOutcome) => void;
}

/** A question on its way. */
export interface OpenQuestion {
  readonly op: string;
  readonly payload: string;
  readonly body?: Uint8Array | undefined;
  /** Payload and body. */
  readonly bytes: number;
  readonly cancel: () => void;
  /** When it is over, as performance.now() tells, if the question is a timer. */
  readonly firesAt?: number;
}

/** Notes what a slice used, logged and recorded. */
export function noteSlice(call: CellCall, result: CallSliceResult): void {
  call.used.cpuMs += result.cpuMs;
  call.used.hostCalls += result.hostCalls;
  for (const line of result.logs ?? []) noteLine(call, line);
  for (const name of result.deniedNames ?? []) call.host.deniedName?.(name);
  for (const progress of result.progress ?? []) call.host.progress(progress);
  call.used.progress = (call.used.progress ?? 0) + (result.progress?.length ?? 0);
  for (const crossing of result.crossings ?? []) {
    call.recorder.add(crossing);
    if (call.answered !== undefined) call.answered = withoutFirst(call.answered, crossing);
  }
  if (result.crossingsDropped) call.recorder.leaveOut();
}

function withoutFirst(list: BorderCrossing[], { op, payload }: BorderCrossing): BorderCrossing[] {
  const used = list.findIndex((other) => other.op === op && other.payload === payload);
  return used < 0 ? list : list.toSpliced(used, 1);
}

/** Notes what nobody will answer any more, so that a replay of the call waits for it too. */
export function noteUnanswered({ open, recorder }: CellCall): void {
  for (const [id, { op, payload }] of open) recorder.add({ id, op, payload, answer: unanswered });
}

/** Beyond the limits comes only what says that the log is full: every slice says so, the call once. */
function noteLine({ used, request: { limits }, host }: CellCall, line: LogLine): void {
  const isBeyond = used.logLines >= limits.logLines || used.logBytes >= limits.logBytes;
  if (isBeyond && used.isLogFull === true) return;
  used.isLogFull = isBeyond;
  used.logLines++;
  used.logBytes += Buffer.byteLength(line.text);
  host.log(line);
}

/** What is left of the limits of a call for its next slice. */
export function budgetOf(call: CellCall): SliceBudget {
  const { limits } = call.request;
  let openBytes = 0;
  for (const { bytes } of call.open.values()) openBytes += bytes;
  return {
    cpuMs: Math.max(1, limits.cpuMs - call.used.cpuMs),
    memoryBytes: limits.memoryBytes,
    stackBytes: limits.stackBytes,
    outputBytes: limits.outputBytes,
    logBytes: Math.max(0, limits.logBytes - call.used.logBytes),
    logLines: Math.max(0, limits.logLines - call.used.logLines),
    progress: Math.max(0, limits.logLines - (call.used.progress ?? 0)),
    hostCalls: Math.max(0, limits.hostCalls - call.used.hostCalls),
    pendingHostCalls: limits.pendingHostCalls,
    pendingHostBytes: Math.max(0, pendingBytesOf(limits.argumentBytes) - openBytes),
  };
}

/** What a call used. */
export function usageOf(call: CellCall): RunUsage {
  return { cpuMs: call.used.cpuMs, hostCalls: call.used.hostCalls, logLines: call.used.logLines };
}

/** A hook of the plugin with one JSON argument, run like a call. */
export interface Hook {
  readonly name: 'onReload' | 'healthcheck';
  readonly argumentJson: string;
}

/** A call that is about to start. */
export function createCellCall(parts: {
  request: RunRequest;
  host: BorderHost;
  cell: CellMemory;
  hook: Hook | undefined;
  /** What the call was when it was suspended; it goes on from there. */
  resumed?: SuspendedCall;
  finish: (outcome: RunOutcome) => void;
}): CellCall {
  const { request, hook, resumed } = parts;
  const { earlier } = request;
  const seed = resumed?.seed ?? readSeed(earlier?.seed) ?? drawSeed();
  const startedAtMs = resumed?.startedAtMs ?? earlier?.startedAtMs ?? Date.now();
  const facts = {
    executionId: request.executionId,
    caller: request.caller,
    session: request.session,
    outputBytes: request.limits.outputBytes,
    seed,
  };
  return {
    request,
    host: parts.host,
    cell: parts.cell,
    keepCell: request.isolation !== 'call',
    isHook: hook !== undefined,
    seed,
    startedAtMs,
    state: 'queued',
    ...holderOf(request),
    unitPath: ordinaryKey(request.program.key),
    place: undefined,
    queuedAt: 0,
    start: resumed
      ? undefined
      : {
          hook: hook?.name,
          handler: request.handler === 'default' ? undefined : request.handler,
          argumentsJson: hook?.argumentJson ?? request.argumentsJson,
          factsJson: JSON.stringify(facts),
        },
    answers: [],
    open: new Map(),
    used: resumed ? { ...resumed.used } : { cpuMs: 0, hostCalls: 0, logLines: 0, logBytes: 0 },
    recorder: new Recorder({ seed: seed.join(','), startedAtMs }, resumed),
    answered: earlier?.answered && [...earlier.answered],
    clockOffsetMs: earlier ? earlier.startedAtMs - Date.now() : 0,
    thread: undefined,
    ending: undefined,
    finish: parts.finish,
  };
}

/** On whose account the memory of a call goes. */
export function holderOf({ caller, holder: { isAdmin } }: RunRequest): CellHolder {
  return { callerId: countedAs(caller), isAdmin };
}

let lastCell = 0;

/** A cell with a number that no other cell of the process has: a thread may come to another engine. */
export function newCell(program: Program): CellMemory {
  return { id: ++lastCell, program, isInUse: false, place: { kind: 'new' } };
}

const SEED_WORDS = 3;
const seeds = new Uint32Array(SEED_WORDS * 64);
let nextSeed = 0;

/** Seeds are drawn in advance, many at a time: a system call for each would cost as much as a restore. */
function drawSeed(): readonly [number, number, number] {
  if (nextSeed === 0) randomFillSync(seeds);
  const at = nextSeed;
  nextSeed = (at + SEED_WORDS) % seeds.length;
  return [seeds[at] ?? 0, seeds[at + 1] ?? 0, seeds[at + 2] ?? 0];
}

/** What a waiting call is beside its memory, as of now. */
export function describeWaiting(call: CellCall, now: number): Omit<SuspendedCall, 'base' | 'image' | 'delta'> {
  return {
    programKey: call.request.program.key,
    seed: call.seed,
    startedAtMs: call.startedAtMs,
    used: { ...call.used },
    ...call.recorder.keep(),
    open: [...call.open].map(([id, { op, payload, body, firesAt }]) => ({
      id,
      op,
      payload,
      ...(body && { body }),
      ...(firesAt !== undefined && { firesInMs: Math.max(0, Math.round(firesAt - now)) }),
    })),
  };
}
