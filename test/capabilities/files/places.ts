import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openTable } from '../table-harness.ts';

/** Where files of plugins lie: every attack is tried on both. */
export const places = ['workspace', 'mount'] as const;
export type PlaceName = (typeof places)[number];

/** The real capabilities, and one place of theirs with all of it granted. */
export function openPlace(name: PlaceName) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'hotcell-place-')));
  const mount = join(base, 'docs');
  mkdirSync(mount);
  const table = openTable({ mounts: { docs: { path: mount, write: true } } });
  const dir = name === 'mount' ? mount : table.workspaceOf();
  mkdirSync(dir, { recursive: true });
  const outside = join(base, 'outside');
  mkdirSync(outside);
  const at = (path: string) => (name === 'mount' ? `docs:/${path}` : path);
  const granted = { grant: name === 'mount' ? { read: ['docs:/'], write: ['docs:/'] } : { read: ['.'], write: ['.'] } };
  return {
    table,
    /** The folder on this machine. */
    dir,
    /** A folder beside it that no guest may reach. */
    outside,
    granted,
    /** A path in the place as a guest writes it. */
    at,
    ask: (op: string, { path, ...payload }: { readonly path: string; readonly [key: string]: unknown }) =>
      table.value(op, { path: at(path), ...payload }, granted),
    [Symbol.asyncDispose]: async () => {
      await table[Symbol.asyncDispose]();
      rmSync(base, { recursive: true, force: true });
    },
  };
}
