import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { createInstanceMaker } from '../cell/instance.ts';
import { createHostAnswers } from '../host-answers/host-answers.ts';
import { countSlices, packResult, unpackSlices } from '../packed-messages.ts';
import type { CallSlice, LoadSlice, PackedFromWorker, ToWorker, WorkerSetup } from '../protocol.ts';
import { claimSlice } from '../schedule/control.ts';
import { SliceRunner } from './slice-runner.ts';

/** Discarded memory of cells that may wait for its collection, and for how long. */
const maxUncollectedBytes = 32 * 1024 * 1024;
const COLLECT_WITHIN_MS = 250;

/** Messages that follow each other so closely are a stream. */
const STREAM_MS = 1;
/** How long the thread waits awake for the next message of a stream, and at most without a look at its timers. */
const LINGER_MS = 0.1;
const maxLingerMs = 20;
/** So many single calls in a row look as if they went on. */
const MANY_SINGLES = 8;

if (!parentPort) throw new Error('this file is the body of a worker thread');
await serve(parentPort, workerData as WorkerSetup);

/** Runs slices one after the other; a worn-out cell is replaced after its slice was answered. */
async function serve(port: MessagePort, setup: WorkerSetup): Promise<void> {
  const post = (message: PackedFromWorker, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer);
  const runner = new SliceRunner(setup, {
    makeInstance: await createInstanceMaker(setup.module),
    answerNow: createHostAnswers({ lazyModules: setup.lazyModules }),
    post,
  });
  await runner.prepare();
  const control = new Int32Array(setup.control);
  const collectGarbage = createCollector();
  let renewal: Promise<void> | undefined;

  /** Replaces a cell that must not be used again, off the path of the call that wore it out. */
  function renew(): void {
    if (renewal || !runner.needsCell()) return;
    renewal = runner.prepare().then((discardedBytes) => {
      renewal = undefined;
      collectGarbage(discardedBytes);
    });
  }

  async function runLoad(slice: LoadSlice): Promise<void> {
    if (renewal) await renewal;
    const result = runner.load(slice);
    post(result, result.end.kind === 'loaded' ? [result.end.image.buffer as ArrayBuffer] : []);
    renew();
  }

  async function runCalls(slices: readonly CallSlice[]): Promise<void> {
    for (const [index, slice] of slices.entries()) {
      if (!claimSlice(control, index)) continue;
      if (renewal) await renewal;
      if (runner.mustChangeCell(slice.cellId)) {
        renew();
        await renewal;
      }
      post(packResult(runner.call(slice)));
      renew();
    }
  }

  function handle(message: ToWorker): void {
    if (!('type' in message)) {
      void runCalls(unpackSlices(message));
      return;
    }
    switch (message.type) {
      case 'forget':
        runner.forget(message.programKeys, message.cellIds);
        renew();
        return;
      case 'park':
        runner.park(message.cellId, message.file);
        renew();
        return;
      case 'load':
        void runLoad(message);
        return;
      case 'calls':
        void runCalls(message.slices);
    }
  }

  const linger = createLinger(port, handle, () => renewal === undefined);
  port.on('message', (message: ToWorker) => {
    handle(message);
    linger(message);
  });
  post({ type: 'ready' });
}

/**
 * Where single calls follow each other the thread stays awake for the next one: being woken takes longer than most calls.
 * Where several arrive at once there is no time to be gained, and somebody else may want the processor.
 */
function createLinger(port: MessagePort, handle: (message: ToWorker) => void, mayGoOn: () => boolean): (last: ToWorker) => void {
  let singles = 0;
  let lastAt = 0;

  function note(message: ToWorker): boolean {
    const now = performance.now();
    singles = countSlices(message) === 1 && now - lastAt < STREAM_MS ? singles + 1 : 0;
    lastAt = now;
    return singles >= MANY_SINGLES;
  }

  return (last) => {
    let isStream = note(last);
    const startedAt = performance.now();
    for (let until = startedAt + LINGER_MS; isStream && mayGoOn() && performance.now() < until; ) {
      const next = receiveMessageOnPort(port);
      if (!next) continue;
      const message = next.message as ToWorker;
      handle(message);
      isStream = note(message);
      until = Math.min(performance.now() + LINGER_MS, startedAt + maxLingerMs);
    }
  };
}

/**
 * A discarded memory may hold tens of megabytes that nothing else would make V8 give back. A collection busies all cores,
 * so a plugin that wears out a cell with every call gets one for many.
 */
function createCollector(): (discardedBytes: number) => void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  let uncollectedBytes = 0;
  let timer: NodeJS.Timeout | undefined;

  function collectNow(): void {
    clearTimeout(timer);
    timer = undefined;
    uncollectedBytes = 0;
    collect();
  }

  return (discardedBytes) => {
    uncollectedBytes += discardedBytes;
    if (uncollectedBytes > maxUncollectedBytes) collectNow();
    else timer ??= setTimeout(collectNow, COLLECT_WITHIN_MS);
  };
}
