import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { createInstanceMaker } from '../cell/instance.ts';
import { createHostAnswers } from '../host-answers/host-answers.ts';
import type { FromWorker, ToWorker, WorkerSetup } from '../protocol.ts';
import { SliceRunner } from './slice-runner.ts';

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
  const collectGarbage = createCollector();
  let ready: Promise<void> | undefined;

  const handle = (message: ToWorker): void => {
    if (message.type === 'forget') {
      runner.forget(message.programKeys, message.cellIds);
      return;
    }
    if (message.type === 'load') {
      const result = runner.load(message);
      post(result, result.end.kind === 'loaded' ? [result.end.image.buffer as ArrayBuffer] : []);
    } else {
      post(runner.call(message));
    }
    if (!runner.needsCell()) return;
    ready = runner.prepare().then(() => {
      ready = undefined;
      collectGarbage();
    });
  };

  port.on('message', (message: ToWorker) => {
    if (ready) void ready.then(() => handle(message));
    else handle(message);
  });
  post({ type: 'ready' });
}

/** A discarded memory may hold tens of megabytes that nothing else would make V8 give back. */
function createCollector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}
