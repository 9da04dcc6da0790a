import { constants } from 'node:os';
import { finished } from 'node:stream/promises';
import type { CapabilityTable } from '../../border/capability.ts';
import type { CommandRequest } from '../../border/container-command.ts';
import type { CommandRunner, OpenedCell } from '../../engines/process/docker/command/command-runner.ts';
import { describeEnvironment, encodeExec, proxyPort } from '../../engines/process/docker/command/exec-payload.ts';
import { createEgress } from '../../engines/process/docker/container/egress.ts';
import { fromInit, type InitFrame, readExit, standardChannels, toInit } from '../../engines/process/docker/init/init-frames.ts';
import { nameMcpUnit } from '../mcp-unit.ts';
import type { LocalProgram, ProgramEnd, RunningProgram } from './local-program.ts';
import { createMcpUser } from './mcp-network.ts';

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
  const stdin = link.open(standardChannels.stdin);
  const stdout = link.open(standardChannels.stdout);
  const stderr = link.open(standardChannels.stderr);
  const egress = createEgress(link, dial);
  let isOver = false;

  async function end(sentence: string, hasLastWords = false): Promise<void> {
    if (isOver) return;
    isOver = true;
    egress.close();
    const outputs = [stdout, stderr];
    const timer = setTimeout(() => outputs.map((stream) => stream.destroy()), lastWordsMs);
    await Promise.allSettled(outputs.map((stream) => finished(stream, { writable: false })));
    clearTimeout(timer);
    link.close();
    await done();
    over.resolve({ sentence, hasLastWords });
  }

  function hear({ type, channel, payload }: InitFrame): void {
    if (type === fromInit.failed) void end(explainStart(payload.readUInt32LE(0), { image, program }));
    else if (type === fromInit.exit) void end(...explainExit(payload));
    else if (type === fromInit.accept) egress.accept(channel);
  }

  link.listen({
    onFrame: hear,
    onDown: () => void (isOver || cell.explainEnd('the MCP server').then(({ message }) => end(message))),
  });
  const { command, args, cwd = '/workspace' } = program;
  const env = { ...describeEnvironment(imageEnv, dial !== undefined), ...program.env };
  try {
    const exec = encodeExec({ folder: cwd, command, args, env });
    if (dial !== undefined) link.sendNumber(toInit.listen, 0, proxyPort);
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

function explainExit(payload: Buffer): [sentence: string, hasLastWords: boolean] {
  const { exitCode, signal, oomKills } = readExit(payload);
  if ((exitCode !== 0 || signal !== 0) && oomKills > 0)
    return ['The program used all the memory of its container: docker.memoryBytes of the config.', false];
  const [name = `signal ${signal}`] = Object.entries(constants.signals).find(([, number]) => number === signal) ?? [];
  return [`The program ended ${signal === 0 ? `with exit code ${exitCode}` : `by ${name}`}.`, true];
}
