import { createQuickJsEngine, loadQuickJs, type QuickJsParts } from '../src/engines/quickjs/engine.ts';
import { type ThreadHandlers, type ThreadSetup, WorkerThread } from '../src/engines/quickjs/schedule/worker-thread.ts';

/** Beyond it a thread ends with its engine. */
const maxKept = 6;
let kept: KeptThread[] = [];
let parts: Promise<QuickJsParts> | undefined;

/** An engine like any other, over threads that engines of this process had before: starting one takes longer than most tests. */
export const openSharedQuickJs: typeof createQuickJsEngine = async (options) => {
  parts ??= loadQuickJs(options.dataDir).then((loaded) => ({ ...loaded, openThread: takeThread }));
  return createQuickJsEngine(options, await parts);
};

function takeThread(setup: ThreadSetup, handlers: ThreadHandlers): WorkerThread {
  const thread = kept.pop() ?? new KeptThread(setup);
  thread.hear(handlers);
  return thread;
}

/** A thread that forgets whom it worked for instead of ending, unless it works still. */
class KeptThread extends WorkerThread {
  readonly #heard: { by: ThreadHandlers | undefined };
  readonly #images = new Set<string>();
  #isStarting = true;

  constructor(setup: ThreadSetup) {
    const heard: { by: ThreadHandlers | undefined } = { by: undefined };
    super(setup, {
      onMessage: (thread, message) => {
        if (message.type === 'ready') thread.rest();
        heard.by?.onMessage(thread, message);
      },
      onExit: (thread, reason) => {
        kept = kept.filter((other) => other !== thread);
        heard.by?.onExit(thread, reason);
      },
    });
    this.#heard = heard;
    void this.ready.then(() => {
      this.#isStarting = false;
    });
  }

  hear(handlers: ThreadHandlers): void {
    this.#heard.by = handlers;
  }

  override noteImage(programKey: string): void {
    this.#images.add(programKey);
    super.noteImage(programKey);
  }

  override async terminate(): Promise<void> {
    const isFree = this.isIdle || (this.#isStarting && !this.isEnding);
    if (!isFree || kept.length >= maxKept) return super.terminate();
    this.#heard.by = undefined;
    for (const key of this.#images) this.forgetImage(key);
    this.#images.clear();
    if (this.residentCell !== undefined) this.forgetCell(this.residentCell);
    this.residentCell = undefined;
    this.sleep();
    kept.push(this);
  }
}
