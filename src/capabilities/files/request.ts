import type { CapabilityUser } from '../../border/capability-user.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { type Matchers, matchersOf } from '../../permissions/matchers.ts';
import { mountOf, parsePlace } from '../../permissions/path-grammar.ts';
import { createDenial } from '../permission-denial.ts';

/** A path that was checked against the grammar and the grant. */
export interface GrantedPath {
  /** In its one spelling: `.`, `data/x`, `docs:/`, `docs:/x`. */
  readonly path: string;
  /** The name of the mount; absent for the workspace. */
  readonly mount?: string;
  readonly names: readonly string[];
}

/** A granted path with a name of its own: everything but the workspace itself. */
export interface GrantedName extends GrantedPath {
  readonly parents: readonly string[];
  readonly name: string;
}

const allows: Readonly<Record<'read' | 'write', (matchers: Matchers, path: string) => boolean>> = {
  read: (matchers, path) => matchers.allowsRead(path),
  write: (matchers, path) => matchers.allowsWrite(path),
};

/** Checks a path of a guest. Throws `file-refused` or `permission-denied`. */
export function admitPath(written: string, key: 'read' | 'write', user: CapabilityUser): GrantedPath {
  const parsed = parsePlace(written);
  if (!parsed.ok) {
    const shown = JSON.stringify(written.slice(0, 120));
    throw new HotcellError('file-refused', `The path ${shown} ${parsed.reason}.`);
  }
  const { path, mount } = parsed;
  if (!allows[key](matchersOf(user.granted()), path))
    throw createDenial(user, { key, entry: path, tried: `${key} ${JSON.stringify(path)}` });
  user.noteUse(key, path, true);
  return { path, names: parsed.segments, ...(mount === undefined ? {} : { mount }) };
}

/** Checks a path of a guest for operations that need a file or folder in the workspace, not the workspace itself. */
export function admitName(written: string, key: 'read' | 'write', user: CapabilityUser): GrantedName {
  const granted = admitPath(written, key, user);
  const name = granted.names.at(-1);
  if (name === undefined)
    throw new HotcellError(
      'file-failed',
      `${mountOf(granted.path) === undefined ? 'The workspace' : 'The mount'} itself is a folder that stays.`,
    );
  return { ...granted, name, parents: granted.names.slice(0, -1) };
}
