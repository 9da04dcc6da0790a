import { constants } from 'node:os';
import type { Duplex } from 'node:stream';
import { HotcellError } from '../../../../errors/hotcell-error.ts';
import { watchIdle } from '../../guest-call-guard.ts';
import { guestModule } from '../../guest-call-outcome.ts';
import { GuestChannel } from '../../guest-channel.ts';
import { GuestOutput } from '../../guest-output.ts';
import { type GuestExit, type GuestProcess, subtractUsage } from '../../guest-process.ts';
import type { OpenedCell } from '../command/command-runner.ts';
import { describeEnvironment, type ExecWords, encodeExec, proxyPort } from '../command/exec-payload.ts';
import { createEgress } from '../container/egress.ts';
import type { UsageMeter } from '../container/usage-meter.ts';
import { fromInit, type InitFrame, readExit, standardChannels, toInit } from '../init/init-frames.ts';

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

const startMs = 20_000;
/** A guest whose channel closed has so long to end, and to say its last words. */
const lastWordsMs = 1000;

/**
 * Starts Node with the runner in a container that ran nothing before: a guest like a process of this machine. Its channel is the
 * first connection that is made in the container, before any code of a plugin runs there; later ones are those of network
 * clients. Throws a HotcellError, and leaves nothing behind then.
 */
export async function startGuestContainer({ opened, image, runner, heapMb }: GuestStart): Promise<GuestProcess> {
  const { cell, done } = opened;
  const { link } = cell;
  const fault = Promise.withResolvers<GuestExit>();
  const exited = Promise.withResolvers<void>();
  const connected = Promise.withResolvers<Duplex>();
  let isConnected = false;
  let egress = createEgress(link, undefined);
  let meter: UsageMeter | undefined;
  let base = { cpuMs: 0, rssBytes: 0 };
  let session: GuestChannel | undefined;
  let isLost = false;
  let isOver = false;

  const end = (why: GuestExit): void => {
    if (isOver) return;
    isOver = true;
    setIdle(false);
    fault.resolve(why);
    session?.lose({ kind: 'ended', reason: 'it was ended' });
    link.close();
    void done().finally(exited.resolve);
  };
  const output = new GuestOutput(() => end({}));
  const usage = () => subtractUsage(meter?.(), base);
  const setIdle = watchIdle(usage, () => end({}));
  const writes = new Map<number, (bytes: Buffer) => void>([
    [standardChannels.stdout, output.stdout],
    [standardChannels.stderr, output.stderr],
  ]);

  function hear({ type, channel, payload }: InitFrame): void {
    if (type === fromInit.accept && isConnected) egress.accept(channel);
    else if (type === fromInit.accept) {
      isConnected = true;
      connected.resolve(link.open(channel));
    } else if (type === fromInit.data && writes.has(channel)) {
      link.sendNumber(toInit.ack, channel, payload.length);
      writes.get(channel)?.(payload);
    } else if (type === fromInit.exit) {
      const { oomKills } = readExit(payload);
      end(oomKills > 0 || /out of memory/i.test(output.lastWords) ? { isMemory: true } : {});
    } else if (type === fromInit.failed) end({ error: explainStart(payload.readUInt32LE(0), image) });
  }

  link.listen({
    onFrame: hear,
    // Docker is asked before the container is removed: afterwards it would only say that it was.
    onDown: () => void (isOver || cell.explainEnd('the plugin').then((error) => end({ error }))),
  });
  const allowDial = (dial: Parameters<typeof createEgress>[1]): void => {
    egress.close();
    egress = createEgress(link, dial);
  };
  const guest: GuestProcess = {
    get session() {
      if (session === undefined) throw new Error('The guest has no channel yet.');
      return session;
    },
    output,
    isAlive: () => !isOver && !isLost,
    usage,
    wake: (host) => {
      setIdle(false);
      allowDial(host.dial);
    },
    rest: () => {
      allowDial(undefined);
      setIdle(!isOver);
    },
    kill: () => end({}),
    exited: exited.promise,
    explainEnd: () => fault.promise,
  };
  const failed = fault.promise.then(({ error, isMemory }) => {
    const words = isMemory ? 'it needs more memory than docker.memoryBytes' : output.lastWords;
    throw error ?? explainEarlyEnd(words, image);
  });
  failed.catch(() => undefined);
  const timer = setTimeout(() => end({ error: explainEarlyEnd('It did not start in time.', image) }), startMs);
  try {
    link.sendNumber(toInit.listen, 0, proxyPort);
    link.send(toInit.exec, 0, encodeExec(describeGuest(opened.imageEnv, heapMb)));
    link.open(standardChannels.stdin).end(runner);
    const [channel, opener] = await Promise.race([Promise.all([connected.promise, cell.openMeter()]), failed]);
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

const imageFix = 'Name an image with Node 22 or later in docker.pluginImage of the config.';

/** Node, with the runner on its standard input. `heapMb` bounds the JavaScript heap. */
function describeGuest(imageEnv: Readonly<Record<string, string>>, heapMb: number): ExecWords {
  // NODE_USE_ENV_PROXY: newer versions of Node then use the proxy in their own clients too.
  const env = { ...describeEnvironment(imageEnv, true), NODE_USE_ENV_PROXY: '1', NO_COLOR: '1' };
  const args = [`--max-old-space-size=${heapMb}`, '--input-type=module', '-', String(proxyPort), guestModule];
  return { folder: '/workspace', command: 'node', args, env };
}

/** Why Node could not be started, by the error number of the system. */
function explainStart(errno: number, image: string): HotcellError {
  const isMissing = errno === constants.errno.ENOENT || errno === constants.errno.EACCES;
  const why = isMissing ? 'has no program "node"' : `could not start "node" (error ${errno})`;
  return new HotcellError('engine-failed', `The image ${image} ${why}.`, { fix: imageFix });
}

/** Why Node ended before any plugin ran, with what it said. */
function explainEarlyEnd(words: string, image: string): HotcellError {
  const said = words.trim().split('\n').slice(0, 3).join(' ').slice(0, 500);
  const message = `Node of the image ${image} ended before the plugin could be loaded${said === '' ? '.' : `: ${said}`}`;
  return new HotcellError('engine-failed', message, { fix: imageFix });
}
