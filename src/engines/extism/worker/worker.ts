import { parentPort, workerData } from 'node:worker_threads';
import { CallMeter } from '../../../border/call-meter.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import type { GuestError } from '../../engine.ts';
import type { ThrowReport } from '../../throw-report.ts';
import { limitHostObjects, limitMemory } from '../module/module-limits.ts';
import { DrawnValues } from './drawn-values.ts';
import { explainFailure, GuestFault } from './guest-fault.ts';
import { type AnswerEnd, createHostCaller } from './host-channel.ts';
import type { HostState } from './host-functions.ts';
import { createInstances, type FreshInstance } from './instances.ts';
import type { ModuleCall, WorkerReport, WorkerTask } from './worker-messages.ts';

// Allocators ask for more than they need: one that could not grow leaves about so much free below the limit.
const usualGrowthBytes = 1024 * 1024;

// The worker's side: compiles modules and runs calls, one task at a time. The host ends it when time is up.
const answers: AnswerEnd = workerData;
const port = parentPort;
const instances = createInstances();
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
  const beforeMs = readThreadMs();
  const meter = new CallMeter({ ...call.bounds, pendingHostCalls: 1, pendingHostBytes: Number.POSITIVE_INFINITY, progress: 0 });
  const log: HostState['log'] = (level, bytes) => {
    const line = meter.log((maxBytes) => ({ level, text: decoder.decode(bytes.subarray(0, maxBytes)), atMs: Date.now() }));
    if (line !== undefined) report({ type: 'log', line });
  };
  const host = createHostCaller(answers, report, meter);
  const drawn = new DrawnValues(call.earlier);
  const usage = () => {
    const threadCpuMs = readThreadMs();
    const { crossings, isCut } = drawn;
    return {
      cpuMs: threadCpuMs - beforeMs,
      threadCpuMs,
      logLines: meter.logLines,
      hostCalls: meter.hostCalls,
      ...(crossings.length > 0 && { drawn: { crossings, isCut } }),
    };
  };
  let instance: FreshInstance | undefined;
  let thrown: ThrowReport | undefined;
  const onThrow = (report: ThrowReport) => {
    thrown = report;
  };
  try {
    const output = await callExport(call, { log, host, drawn, onThrow }, (taken) => {
      instance = taken;
    });
    report({ type: 'returned', output, usage: usage() });
  } catch (error) {
    const memoryIsFull = (instance?.memoryBytes() ?? 0) + usualGrowthBytes > call.bounds.memoryBytes;
    report({ type: 'failed', error: explainFailure(error, { memoryIsFull, ...(thrown && { thrown }) }), usage: usage() });
  }
  instances.prepare(call);
  await instance?.close();
}

function readThreadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

async function callExport(
  call: ModuleCall,
  { log, host, drawn, onThrow }: Pick<HostState, 'log' | 'host' | 'drawn' | 'onThrow'>,
  onInstance: (instance: FreshInstance) => void,
): Promise<string> {
  const { config, denied, facts, bounds } = call;
  let output = new Uint8Array();
  const instance = await instances.take(call);
  onInstance(instance);
  instance.bind({
    log,
    host,
    drawn,
    config,
    denied,
    facts,
    onThrow,
    onOutput: (bytes) => {
      output = Uint8Array.from(bytes);
    },
  });
  await instance.run(call.exportName, call.input);
  return decodeOutput(output, bounds.outputBytes);
}

// Making one costs more than a short call; it keeps nothing between lines.
const decoder = new TextDecoder();
const strictDecoder = new TextDecoder('utf-8', { fatal: true });

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
