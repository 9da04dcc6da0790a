import { constants } from 'node:os';
import type { CommandFile, CommandRequest, CommandResult } from '../../../../border/container-command.ts';
import { HotcellError } from '../../../../errors/hotcell-error.ts';
import type { CellContainer } from '../container/container.ts';
import { createEgress } from '../container/egress.ts';
import { fromInit, type InitFrame, maxPayload, readExit, standardChannels, toInit } from '../init/init-frames.ts';
import { collectFiles, keepOutput } from './command-results.ts';
import { describeEnvironment, encodeExec, proxyPort } from './exec-payload.ts';

/** What a command runs with beside its request. */
export interface CommandSetting {
  /** The environment of the image. */
  readonly imageEnv: Readonly<Record<string, string>>;
  /** Time between SIGTERM and SIGKILL, in ms. */
  readonly graceMs: number;
}

const folder = '/workspace';

/**
 * Runs one command in a container that ran none before: files in, the command, files out. Rejects with a HotcellError; the
 * container is the caller's to remove in every case, which also ends whatever is still running in it.
 */
export async function runCommand(
  cell: CellContainer,
  request: CommandRequest,
  setting: CommandSetting,
  signal: AbortSignal,
): Promise<CommandResult> {
  const { link } = cell;
  const egress = createEgress(link, request.dial);
  const hasProxy = request.dial !== undefined;
  const env = { ...describeEnvironment(setting.imageEnv, hasProxy), ...request.env };
  const exec = encodeExec({ folder, command: request.command, args: request.args, env });
  const run = watchRun(cell, request, egress);
  const clock = startClock(cell, request, setting.graceMs, run.fail);
  const cancel = () => run.fail(new HotcellError('cancelled', 'The call ended before the command did.'));
  signal.addEventListener('abort', cancel, { once: true });
  if (signal.aborted) cancel();
  try {
    if (request.files?.length) await sendFiles(cell, request.files, run.next);
    if (hasProxy) link.sendNumber(toInit.listen, 0, proxyPort);
    link.send(toInit.exec, 0, exec);
    link.open(standardChannels.stdin).end(request.stdin);
    const ended = await run.next(fromInit.exit);
    clock.assertInTime();
    const exitCode = readExitCode(ended, request);
    const files = request.collectBytes === undefined ? noFiles : await collect(cell, run);
    return { exitCode, ...run.readOutput(), refused: files.refused, files: dropSame(files.files, request.files ?? []) };
  } finally {
    clock.stop();
    signal.removeEventListener('abort', cancel);
    egress.close();
    link.listen();
  }
}

const noFiles = { files: [], refused: [] };

type WatchedRun = ReturnType<typeof watchRun>;

/** Hears everything that the container says while a command runs. */
function watchRun(cell: CellContainer, request: CommandRequest, egress: ReturnType<typeof createEgress>) {
  const { link } = cell;
  const [stdout, stderr] = [keepOutput(request.maxOutputBytes), keepOutput(request.maxOutputBytes)];
  const outputs = new Map<number, { readonly name: 'stdout' | 'stderr'; readonly kept: typeof stdout }>([
    [standardChannels.stdout, { name: 'stdout', kept: stdout }],
    [standardChannels.stderr, { name: 'stderr', kept: stderr }],
  ]);
  const files = collectFiles(request.collectBytes ?? 0);
  const { promise: failure, reject: fail } = Promise.withResolvers<never>();
  failure.catch(() => undefined);
  const waiters = new Map<number, (payload: Buffer) => void>();

  function hear({ type, channel, payload }: InitFrame): void {
    const output = outputs.get(channel);
    if (type === fromInit.accept) egress.accept(channel);
    else if (type === fromInit.data && output !== undefined) {
      if (!output.kept.isTruncated) request.onOutput?.(output.name, payload);
      if (output.kept.add(payload)) link.sendNumber(toInit.ack, channel, payload.length);
      else fail(tooMuchOutput(request.maxOutputBytes));
    } else if (type === fromInit.failed) fail(describeFailure(request, channel, payload));
    else if (type === fromInit.entry) files.addEntry(payload);
    else if (type === fromInit.entryData) files.addData(payload);
    else waiters.get(type)?.(Buffer.from(payload));
  }

  link.listen({
    onFrame: (frame) => {
      try {
        hear(frame);
      } catch (error) {
        if (!(error instanceof HotcellError)) throw error;
        fail(error);
      }
    },
    onDown: () => void cell.explainEnd().then(fail, fail),
  });
  return {
    fail,
    files,
    /** Waits for the next frame of a type; rejects once the run failed. */
    next: (type: number): Promise<Buffer> =>
      Promise.race([failure, new Promise<Buffer>((resolve) => waiters.set(type, resolve))]),
    readOutput: () => ({
      stdout: stdout.read(),
      stderr: stderr.read(),
      truncated: stdout.isTruncated || stderr.isTruncated,
    }),
  };
}

