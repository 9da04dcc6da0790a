import type { BorderHost } from '../../border/border.ts';
import { Recorder, recordView } from '../../border/recorder.ts';
import { answerAside, createPlaces, type Place } from '../../concurrency/engine-places.ts';
import { type Limits, resolveLimits } from '../../config/limits.ts';
import type { PlaceBounds } from '../../config/quotas/quota.ts';
import { quotas } from '../../config/quotas.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { Deadline, watchDeadline } from '../deadline.ts';
import { type Engine, type GuestError, type LoadRequest, noUsage, type RunOutcome, type RunRequest } from '../engine.ts';
import { createLoopWaker } from '../event-loop-waker.ts';
import { createRunEnd, type RunEnd } from '../run-end.ts';
import { describeStop } from '../run-outcome.ts';
import { type CompiledModule, createModuleCache } from './module/module-cache.ts';
import { checkModule } from './module/module-contract.ts';
import { callExport, describeExport, describeServlet, readServletAnswer, writeServletCall } from './module/servlet.ts';
import { readEmbeddedSidecar, type Sidecar } from './module/sidecar.ts';
import { describeOutput, describeTaskEnd } from './run-outcome.ts';
import { GuestFault } from './worker/guest-fault.ts';
import type { CallBounds, ModuleCall } from './worker/worker-messages.ts';
import { createWorkerPool } from './worker/worker-pool.ts';

/** How many threads run WebAssembly calls at once, how many may sleep beside them, and how many idle ones stay ready. */
export interface ExtismEngineOptions {
  readonly places?: PlaceBounds;
  readonly aside?: PlaceBounds;
  readonly keepWarm?: number;
}

/** One call with its place. */
interface PlacedCall {
  readonly request: RunRequest;
  readonly host: BorderHost;
  readonly callEnd: RunEnd;
  readonly place: Place;
}

const slowDescribe = new GuestFault('time-exceeded', 'The export describe did not answer within its time.');
/** A call that takes less is worth staying awake for. */
const shortMs = 0.5;

/**
 * Runs `.wasm` modules of the Extism ABI: every call in a fresh instance, in a worker thread that is ended when the call
 * passes its limits. A module reaches nothing by itself: network, kv and other tools are asked of the daemon, over the border.
 * Program code is what `embedSidecar` returns.
 */
export function createExtismEngine(options: ExtismEngineOptions = {}): Engine {
  const { places: inside = quotas['extism.places'], aside = quotas['extism.aside'], keepWarm = 2 } = options;
  const places = createPlaces({ inside, aside, engine: 'extism' });
  // One that loads says what it has, beside calls.
  const maxWorkers = 1 + inside.inAll + inside.reserve + aside.inAll + aside.reserve;
  const pool = createWorkerPool({ maxWorkers, keepWarm });
  // Compilation has a worker of its own, so that calls which use up all others do not hold up a reload.
  const compilers = createWorkerPool({ maxWorkers: 1, keepWarm: 1 });
  const modules = createModuleCache(compilers);
  const closing = new AbortController();
  let running = 0;
  let lastTookMs = 0;
  const loopWaker = createLoopWaker({ isAwaited: () => running === 1 });

  /** What a module says of its tools: nobody's call, which may ask nothing. */
  const describeTools = async ({ limits }: LoadRequest, { sidecar, module, key }: CompiledModule): Promise<unknown> => {
    if (!sidecar.isServlet) return sidecar.exported;
    const timer = new AbortController();
    const stopWatch = watchDeadline(new Deadline(limits.wallMs), () => timer.abort(slowDescribe));
    const call = {
      moduleKey: key,
      module,
      exportName: describeExport,
      input: '',
      config: sidecar.config,
      denied: {},
      facts: { executionId: '', caller: '', session: '', settings: {} },
      bounds: boundsOf({ ...limits, hostCalls: 0 }),
    };
    try {
      const end = await pool.run({ type: 'run', call }, { cpuMs: limits.cpuMs, signal: timer.signal });
      if (end.type === 'report' && end.report.type === 'returned') return describeServlet(sidecar.exported, end.report.output);
      const outcome = describeTaskEnd(end, 'deadline', limits);
      const error = outcome.status === 'success' ? undefined : outcome.error;
      throw new GuestFault(error?.code ?? 'load-failed', `The export describe failed: ${error?.message ?? key}`);
    } finally {
      stopWatch();
    }
  };

  const runCall = async (request: RunRequest, host: BorderHost, callEnd: RunEnd): Promise<RunOutcome> => {
    const { program, limits, isolation, holder } = request;
    const found = modules.get(program.key, limits.memoryBytes, async () => toBytes(await program.readCode()));
    const compiled = found instanceof Promise ? await callEnd.race(found) : found;
    checkIsolation(isolation);
    const call = prepareCall(compiled, request, host);
    const entered = places.enter(holder, callEnd.signal);
    const place = entered instanceof Promise ? await entered : entered;
    try {
      const outcome = await runPlaced(call, { request, host, callEnd, place });
      return compiled.sidecar.isServlet ? readServletOutcome(outcome) : outcome;
    } finally {
      place.leave();
    }
  };

  const runPlaced = async (call: ModuleCall, { request, host, callEnd, place }: PlacedCall): Promise<RunOutcome> => {
    const { limits, earlier } = request;
    const { signal } = callEnd;
    const recorder = new Recorder({ seed: '', startedAtMs: earlier?.startedAtMs ?? Date.now() });
    const view = recordView(host.view());
    if (view) recorder.add(view);
    const startedAt = performance.now();
    running += 1;
    loopWaker.note(running === 1 && lastTookMs < shortMs);
    const task = pool.run(
      { type: 'run', call },
      { cpuMs: limits.cpuMs, signal },
      {
        onLog: (line) => host.log(line),
        onDenied: (name) => host.deniedName?.(name),
        onAsk: async ({ id, op, payload, body }) => {
          const asked = { id, op, payload, ...(body && { body }) };
          const answer = await answerAside(place, host, asked, { question: signal, call: signal });
          recorder.add({ id, op, payload, answer });
          return answer;
        },
      },
    );
    const end = await task.finally(() => {
      running -= 1;
    });
    lastTookMs = performance.now() - startedAt;
    const { crossings = [], isCut = false } = (end.type === 'report' && 'usage' in end.report && end.report.usage.drawn) || {};
    for (const crossing of crossings) recorder.add(crossing);
    if (isCut) recorder.leaveOut();
    return { ...describeTaskEnd(end, callEnd.reason(), limits), recording: recorder.recording() };
  };

  return {
    name: 'extism',
    async load(request) {
      try {
        const bytes = toBytes(request.code);
        const { memoryBytes } = resolveLimits(request.limits, definedMemory(readEmbeddedSidecar(bytes)));
        const compiled = await modules.get(request.key, memoryBytes, async () => bytes);
        // The first call after a save need not wait for a thread to start.
        pool.warm();
        checkModule(compiled.shape, compiled.sidecar);
        checkIsolation(compiled.sidecar.exported.isolation);
        return { ok: true, exported: { default: await describeTools(request, compiled), named: {} }, warnings: [] };
      } catch (error) {
        return { ok: false, error: toGuestError(error) };
      }
    },
    async run(request, host, signal) {
      const callEnd = createRunEnd(request.deadline, [signal, closing.signal]);
      // The order of its places decides who runs: other engines need not wait for those in line here.
      host.waiting?.(true);
      try {
        return await runCall(request, host, callEnd);
      } catch (error) {
        const reason = callEnd.reason();
        if (reason) return { ...describeStop(reason, request.limits), usage: noUsage };
        return { status: 'error', error: toGuestError(error), usage: noUsage };
      } finally {
        callEnd.close();
      }
    },
    warm: () => pool.warm(),
    discard(target) {
      // Every call has an instance of its own, so a cell key has nothing to forget.
      if (target.programKey !== undefined) modules.delete(target.programKey);
    },
    async close() {
      closing.abort();
      await Promise.all([pool.close(), compilers.close()]);
    },
  };
}

