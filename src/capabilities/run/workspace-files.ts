import Type from 'typebox';
import Value from 'typebox/value';
import type { Capability, CapabilityResult } from '../../border/capability.ts';
import type { CapabilityUser } from '../../border/capability-user.ts';
import type { CommandFile } from '../../border/container-command.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { matchersOf } from '../../permissions/matchers.ts';
import { parseRelativePath } from '../../permissions/path-grammar.ts';

interface FileUse {
  readonly user: CapabilityUser;
  readonly signal: AbortSignal;
}

const maxFiles = 5000;
const status = Type.Object({ type: Type.Enum(['file', 'folder', 'other']), size: Type.Integer() });
const page = Type.Object({
  items: Type.Array(Type.Object({ name: Type.String(), type: Type.Enum(['file', 'folder', 'other']) })),
  next: Type.Optional(Type.String()),
});

/**
 * Reads what a command gets of the workspace: the named files, and what is in the named folders, by `context.files` and so
 * as far as it is granted. Throws `permission-denied`, `file-failed` and `payload-too-large`.
 */
export async function bringFiles(
  files: Capability,
  paths: readonly string[],
  use: FileUse & { readonly maxBytes: number },
): Promise<CommandFile[]> {
  const found = new Map<string, Uint8Array>();
  let bytes = 0;

  async function bringFile(path: string): Promise<void> {
    if (found.has(path)) return;
    const { body = new Uint8Array() } = await ask(files, 'files.read', { path, as: 'bytes' }, use);
    bytes += body.length;
    if (bytes > use.maxBytes || found.size >= maxFiles) {
      throw new HotcellError('payload-too-large', `The files of a command may have ${use.maxBytes} bytes in all.`, {
        fix: 'Name the files that the command needs, or raise docker.scratchBytes in the config.',
      });
    }
    found.set(path, body);
  }

  async function bringFolder(path: string): Promise<void> {
    for (let after: string | undefined; ; ) {
      const listed = await ask(files, 'files.list', { path, ...(after === undefined ? {} : { after }) }, use);
      const { items, next } = Value.Parse(page, listed.payload);
      for (const { name, type } of items) {
        const inner = path === '.' ? name : `${path}/${name}`;
        // Links and what is forbidden by name stay where they are: a folder is brought as far as it can be.
        if (!parseRelativePath(inner).ok) continue;
        if (type === 'file') await bringFile(inner);
        else if (type === 'folder') await bringFolder(inner);
      }
      if (next === undefined) return;
      after = next;
    }
  }

  for (const written of paths) {
    const parsed = parseRelativePath(written);
    const path = parsed.ok ? parsed.segments.join('/') || '.' : written;
    const { type } = Value.Parse(status, (await ask(files, 'files.stat', { path }, use)).payload);
    if (type === 'folder') await bringFolder(path);
    else await bringFile(path);
  }
  return [...found].map(([path, data]) => ({ path, data }));
}

/**
 * Writes what a command left back to the workspace by `context.files`: what no `write` grant allows is left. Throws
 * `quota-exceeded` and `payload-too-large`; the files before the one that did not fit are there then.
 */
export async function putBack(
  files: Capability,
  results: readonly CommandFile[],
  use: FileUse,
): Promise<{ readonly written: readonly string[]; readonly left: readonly string[] }> {
  const written: string[] = [];
  const left: string[] = [];
  for (const { path, data } of results) {
    if (matchersOf(use.user.granted()).allowsWrite(path)) {
      await ask(files, 'files.write', { path }, use, data);
      written.push(path);
    } else {
      left.push(path);
    }
  }
  return { written, left };
}

function ask(files: Capability, op: string, payload: object, use: FileUse, body?: Uint8Array): Promise<CapabilityResult> {
  const carryOut = files.operations[op];
  if (carryOut === undefined) throw new Error(`there is no operation ${op}`);
  return carryOut({ op, payload: JSON.stringify(payload), ...(body && { body }) }, use.user, use.signal);
}
