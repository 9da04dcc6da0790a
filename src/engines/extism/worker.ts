import { parentPort, workerData } from 'node:worker_threads';
import { createPlugin } from '@extism/extism';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { GuestError } from '../engine.ts';
import { type BoundedLog, createBoundedLog } from './bounded-log.ts';
import { explainFailure, GuestFault } from './guest-fault.ts';
import { type AnswerEnd, createHostCaller, type HostCaller } from './host-channel.ts';
import { createBlockBudget, createHostFunctions } from './host-functions.ts';
import { limitHostObjects } from './host-object-limit.ts';
import { limitMemory, pageBytes } from './memory-limit.ts';
import { extismNamespace, wasiNamespace } from './module-contract.ts';
import { createUserFunctions, userNamespace } from './user-functions.ts';
import { createWasi } from './wasi.ts';
import { keptModules, type ModuleCall, type WorkerReport, type WorkerTask } from './worker-messages.ts';

// The worker's side: compiles modules and runs calls, one task at a time. The host ends it when time is up.
const answers: AnswerEnd = workerData;
const port = parentPort;
port?.on('message', (task: WorkerTask) => {
  // Nothing rejects here: both ways end in a report.
  void (task.type === 'compile' ? compileModule(task) : runCall(task.call)).then(report);
});

function report(message: WorkerReport): void {
  port?.postMessage(message);
}

async function compileModule(task: { bytes: Uint8Array; memoryBytes: number }): Promise<WorkerReport> {
  try {
    const module = await WebAssembly.compile(limitMemory(limitHostObjects(task.bytes), task.memoryBytes));
    const shape = { exports: WebAssembly.Module.exports(module), imports: WebAssembly.Module.imports(module) };
    return { type: 'compiled', module, shape };
  } catch (error) {
    return {
      type: 'failed',
      error: explainCompileError(error),
      usage: { cpuMs: 0, threadCpuMs: readThreadMs(), logLines: 0, hostCalls: 0 },
    };
  }
}

function explainCompileError(error: unknown): GuestError {
  if (error instanceof HotcellError) return { code: error.code, message: error.message, frames: [] };
  const message = error instanceof Error ? error.message : String(error);
  return { code: 'compile-failed', message: `The module is not valid WebAssembly: ${message.slice(0, 1000)}`, frames: [] };
}

async function runCall(call: ModuleCall): Promise<WorkerReport> {
  const beforeMs = readThreadMs();
  const log = createBoundedLog(call.bounds, (line) => report({ type: 'log', line }));
  const host = createHostCaller(answers, report, call.bounds);
  const usage = () => {
    const threadCpuMs = readThreadMs();
    return { cpuMs: threadCpuMs - beforeMs, threadCpuMs, logLines: log.count(), hostCalls: host.count() };
  };
  const memory: { current?: WebAssembly.Memory } = {};
  try {
    const output = await callExport(call, { log, host, memory });
    return { type: 'returned', output, usage: usage() };
  } catch (error) {
    const size = memory.current?.buffer.byteLength ?? 0;
    const failure = explainFailure(error, { memoryIsFull: size + pageBytes > call.bounds.memoryBytes });
    return { type: 'failed', error: failure, usage: usage() };
  }
}

function readThreadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** A module that this worker has, with what it imports. */
interface KnownModule {
  readonly module: WebAssembly.Module;
  readonly imports: readonly WebAssembly.ModuleImportDescriptor[];
}

const knownModules = new Map<string, KnownModule>();

/** The pool sends a module once and counts along, so it is here when it does not come. */
function findModule({ moduleKey, module }: ModuleCall): KnownModule {
  const known = module ? { module, imports: WebAssembly.Module.imports(module) } : knownModules.get(moduleKey);
  if (!known) throw new Error('the worker does not have the module');
  if (module) knownModules.set(moduleKey, known);
  const [oldest] = knownModules.keys();
  if (knownModules.size > keptModules && oldest !== undefined) knownModules.delete(oldest);
  return known;
}

/** The SDK binds every function that it is given, for every call: those that the module imports are enough. */
function pick<Value>(
  functions: Readonly<Record<string, Value>>,
  namespace: string,
  { imports }: KnownModule,
): Record<string, Value> {
  const names = imports.filter((entry) => entry.module === namespace).map((entry) => entry.name);
  return Object.fromEntries(names.flatMap((name) => (functions[name] ? [[name, functions[name]]] : [])));
}

/** Every call gets an instance of its own, so nothing is left over for the next. */
async function callExport(
  call: ModuleCall,
  { log, host, memory }: { log: BoundedLog; host: HostCaller; memory: { current?: WebAssembly.Memory } },
): Promise<string> {
  const { config, denied, bounds } = call;
  const known = findModule(call);
  const blocks = createBlockBudget(bounds.memoryBytes);
  let output = new Uint8Array();
  const onOutput = (bytes: Uint8Array): void => {
    output = Uint8Array.from(bytes);
  };
  const plugin = await createPlugin(
    { wasm: [{ module: known.module }] },
    {
      useWasi: false,
      runInWorker: false,
      allowedHosts: [],
      functions: {
        [extismNamespace]: pick(createHostFunctions({ log, config, denied, blocks, host, onOutput }), extismNamespace, known),
        [userNamespace]: pick(createUserFunctions(host, blocks), userNamespace, known),
        [wasiNamespace]: pick(
          createWasi(() => memory.current?.buffer, log),
          wasiNamespace,
          known,
        ),
      },
    },
  );
  try {
    const { exports } = await plugin.getInstance();
    if (isMemory(exports.memory)) memory.current = exports.memory;
    // Libraries need their constructors run once; the SDK does it only together with its own WASI.
    if (typeof exports._initialize === 'function') exports._initialize();
    await plugin.call(call.exportName, call.input);
    return decodeOutput(output, bounds.outputBytes);
  } finally {
    await plugin.close();
  }
}

function decodeOutput(bytes: Uint8Array, maxBytes: number): string {
  if (bytes.length > maxBytes) {
    throw new GuestFault('output-exceeded', `The output has ${bytes.length} bytes; the limit is ${maxBytes} bytes.`);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new GuestFault('output-invalid', 'Expected the output as UTF-8 text, and found other bytes.');
  }
}

function isMemory(value: unknown): value is WebAssembly.Memory {
  return value instanceof WebAssembly.Memory;
}
