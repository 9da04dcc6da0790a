import { parentPort, workerData } from 'node:worker_threads';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import type { GuestError } from '../../engine.ts';
import { limitHostObjects, limitMemory } from '../module/module-limits.ts';
import { type AnswerEnd, CallState, readThreadMs } from './call-state.ts';
import { explainFailure, GuestFault } from './guest-fault.ts';
import { createInstances, type FreshInstance } from './instances.ts';
import type { ModuleCall, WorkerReport, WorkerTask } from './worker-messages.ts';

// Allocators ask for more than they need: one that could not grow leaves about so much free below the limit.
const usualGrowthBytes = 1024 * 1024;

// The worker's side: compiles modules and runs calls, one task at a time. The host ends it when time is up.
const answers: AnswerEnd = workerData;
const port = parentPort;
const instances = createInstances();
const strictDecoder = new TextDecoder('utf-8', { fatal: true });
port?.on('message', (task: WorkerTask) => {
  // Nothing rejects here: both ways end in a report.
  void (task.type === 'compile' ? compileModule(task).then(report) : runCall(task.call));
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

/** Reports the end of a call first; what is left to do after it does not hold it up. */
async function runCall(call: ModuleCall): Promise<void> {
  const state = new CallState(call, answers, report);
  let instance: FreshInstance | undefined;
  try {
    instance = await instances.take(call);
    instance.bind(state);
    await instance.run(call.exportName, call.input);
    report({ type: 'returned', output: decodeOutput(state.output, call.bounds.outputBytes), usage: state.usage() });
  } catch (error) {
    const memoryIsFull = (instance?.memoryBytes() ?? 0) + usualGrowthBytes > call.bounds.memoryBytes;
    report({ type: 'failed', error: explainFailure(error, { memoryIsFull, thrown: state.thrown }), usage: state.usage() });
  }
  instances.prepare(call);
  await instance?.close();
}

function decodeOutput(bytes: Uint8Array, maxBytes: number): string {
  if (bytes.length > maxBytes) {
    throw new GuestFault('output-exceeded', `The output has ${bytes.length} bytes; the limit is ${maxBytes} bytes.`);
  }
  try {
    return strictDecoder.decode(bytes);
  } catch {
    throw new GuestFault('output-invalid', 'Expected the output as UTF-8 text, and found other bytes.');
  }
}
