import { constants } from 'node:os';
import { finished } from 'node:stream/promises';
import type { CapabilityTable } from '../../border/capability.ts';
import type { CommandRequest } from '../../border/container-command.ts';
import type { CommandRunner, OpenedCell } from '../../engines/process/docker/command/command-runner.ts';
import { describeEnvironment, encodeExec, proxyPort } from '../../engines/process/docker/command/exec-payload.ts';
import { createEgress } from '../../engines/process/docker/egress/egress.ts';
import { RelayedSocket } from '../../engines/process/docker/egress/relayed-socket.ts';
import { fromInit, type InitFrame, toInit } from '../../engines/process/docker/init/init-frames.ts';
import { nameMcpUnit } from '../mcp-unit.ts';
import type { LocalProgram } from './local-program.ts';
import { createMcpUser } from './mcp-network.ts';
import type { ProgramEnd, RunningProgram } from './program.ts';

/** What is started in a container. */
export interface ContainerStart {
  /** The image by its name in the allow list. */
  readonly image: string;
  /** Where it may go, in the grammar of `net`; nowhere when there is nothing. */
  readonly net: readonly string[];
  /** Its environment is beside that of the image. */
  readonly program: LocalProgram;
}

/** Starts the program of a server in a container. Rejects with a HotcellError, and leaves nothing behind then. */
export type StartInContainer = (server: string, start: ContainerStart, signal: AbortSignal) => Promise<RunningProgram>;

const [stdinChannel, stdoutChannel, stderrChannel] = [1, 2, 3];
/** So long what it wrote last is read. */
const lastWordsMs = 500;

/** Creates what starts them: containers of commands, with the network check of servers. */
export function createContainerStarter({
  containers,
  capabilities,
}: {
  readonly containers: Pick<CommandRunner, 'hold'>;
  readonly capabilities: Pick<CapabilityTable, 'dial'>;
}): StartInContainer {
  return async (server, start, signal) => {
    const opened = await containers.hold({ id: nameMcpUnit(server), image: start.image }, signal);
    const user = createMcpUser(server, () => ({ net: [...start.net] }));
    return runIn(opened, start, start.net.length === 0 ? undefined : (to, over) => capabilities.dial(to, user, over));
  };
}

/** The container ran nothing before; it is removed when the program ends. */
function runIn(opened: OpenedCell, { image, program }: ContainerStart, dial: CommandRequest['dial']): RunningProgram {
  const { cell, imageEnv, done } = opened;
  const { link } = cell;
  const over = Promise.withResolvers<ProgramEnd>();
  const stdin = new RelayedSocket(link, stdinChannel);
  const stdout = new RelayedSocket(link, stdoutChannel);
  const stderr = new RelayedSocket(link, stderrChannel);
  const egress = dial === undefined ? undefined : createEgress({ link, dial });
  let isOver = false;

  async function end(sentence: string, hasLastWords = false): Promise<void> {
    if (isOver) return;
    isOver = true;
    egress?.close();
    const outputs = [stdout, stderr];
    const timer = setTimeout(() => outputs.map((stream) => stream.destroy()), lastWordsMs);
    await Promise.allSettled(outputs.map((stream) => finished(stream, { writable: false })));
    clearTimeout(timer);
    link.close();
    await done();
    over.resolve({ sentence, hasLastWords });
  }

  function hear(frame: InitFrame): void {
    const { type, channel, payload } = frame;
    if (type === fromInit.failed) void end(explainStart(payload.readUInt32LE(0), { image, program }));
    else if (type === fromInit.exit) void end(...explainExit(payload));
    else if (type === fromInit.accept || channel > stderrChannel) egress?.hear(frame);
    else if (type === fromInit.ack) link.acknowledge(channel, payload.readUInt32LE(0));
    else {
      const stream = channel === stdoutChannel ? stdout : channel === stderrChannel ? stderr : stdin;
      if (type === fromInit.data) stream.takeData(payload);
      else if (type === fromInit.end) stream.takeEnd();
      else if (type === fromInit.close) stream.takeClose();
    }
  }

  cell.listen({
    onFrame: (frame) => {
      try {
        hear(frame);
      } catch {
        // A frame that is shorter than it must be.
        link.close();
      }
    },
    onDown: () => {
      if (!isOver) void cell.explainEnd('the MCP server').then(({ message }) => end(message));
      for (const stream of [stdin, stdout, stderr]) stream.destroy();
    },
    onDrain: (channel) => (channel === stdinChannel ? stdin.takeDrain() : egress?.drain(channel)),
  });
  const { command, args, cwd = '/workspace' } = program;
  const env = { ...describeEnvironment(imageEnv, egress !== undefined), ...program.env };
  try {
    const exec = encodeExec({ folder: cwd, command, args, env });
    if (egress !== undefined) link.sendNumber(toInit.listen, 0, proxyPort);
    link.send(toInit.exec, 0, exec);
  } catch (error) {
    void end('It was not started.');
    throw error;
  }
  return {
    stdin,
    stdout,
    stderr,
    ended: over.promise,
    signal: (how) => (how === 'SIGKILL' ? void end('It was ended.') : link.sendNumber(toInit.kill, 0, constants.signals[how])),
  };
}

function explainStart(errno: number, { image, program }: Pick<ContainerStart, 'image' | 'program'>): string {
  const { ENOENT, EACCES } = constants.errno;
  const { command, cwd } = program;
  if (errno === EACCES) return `The program "${command}" of the image ${image} may not be started.`;
  if (errno !== ENOENT) return `The program "${command}" could not be started in its container (error ${errno}).`;
  const folder = cwd === undefined ? '' : `, or no folder "${cwd}"`;
  return `There is no program "${command}" in the image ${image}${folder}: look at the command of its entry.`;
}

/** A wait status, then how often the kernel ended a process of the container for want of memory. */
function explainExit(payload: Buffer): [sentence: string, hasLastWords: boolean] {
  const status = payload.readUInt32LE(0);
  if (status !== 0 && payload.readUInt32LE(4) > 0)
    return ['The program used all the memory of its container: docker.memoryBytes of the config.', false];
  const signal = status & 0x7f;
  const [name = `signal ${signal}`] = Object.entries(constants.signals).find(([, number]) => number === signal) ?? [];
  return [`The program ended ${signal === 0 ? `with exit code ${(status >> 8) & 0xff}` : `by ${name}`}.`, true];
}
