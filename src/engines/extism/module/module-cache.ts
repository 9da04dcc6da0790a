import { randomUUID } from 'node:crypto';
import { BoundedMap } from '../../../collections/bounded-map.ts';
import { GuestFault } from '../worker/guest-fault.ts';
import type { TaskEnd, WorkerPool } from '../worker/worker-pool.ts';
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
  /**
   * The module at once when it is compiled already: a call of it need not wait at all. Else compiles, at most once at a time; a
   * failure is not kept. Rejects with GuestFault or HotcellError.
   */
  get(programKey: string, memoryBytes: number, readBytes: () => Promise<Uint8Array>): CompiledModule | Promise<CompiledModule>;
  delete(programKey: string): void;
}

const maxModules = 64;
const maxModuleBytes = 32 * 1024 * 1024;
const compileMs = 20_000;

/** A compilation: the module once it succeeded. */
interface Entry {
  readonly programKey: string;
  compiled: CompiledModule | Promise<CompiledModule>;
}

/** Compiles in workers, since compiling a hostile module may take long. */
export function createModuleCache(pool: WorkerPool): ModuleCache {
  const entries = new BoundedMap<string, Entry>(maxModules);
  return {
    get(programKey, memoryBytes, readBytes) {
      const key = `${memoryBytes}:${programKey}`;
      const known = entries.get(key);
      if (known) {
        entries.set(key, known);
        return known.compiled;
      }
      const compiling = readBytes().then((bytes) => compile(pool, bytes, memoryBytes));
      const entry: Entry = { programKey, compiled: compiling };
      entries.set(key, entry);
      compiling.then(
        (compiled) => {
          entry.compiled = compiled;
        },
        () => {
          if (entries.get(key) === entry) entries.delete(key);
        },
      );
      return compiling;
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
    const end = await pool.run({ type: 'compile', bytes, memoryBytes }, { cpuMs: compileMs, signal: timer.signal });
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
