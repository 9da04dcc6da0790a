import { randomUUID } from 'node:crypto';
import { BoundedMap } from '../../../collections/bounded-map.ts';
import { GuestFault } from '../worker/guest-fault.ts';
import type { WorkerPool } from '../worker/worker-pool.ts';
import { runTask, type TaskEnd } from '../worker/worker-task.ts';
import type { ModuleShape } from './module-contract.ts';
import { readEmbeddedSidecar, type Sidecar } from './sidecar.ts';

/** A module ready to be instantiated by any worker. */
export interface CompiledModule {
  /** Of this very compilation. */
  readonly key: string;
  readonly module: WebAssembly.Module;
  readonly shape: ModuleShape;
  readonly sidecar: Sidecar;
}

/** Compiled modules of late, by program and memory limit. */
export interface ModuleCache {
  /** Compiles at most once at a time; a failure is not kept. Rejects with GuestFault or HotcellError. */
  get(programKey: string, memoryBytes: number, readBytes: () => Promise<Uint8Array>): Promise<CompiledModule>;
  /** The module when it is compiled already: a call of it need not wait at all. */
  peek(programKey: string, memoryBytes: number): CompiledModule | undefined;
  delete(programKey: string): void;
}

const maxModules = 64;
const maxModuleBytes = 32 * 1024 * 1024;
const compileMs = 20_000;

/** A compilation; `ready` once it succeeded. */
interface Entry {
  readonly programKey: string;
  readonly compiled: Promise<CompiledModule>;
  ready?: CompiledModule;
}

/** Compiles in workers, since compiling a hostile module may take long. */
export function createModuleCache(pool: WorkerPool): ModuleCache {
  const entries = new BoundedMap<string, Entry>(maxModules);
  return {
    get(programKey, memoryBytes, readBytes) {
      const key = `${memoryBytes}:${programKey}`;
      const known = entries.get(key);
      const entry: Entry = known ?? { programKey, compiled: readBytes().then((bytes) => compile(pool, bytes, memoryBytes)) };
      entries.set(key, entry);
      if (known) return known.compiled;
      entry.compiled.then(
        (compiled) => {
          entry.ready = compiled;
        },
        () => {
          if (entries.get(key) === entry) entries.delete(key);
        },
      );
      return entry.compiled;
    },
    peek(programKey, memoryBytes) {
      const key = `${memoryBytes}:${programKey}`;
      const entry = entries.get(key);
      if (!entry?.ready) return undefined;
      entries.set(key, entry);
      return entry.ready;
    },
    delete(programKey) {
      for (const [key, entry] of entries) if (entry.programKey === programKey) entries.delete(key);
    },
  };
}

async function compile(pool: WorkerPool, bytes: Uint8Array, memoryBytes: number): Promise<CompiledModule> {
  if (bytes.length > maxModuleBytes) {
    throw new GuestFault('entry-invalid', `The module has ${bytes.length} bytes; at most ${maxModuleBytes} are read.`);
  }
  const sidecar = readEmbeddedSidecar(bytes);
  const timer = new AbortController();
  const timeout = setTimeout(() => timer.abort(new GuestFault('time-exceeded', slowCompilation)), compileMs);
  try {
    const worker = await pool.acquire(timer.signal);
    const bounds = { cpuMs: compileMs, signal: timer.signal };
    const end = await runTask(worker, { type: 'compile', bytes, memoryBytes }, bounds, undefined);
    pool.release(worker, end.type === 'report');
    return { ...readCompiled(end), sidecar, key: randomUUID() };
  } finally {
    clearTimeout(timeout);
  }
}

const slowCompilation = `Compiling the module took longer than ${compileMs} ms.`;

function readCompiled(end: TaskEnd): { module: WebAssembly.Module; shape: ModuleShape } {
  if (end.type === 'died') throw new GuestFault('engine-failed', 'The worker that compiled the module ended early.');
  if (end.type !== 'report') throw new GuestFault('time-exceeded', slowCompilation);
  if (end.report.type === 'compiled') return end.report;
  const failure = end.report.type === 'failed' ? end.report.error : undefined;
  throw new GuestFault(failure?.code ?? 'engine-failed', failure?.message ?? 'The worker answered something else.');
}
