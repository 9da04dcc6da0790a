import { GuestChannel } from '../../guest-channel.ts';
import type { GuestExit, GuestProcess, GuestUsage } from '../../guest-process.ts';
import { splitLines } from '../../output-lines.ts';
import type { OpenedCell } from '../command/command-runner.ts';
import { encodeExec } from '../command/exec-payload.ts';
import type { UsageMeter } from '../container/usage-meter.ts';
import { toInit } from '../init/init-frames.ts';
import { describeGuest, explainEarlyEnd, explainStart, guestPort } from './guest-command.ts';
import { listenToGuest } from './guest-line.ts';
import { watchIdle } from './idle-watch.ts';

/** What the engine starts a guest from. */
export interface GuestStart {
  readonly opened: OpenedCell;
  /** The image by its name, for what goes wrong. */
  readonly image: string;
  /** The text of the guest's runner. */
  readonly runner: string;
  /** Upper bound of the JavaScript heap. */
  readonly heapMb: number;
}

/** Node in a container: a guest like a process of this machine. */
export type GuestContainer = GuestProcess;

const startMs = 20_000;
/** A guest whose channel closed has so long to end, and to say its last words. */
const lastWordsMs = 1000;
const maxLastWords = 4000;
const stdinChannel = 1;

/** Starts the runner in a container that ran nothing before. Throws a HotcellError, and leaves nothing behind then. */
export async function startGuestContainer({ opened, image, runner, heapMb }: GuestStart): Promise<GuestContainer> {
  const { cell, done } = opened;
  const fault = Promise.withResolvers<GuestExit>();
  const exited = Promise.withResolvers<void>();
  let words = '';
  let meter: UsageMeter | undefined;
  let base: GuestUsage = { cpuMs: 0, rssBytes: 0 };
  let session: GuestChannel | undefined;
  let isLost = false;
  let isOver = false;

  const end = (why: GuestExit): void => {
    if (isOver) return;
    isOver = true;
    idle.setIdle(false);
    fault.resolve(why);
    session?.lose({ kind: 'ended', reason: 'it was ended' });
    cell.link.close();
    void done().finally(exited.resolve);
  };
  const usage = () => subtract(meter?.(), base);
  const idle = watchIdle(usage, () => end({}));
  const tell = (level: 'info' | 'warn') => (text: string) => {
    if (level === 'warn') words = `${words}${text}\n`.slice(-maxLastWords);
    guest.turn?.log({ level, text, atMs: Date.now() });
  };
  const outputs = { stdout: splitLines(tell('info'), () => end({})), stderr: splitLines(tell('warn'), () => end({})) };
  const line = listenToGuest(cell, {
    onOutput: (stream, bytes) => outputs[stream](bytes),
    onExit: ({ oomKills }) => end(oomKills > 0 || /out of memory/i.test(words) ? { isMemory: true } : {}),
    onFailed: (errno) => end({ error: explainStart(errno, image) }),
    // Docker is asked before the container is removed: afterwards it would only say that it was.
    onDown: () => void (isOver || cell.explainEnd('the plugin').then((error) => end({ error }))),
  });
  const guest: GuestContainer = {
    get session() {
      if (session === undefined) throw new Error('The guest has no channel yet.');
      return session;
    },
    turn: undefined,
    isAlive: () => !isOver && !isLost,
    usage,
    wake: (host) => {
      idle.setIdle(false);
      line.allowDial(host.dial);
    },
    rest: () => {
      line.allowDial(undefined);
      idle.setIdle(!isOver);
    },
    lastWords: () => words,
    kill: () => end({}),
    exited: exited.promise,
    explainEnd: () => fault.promise,
  };
  const failed = fault.promise.then(({ error, isMemory }) =>
    Promise.reject(error ?? explainEarlyEnd(isMemory ? 'it needs more memory than docker.memoryBytes' : words, image)),
  );
  failed.catch(() => undefined);
  const timer = setTimeout(() => end({ error: explainEarlyEnd('It did not start in time.', image) }), startMs);
  try {
    cell.link.sendNumber(toInit.listen, 0, guestPort);
    cell.link.send(toInit.exec, 0, encodeExec(describeGuest(opened.imageEnv, heapMb)));
    cell.link.write(stdinChannel, Buffer.from(runner));
    cell.link.endWriting(stdinChannel);
    const [channel, opener] = await Promise.race([Promise.all([line.channel, cell.openMeter()]), failed]);
    meter = opener;
    session = new GuestChannel(channel, ({ kind }) => {
      isLost = true;
      if (kind === 'misbehaved') end({});
      else setTimeout(() => end({}), lastWordsMs).unref();
    });
    await Promise.race([session.ready, failed]);
    base = meter() ?? base;
    return guest;
  } catch (error) {
    end({});
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function subtract(now: GuestUsage | undefined, base: GuestUsage): GuestUsage | undefined {
  return now && { cpuMs: now.cpuMs - base.cpuMs, rssBytes: Math.max(0, now.rssBytes - base.rssBytes) };
}