/** At the end of its time a command is asked to end, and a moment later it fails whatever it does. */
function startClock(cell: CellContainer, request: CommandRequest, graceMs: number, fail: (error: unknown) => void) {
  let isLate = false;
  const late = () =>
    new HotcellError('time-exceeded', `The command ${quote(request.command)} did not end within ${request.timeoutMs} ms.`, {
      fix: 'Give it less to do, or more time: timeoutMs.',
    });
  let timer = setTimeout(() => {
    isLate = true;
    cell.link.sendNumber(toInit.kill, 0, constants.signals.SIGTERM);
    timer = setTimeout(() => fail(late()), graceMs);
  }, request.timeoutMs);
  return {
    stop: () => clearTimeout(timer),
    assertInTime: () => {
      if (isLate) throw late();
    },
  };
}

async function sendFiles(
  cell: CellContainer,
  files: NonNullable<CommandRequest['files']>,
  next: WatchedRun['next'],
): Promise<void> {
  const made = new Set<string>();
  for (const { path, data } of files) {
    const names = path.split('/');
    for (let depth = 1; depth < names.length; depth++) {
      const parent = names.slice(0, depth).join('/');
      if (!made.has(parent)) cell.link.send(toInit.folder, 0, Buffer.from(`${parent}\0`));
      made.add(parent);
    }
    cell.link.send(toInit.fileOpen, 0, Buffer.from(`${path}\0`));
    for (let at = 0; at < data.length; at += maxPayload) {
      cell.link.send(toInit.fileData, 0, data.subarray(at, at + maxPayload));
    }
  }
  const answered = next(fromInit.filesOk);
  cell.link.send(toInit.filesDone);
  const errno = (await answered).readUInt32LE(0);
  if (errno === constants.errno.ENOSPC) {
    throw new HotcellError('payload-too-large', 'The files do not fit into the folder of the command.', {
      fix: 'Pass fewer or smaller files, or raise docker.scratchBytes in the config.',
    });
  }
  if (errno !== 0) throw new HotcellError('engine-failed', `The files could not be put into the container (error ${errno}).`);
}

async function collect(cell: CellContainer, run: WatchedRun): Promise<Pick<CommandResult, 'files' | 'refused'>> {
  const done = run.next(fromInit.collected);
  cell.link.send(toInit.collect);
  const errno = (await done).readUInt32LE(0);
  if (errno !== 0) throw new HotcellError('payload-too-large', 'The command left too many files; they were not brought back.');
  return run.files.read();
}

/** What came back just as it was sent is no file that the command wrote: clocks of file systems are coarse. */
function dropSame(files: readonly CommandFile[], sent: readonly CommandFile[]): CommandFile[] {
  const sentByPath = new Map(sent.map(({ path, data }) => [path, data]));
  return files.filter(({ path, data }) => {
    const before = sentByPath.get(path);
    return before === undefined || !Buffer.from(before).equals(data);
  });
}

function readExitCode(payload: Buffer, request: CommandRequest): number {
  const { exitCode: code, signal, oomKills } = readExit(payload);
  const exitCode = signal === 0 ? code : 128 + signal;
  if (exitCode !== 0 && oomKills > 0) {
    throw new HotcellError('memory-exceeded', `The command ${quote(request.command)} used all the memory of its container.`, {
      fix: 'Have it use less memory, or raise docker.memoryBytes in the config.',
    });
  }
  return exitCode;
}

function describeFailure(request: CommandRequest, what: number, payload: Buffer): HotcellError {
  const errno = payload.readUInt32LE(0);
  if (what === toInit.exec && (errno === constants.errno.ENOENT || errno === constants.errno.EACCES)) {
    return new HotcellError('command-missing', `There is no command ${quote(request.command)} in the image ${request.image}.`, {
      fix: 'Name another image for it in docker.commands of the config, or put the program into the image.',
    });
  }
  if (what === toInit.exec && errno === constants.errno.E2BIG) {
    return new HotcellError('arguments-invalid', 'The arguments of the command are too long for a process.');
  }
  return new HotcellError('engine-failed', `The container could not start the command (error ${errno}).`);
}

function tooMuchOutput(maxBytes: number): HotcellError {
  return new HotcellError(
    'output-exceeded',
    `The command wrote far more than the ${maxBytes} bytes that are kept, and was ended.`,
    {
      fix: 'Have it write less, or write to a file.',
    },
  );
}

function quote(command: string): string {
  return JSON.stringify(command.slice(0, 80));
}