function checkIsolation(isolation: unknown): void {
  if (isolation === undefined || isolation === 'call') return;
  throw new GuestFault('not-supported', `A WebAssembly plugin runs with isolation "call"; it asks for "${String(isolation)}".`);
}

function readServletOutcome(outcome: RunOutcome): RunOutcome {
  if (outcome.status !== 'success') return outcome;
  const { output, ...spent } = outcome;
  const answer = readServletAnswer(typeof output === 'string' ? output : JSON.stringify(output));
  if ('error' in answer) return { ...spent, status: 'error', error: answer.error };
  return { ...spent, ...describeOutput(answer.output, spent.usage) };
}

function prepareCall({ key, module, sidecar }: CompiledModule, request: RunRequest, host: BorderHost): ModuleCall {
  const { limits, handler, argumentsJson, executionId, caller, session, earlier } = request;
  const { isServlet, exportByHandler } = sidecar;
  const exportName = isServlet ? callExport : exportByHandler.get(handler);
  if (exportName === undefined) {
    throw new GuestFault('engine-failed', `The sidecar names no export for the handler "${handler}".`);
  }
  const view = host.view();
  return {
    moduleKey: key,
    module,
    exportName,
    input: isServlet ? writeServletCall(handler, argumentsJson) : argumentsJson,
    config: { ...sidecar.config, ...toTexts(view.config), ...view.env },
    denied: view.denied,
    facts: { executionId, caller, session, settings: withoutTexts(view.config) },
    bounds: boundsOf(limits),
    ...(earlier?.answered && {
      earlier: { answered: earlier.answered, clockOffsetMs: earlier.startedAtMs - Date.now() },
    }),
  };
}

function boundsOf({ memoryBytes, outputBytes, logBytes, logLines, hostCalls }: Limits): CallBounds {
  return { memoryBytes, outputBytes, logBytes, logLines, hostCalls };
}

function definedMemory({ memoryBytes }: Sidecar): { memoryBytes?: number } {
  return memoryBytes === undefined ? {} : { memoryBytes };
}

function toTexts(values: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, typeof value === 'string' ? value : (JSON.stringify(value) ?? '')]),
  );
}

function withoutTexts(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => typeof value !== 'string'));
}

function toBytes(code: string | Uint8Array): Uint8Array {
  if (typeof code !== 'string') return code;
  throw new GuestFault('entry-invalid', 'Expected the bytes of a WebAssembly module, and got text.');
}

/** Failures of the plugin become facts; anything else is a fault of the engine and goes on. */
function toGuestError(error: unknown): GuestError {
  if (error instanceof GuestFault || error instanceof HotcellError) {
    return { code: error.code, message: error.message, frames: [] };
  }
  throw error;
}
