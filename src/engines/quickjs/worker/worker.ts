import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { createInstanceMaker } from '../cell/instance.ts';
import { claimSlice } from '../control.ts';
import { createHostAnswers } from '../host-answers/host-answers.ts';
import type { CallSlice, FromWorker, LoadSlice, ToWorker, WorkerSetup } from '../protocol.ts';
import { SliceRunner } from './slice-runner.ts';

/** Discarded memory of cells that may wait for its collection, and for how long. */
const MAX_UNCOLLECTED_BYTES = 32 * 1024 * 1024;
const COLLECT_WITHIN_MS = 250;

if (!parentPort) throw new Error('this file is the body of a worker thread');
await serve(parentPort, workerData as WorkerSetup);

/** Runs slices one after the other; a worn-out cell is replaced after its slice was answered. */
async function serve(port: MessagePort, setup: WorkerSetup): Promise<void> {
  const post = (message: FromWorker, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer);
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
      post(runner.call(slice));
      renew();
    }
  }

  port.on('message', (message: ToWorker) => {
    switch (message.type) {
      case 'forget':
        runner.forget(message.programKeys, message.cellIds);
        return;
      case 'load':
        void runLoad(message);
        return;
      case 'calls':
        void runCalls(message.slices);
    }
  });
  post({ type: 'ready' });
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
    if (uncollectedBytes > MAX_UNCOLLECTED_BYTES) collectNow();
    else timer ??= setTimeout(collectNow, COLLECT_WITHIN_MS);
  };
}
