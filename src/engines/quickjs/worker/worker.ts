import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { createInstanceMaker } from '../cell/instance.ts';
import { createHostAnswers } from '../host-answers/host-answers.ts';
import { bell, ThreadMailbox } from '../mailbox.ts';
import { countSlices, packResult, unpackSlices } from '../packed-messages.ts';
import type { CallSlice, CallSliceResult, LoadSlice, PackedFromWorker, ToWorker, WorkerSetup } from '../protocol.ts';
import { claimSlice } from '../schedule/control.ts';
import { SliceRunner } from './slice-runner.ts';

/** Discarded memory of cells that may wait for its collection, and for how long. */
const maxUncollectedBytes = 32 * 1024 * 1024;
const COLLECT_WITHIN_MS = 250;

/** How long the thread waits awake for the next call where calls follow each other within this time, and at most without a look at its timers. */
const LINGER_MS = 0.25;
const maxLingerMs = 20;
/** The end of a call waits this long for those of the calls that travel with it, so that one bell rings for all. */
const RING_MS = 0.3;
/** So many single calls, each so soon after the one before, look as if they went on. */
const MANY_SINGLES = 8;
const SOON_MS = 0.5;
/** One that comes late, after a write of the daemon for example, does not end it; some of them do. */
const maxSingles = 16;
const LATE_SINGLES = 4;

if (!parentPort) throw new Error('this file is the body of a worker thread');
await serve(parentPort, workerData as WorkerSetup);

/** Runs slices one after the other; a worn-out cell is replaced after its slice was answered. */
async function serve(port: MessagePort, setup: WorkerSetup): Promise<void> {
  const mailbox = new ThreadMailbox(setup.mailbox, () => port.postMessage(bell));
  /** When the first end was laid down for which nobody rang yet. */
  let unrungSince = Number.POSITIVE_INFINITY;

  function post(message: PackedFromWorker, transfer: ArrayBuffer[] = []): void {
    mailbox.close();
    port.postMessage(message, transfer);
  }

  function answer(result: CallSliceResult): void {
    const packed = packResult(result);
    if ('type' in packed || !mailbox.send(packed)) post(packed);
    else if (unrungSince === Number.POSITIVE_INFINITY) unrungSince = performance.now();
  }

  function ring(): void {
    if (unrungSince === Number.POSITIVE_INFINITY) return;
    unrungSince = Number.POSITIVE_INFINITY;
    mailbox.ringIfAsleep();
  }

  const runner = new SliceRunner(setup, {
    makeInstance: await createInstanceMaker(setup.module),
    answerNow: createHostAnswers({ lazyModules: setup.lazyModules }),
    post,
    onLook: (now) => {
      if (now - unrungSince > RING_MS) ring();
    },
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

  async function untilRenewed(): Promise<void> {
    ring();
    await renewal;
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
      if (renewal) await untilRenewed();
      if (runner.mustChangeCell(slice.cellId)) {
        renew();
        await untilRenewed();
      }
      answer(runner.call(slice));
      renew();
    }
    ring();
    if (!mailbox.hasTrip()) runner.restoreAhead();
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

  const readOn = createReader({ port, mailbox, handle, mayGoOn: () => renewal === undefined });
  port.on('message', readOn);
  post({ type: 'ready' });
}

/**
 * Where single calls follow each other the thread stays awake for the next one: being woken takes longer than most calls.
 * Where several arrive at once there is no time to be gained, and somebody else may want the processor.
 */
function createReader(parts: {
  readonly port: MessagePort;
  readonly mailbox: ThreadMailbox;
  readonly handle: (message: ToWorker) => void;
  readonly mayGoOn: () => boolean;
}): (message: ToWorker | typeof bell) => void {
  const { port, mailbox, handle, mayGoOn } = parts;
  let singles = 0;
  let lastAt = 0;

  function take(message: ToWorker): void {
    const isSoon = performance.now() - lastAt < (singles < MANY_SINGLES ? SOON_MS : LINGER_MS);
    if (countSlices(message) === 1 && isSoon) singles = Math.min(singles + 1, maxSingles);
    else singles = Math.max(0, singles - LATE_SINGLES);
    handle(message);
    lastAt = performance.now();
  }

  function takePosted(message: ToWorker | typeof bell): void {
    if (message === bell) return;
    mailbox.noteHandled();
    mailbox.close();
    take(message);
  }

  /** Takes what comes until nothing is there any more, or nothing came for a while where calls follow each other. */
  function readOn(): void {
    mailbox.stayAwake();
    const startedAt = performance.now();
    for (let now = startedAt; now < startedAt + maxLingerMs; now = performance.now()) {
      const trip = mailbox.receive();
      if (trip) {
        take(trip);
        continue;
      }
      if (singles < MANY_SINGLES || now >= Math.max(lastAt, startedAt) + LINGER_MS || !mayGoOn()) break;
      const next = mailbox.hasPosted() ? receiveMessageOnPort(port) : undefined;
      if (next) takePosted(next.message as ToWorker | typeof bell);
    }
    if (!mailbox.sleep()) setImmediate(readOn);
  }

  return (message) => {
    takePosted(message);
    readOn();
  };
}

/** A context is made for it, which most threads never need. */
function exposeCollection(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}

/**
 * A discarded memory may hold tens of megabytes that nothing else would make V8 give back. A collection busies all cores,
 * so a plugin that wears out a cell with every call gets one for many.
 */
function createCollector(): (discardedBytes: number) => void {
  let collect: (() => void) | undefined;
  let uncollectedBytes = 0;
  let timer: NodeJS.Timeout | undefined;

  function collectNow(): void {
    clearTimeout(timer);
    timer = undefined;
    uncollectedBytes = 0;
    collect ??= exposeCollection();
    collect();
  }

  return (discardedBytes) => {
    uncollectedBytes += discardedBytes;
    if (uncollectedBytes > maxUncollectedBytes) collectNow();
    else timer ??= setTimeout(collectNow, COLLECT_WITHIN_MS);
  };
}
