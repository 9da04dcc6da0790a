import Type, { type Static } from 'typebox';
import type { BorderRequest } from '../border/border.ts';
import type { Capability, CapabilityResult, CapabilityTable } from '../border/capability.ts';
import type { CapabilityUser } from '../border/capability-user.ts';
import type { RunCommand } from '../border/container-command.ts';
import type { Config } from '../config/config-types.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import { findNearNames } from '../errors/near-names.ts';
import { matchersOf } from '../permissions/matchers.ts';
import { createPayloadReader } from './payload.ts';
import { createDenial } from './permission-denial.ts';
import { runNative } from './run/run-native.ts';

/** What `context.run` needs of the daemon. */
export interface RunParts {
  /** Absent where no engine for commands is built in. */
  readonly runCommand: RunCommand | undefined;
  readonly settings: Config['docker'];
  /** `context.files`, by which files come and go: with its grants, limits and quota. */
  readonly files: Capability;
  readonly dial: CapabilityTable['dial'];
}

const strict = { additionalProperties: false };
const options = Type.Object(
  {
    stdin: Type.Optional(Type.String()),
    files: Type.Optional(Type.Array(Type.String({ maxLength: 4096 }), { maxItems: 1000 })),
    timeoutMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 3_600_000 })),
    image: Type.Optional(Type.String({ maxLength: 256 })),
    as: Type.Optional(Type.Enum(['text', 'bytes'])),
  },
  strict,
);
const readPayload = createPayloadReader(
  Type.Object(
    {
      command: Type.String({ minLength: 1, maxLength: 256 }),
      args: Type.Optional(Type.Array(Type.String({ maxLength: 65_536 }), { maxItems: 999 })),
      options: Type.Optional(options),
    },
    strict,
  ),
);
type RunOptions = Static<typeof options>;

/**
 * `context.run`: a native command in a container of its own. `run {command, args, options: {stdin?, files?, timeoutMs?,
 * as?}}` answers `{exitCode, stdout, stderr, truncated, files, left}`: `files` names what was written back to the workspace,
 * `left` what was not, because no grant allows it or it is no regular file. `as: 'bytes'` answers standard output as bytes.
 */
export function createRun(parts: RunParts): Capability {
  return { operations: { run: (request, user, signal) => answerRun(request, user, parts, signal) } };
}

async function answerRun(
  request: BorderRequest,
  user: CapabilityUser,
  parts: RunParts,
  signal: AbortSignal,
): Promise<CapabilityResult> {
  const { command, args = [], options = {} } = readPayload(request);
  admitCommand(command, user);
  const { runCommand, settings, files } = parts;
  const image = chooseImage(command, options, settings);
  if (runCommand === undefined) throw new HotcellError('not-supported', 'context.run is not part of this daemon.');
  const stdin = request.body ?? (options.stdin === undefined ? undefined : Buffer.from(options.stdin));
  const { stdout, stderr, ...facts } = await runNative(
    { runCommand, settings, files, dial: parts.dial },
    {
      image,
      command,
      args,
      paths: options.files ?? [],
      timeoutMs: Math.min(options.timeoutMs ?? settings.timeoutMs, settings.timeoutMs),
      network: true,
      ...(stdin === undefined ? {} : { stdin }),
    },
    user,
    signal,
  );
  const payload = { ...facts, stderr: decode(stderr) };
  if (options.as === 'bytes') return { payload, body: stdout };
  return { payload: { ...payload, stdout: decode(stdout) } };
}

function admitCommand(command: string, user: CapabilityUser): void {
  if (!matchersOf(user.granted()).allowsRun(command)) {
    throw createDenial(user, { key: 'run', entry: command, tried: `run ${JSON.stringify(command)}` });
  }
  user.noteUse('run', command, true);
}

/** The operator chooses the image; a plugin may name it only to say which one it was written for. */
function chooseImage(command: string, { image }: RunOptions, { commands }: Config['docker']): string {
  const chosen = Object.hasOwn(commands, command) ? commands[command] : undefined;
  if (chosen === undefined) {
    const near = findNearNames(command, Object.keys(commands));
    throw new HotcellError('command-missing', `No image is named for the command ${JSON.stringify(command)}.`, {
      fix: `Name one in the config: docker.commands: { ${command.slice(0, 80)}: IMAGE }.${near.length > 0 ? ` There is ${near.join(', ')}.` : ''}`,
    });
  }
  if (image === undefined || image === chosen) return chosen;
  const message = `The command ${JSON.stringify(command)} runs in ${chosen}, not in ${JSON.stringify(image)}.`;
  throw new HotcellError('image-refused', message, {
    fix: 'Leave the option image out: docker.commands of the config says in which image a command runs.',
  });
}

function decode(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}
