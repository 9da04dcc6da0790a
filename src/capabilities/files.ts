import Type from 'typebox';
import type { BorderRequest } from '../border/border.ts';
import type { Capability, CapabilityResult, CapabilityTable, CarryOut } from '../border/capability.ts';
import type { CapabilityUser } from '../border/capability-user.ts';
import type { Config } from '../config/config-types.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import { mountOf } from '../permissions/path-grammar.ts';
import { describeFileError } from './files/file-error.ts';
import type { Mounts } from './files/mounts.ts';
import { describeEntry, hasEntry, listFolder, readFile } from './files/reading.ts';
import { admitName, admitPath, type GrantedPath } from './files/request.ts';
import { createWorkspaces, type FilePlace, type Workspaces } from './files/workspaces.ts';
import { appendFile, createFolder, deleteEntry, writeFile } from './files/writing.ts';
import { createPayloadReader } from './payload.ts';

interface Parts {
  readonly workspaces: Workspaces;
  readonly mounts: Mounts;
  readonly maxFileBytes: number;
}

type Answer = (request: BorderRequest, user: CapabilityUser, parts: Parts) => Promise<CapabilityResult>;

const path = Type.String({ maxLength: 4096 });
const strict = { additionalProperties: false };
const position = Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }));
const asWhat = Type.Optional(Type.Enum(['text', 'bytes']));
const readReadPayload = createPayloadReader(Type.Object({ path, as: asWhat, offset: position, limit: position }, strict));
const readContentPayload = createPayloadReader(Type.Object({ path, text: Type.Optional(Type.String()) }, strict));
const readListPayload = createPayloadReader(
  Type.Object({ path, after: Type.Optional(path), limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })) }, strict),
);
const readDeletePayload = createPayloadReader(Type.Object({ path, recursive: Type.Optional(Type.Boolean()) }, strict));
const readPathPayload = createPayloadReader(Type.Object({ path }, strict));

const answersByOperation: Readonly<Record<string, Answer>> = {
  'files.read': async (request, user, parts) => {
    const { path, as = 'text', offset, limit } = readReadPayload(request);
    const granted = admitName(path, 'read', user);
    const window = { ...(offset === undefined ? {} : { offset }), ...(limit === undefined ? {} : { limit }) };
    return placeOf(parts, granted, user).read((workspace) =>
      readFile(workspace, granted, { ...window, as, maxBytes: parts.maxFileBytes }),
    );
  },
  'files.write': async (request, user, parts) => {
    const { path, data } = readContent(request, parts.maxFileBytes);
    const granted = admitName(path, 'write', user);
    return placeOf(parts, granted, user).change((workspace) => writeFile(workspace, granted, data));
  },
  'files.append': async (request, user, parts) => {
    const { path, data } = readContent(request, parts.maxFileBytes);
    const granted = admitName(path, 'write', user);
    return placeOf(parts, granted, user).change((workspace) =>
      appendFile(workspace, granted, { data, maxFileBytes: parts.maxFileBytes }),
    );
  },
  'files.list': async (request, user, parts) => {
    const { path, ...page } = readListPayload(request);
    const granted = admitPath(path, 'read', user);
    return placeOf(parts, granted, user).read((workspace) => listFolder(workspace, granted, page));
  },
  'files.stat': async (request, user, parts) => {
    const granted = admitPath(readPathPayload(request).path, 'read', user);
    return placeOf(parts, granted, user).read((workspace) => describeEntry(workspace, granted));
  },
  'files.exists': async (request, user, parts) => {
    const granted = admitPath(readPathPayload(request).path, 'read', user);
    return placeOf(parts, granted, user).read((workspace) => hasEntry(workspace, granted));
  },
  'files.mkdir': async (request, user, parts) => {
    const granted = admitPath(readPathPayload(request).path, 'write', user);
    return placeOf(parts, granted, user).change((workspace) => createFolder(workspace, granted));
  },
  'files.delete': async (request, user, parts) => {
    const { path, recursive = false } = readDeletePayload(request);
    const granted = admitName(path, 'write', user);
    return placeOf(parts, granted, user).change((workspace) => deleteEntry(workspace, granted, { recursive }));
  },
};

/**
 * `context.files`: the caller's workspace, and the mounts of the config as `docs:/path`. `files.read {path, as?, offset?,
 * limit?}` answers `{text, size}` or `{size}` with bytes; `files.write` and `files.append {path, text?}` (or bytes) `{size}`;
 * `files.list {path, after?, limit?}` `{items: [{name, type}], next?}`; `files.stat` `{type, size, modifiedAtMs}`;
 * `files.exists` and `files.delete {path, recursive?}` a boolean; `files.mkdir` null.
 */
export function createFiles(options: {
  readonly dataDir: string;
  readonly limits: Config['files'];
  readonly mounts: Mounts;
}): Capability & Pick<CapabilityTable, 'workspace'> {
  const { dataDir, limits, mounts } = options;
  const parts: Parts = {
    workspaces: createWorkspaces({ dataDir, quotaBytes: limits.workspaceQuotaBytes }),
    mounts,
    maxFileBytes: limits.maxFileBytes,
  };
  return {
    operations: Object.fromEntries(
      Object.entries(answersByOperation).map(([operation, answer]) => [operation, carryOut(answer, parts)]),
    ),
    reads: ['files.read', 'files.list', 'files.stat'],
    workspace: async (user) => {
      const { read = [], write = [] } = user.granted();
      const isHere = (path: string) => mountOf(path) === undefined;
      return {
        dir: await parts.workspaces.locate(user.caller),
        read: read.filter(isHere),
        write: write.filter(isHere),
        quotaBytes: limits.workspaceQuotaBytes,
        maxFileBytes: limits.maxFileBytes,
      };
    },
  };
}

function carryOut(answer: Answer, parts: Parts): CarryOut {
  return async (request, user, signal) => {
    signal.throwIfAborted();
    try {
      return await answer(request, user, parts);
    } catch (error) {
      throw error instanceof HotcellError ? error : describeFileError(error, readShownPath(request.payload));
    }
  };
}

/** Where a granted path lies: in the caller's workspace or in a mount. */
function placeOf({ workspaces, mounts }: Parts, { mount }: GrantedPath, { caller }: CapabilityUser): FilePlace {
  return mount === undefined ? workspaces.of(caller) : mounts.find(mount);
}

/** What to write: bytes beside the payload, or text in it. */
function readContent(request: BorderRequest, maxFileBytes: number): { path: string; data: Uint8Array } {
  const { path, text } = readContentPayload(request);
  if (text === undefined && request.body === undefined) {
    throw new HotcellError('arguments-invalid', `${request.op} needs text or bytes to write, got nothing.`, {
      fix: 'Pass a string or a Uint8Array.',
    });
  }
  const data = request.body ?? Buffer.from(text ?? '');
  if (data.length > maxFileBytes) {
    throw new HotcellError('payload-too-large', `A file may have at most ${maxFileBytes} bytes; got ${data.length}.`);
  }
  return { path, data };
}

/** The path as the guest wrote it, for a message; the payload was valid by then. */
function readShownPath(payload: string): string {
  const value: unknown = JSON.parse(payload);
  const shown = typeof value === 'object' && value !== null && 'path' in value ? value.path : '';
  return typeof shown === 'string' ? shown.slice(0, 120) : '';
}
