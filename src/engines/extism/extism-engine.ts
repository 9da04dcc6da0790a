import { resolveLimits } from '../../config/limits.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { BorderHost } from '../border.ts';
import type { Engine, GuestError, RunOutcome, RunRequest } from '../engine.ts';
import { type CallEnd, createCallEnd } from './call-end.ts';
import { GuestFault } from './guest-fault.ts';
import { createModuleCache, type ModuleCache } from './module-cache.ts';
import { checkModule } from './module-contract.ts';
import { describeEarlyEnd, describeTaskEnd } from './run-outcome.ts';
import { readEmbeddedSidecar, type Sidecar } from './sidecar.ts';
import type { ModuleCall } from './worker-messages.ts';
import { createWorkerPool } from './worker-pool.ts';
import { runTask } from './worker-task.ts';

/** How many threads run WebAssembly calls at once, and how many idle ones stay ready. */
export interface ExtismEngineOptions {
  readonly maxWorkers?: number;
  readonly keepWarm?: number;
}

const noUsage = { cpuMs: 0, hostCalls: 0, logLines: 0 };

/**
 * Runs `.wasm` modules of the Extism ABI: every call in a fresh instance, in a worker thread that is ended when the call
 * passes its limits. A module reaches no file and no network; its log is the only thing that crosses the border.
 * Program code is what `embedSidecar` returns.
 */
export function createExtismEngine(options: ExtismEngineOptions = {}): Engine {
  const pool = createWorkerPool({ maxWorkers: options.maxWorkers ?? 4, keepWarm: options.keepWarm ?? 2 });
  // Compilation has a worker of its own, so that calls which use up all others do not hold up a reload.
  const compilers = createWorkerPool({ maxWorkers: 1, keepWarm: 1 });
  const modules = createModuleCache(compilers);
  const closing = new AbortController();

  const runCall = async (request: RunRequest, host: BorderHost, callEnd: CallEnd): Promise<RunOutcome> => {
    const call = await callEnd.race(prepareCall(modules, request, host));
    const worker = await pool.acquire(callEnd.signal);
    const bounds = { cpuMs: request.limits.cpuMs, signal: callEnd.signal };
    const end = await runTask(worker, { type: 'run', call }, bounds, (line) => host.log(line));
    pool.release(worker, end.type === 'report');
    return describeTaskEnd(end, callEnd.reason(), request.limits);
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
        const warnings = checkModule(compiled.shape, compiled.sidecar);
        return { ok: true, exported: { default: compiled.sidecar.exported, named: {} }, warnings };
      } catch (error) {
        return { ok: false, error: toGuestError(error) };
      }
    },
    async run(request, host, signal) {
      const callEnd = createCallEnd(request.deadline, [signal, closing.signal]);
      try {
        return await runCall(request, host, callEnd);
      } catch (error) {
        const reason = callEnd.reason();
        if (reason) return describeEarlyEnd(reason);
        return { status: 'error', error: toGuestError(error), usage: noUsage };
      } finally {
        callEnd.close();
      }
    },
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

async function prepareCall(modules: ModuleCache, request: RunRequest, host: BorderHost): Promise<ModuleCall> {
  const { program, limits, handler, isolation } = request;
  if (isolation !== 'call') {
    throw new GuestFault('not-supported', `A WebAssembly plugin runs with isolation "call"; it asks for "${isolation}".`);
  }
  const compiled = await modules.get(program.key, limits.memoryBytes, async () => toBytes(await program.readCode()));
  const exportName = compiled.sidecar.exportByHandler.get(handler);
  if (exportName === undefined) {
    throw new GuestFault('engine-failed', `The sidecar names no export for the handler "${handler}".`);
  }
  const view = host.view();
  return {
    module: compiled.module,
    exportName,
    input: request.argumentsJson,
    config: { ...compiled.sidecar.config, ...toTexts(view.config), ...view.env },
    denied: view.denied,
    bounds: {
      memoryBytes: limits.memoryBytes,
      outputBytes: limits.outputBytes,
      logBytes: limits.logBytes,
      logLines: limits.logLines,
    },
  };
}

function definedMemory({ memoryBytes }: Sidecar): { memoryBytes?: number } {
  return memoryBytes === undefined ? {} : { memoryBytes };
}

function toTexts(values: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, typeof value === 'string' ? value : (JSON.stringify(value) ?? '')]),
  );
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
