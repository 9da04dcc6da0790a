import type { Caller } from '../../callers/caller.ts';
import { cursorUnknown } from '../../calls/record/execution-reader.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { KvEntry } from '../../store/tables/plugins/kv.ts';
import { seesTool } from '../../tools/seen-by-callers.ts';
import { type KvEntryView, kvContracts } from '../contracts/kv.ts';
import { implement, type Operation } from '../operation.ts';
import type { OperationParts } from '../operation-parts.ts';

/** A page ends at this many characters of keys and values, or after its first entry. */
const maxPageChars = 1024 * 1024;
const defaultLimit = 500;

interface PageInput {
  readonly plugin: string;
  readonly caller?: string;
  readonly limit?: number;
  readonly cursor?: string;
}

/** A plugin with values, and the path under which they are kept. */
interface Kept {
  readonly plugin: string;
  readonly path: string;
}

/** What can be done with the values of `context.kv`. */
export function createKvOperations(
  parts: Pick<OperationParts, 'store' | 'plugins' | 'grants' | 'config' | 'tools'>,
): Operation[] {
  const { plugins, grants, config, tools } = parts;
  const { kv } = parts.store;

  /** The path under which values are kept; those of a plugin that is gone can still be reached by it. */
  function find(name: string, caller: Caller): Kept {
    if (caller.role !== 'admin') return findForCaller(name, caller);
    try {
      const { name: plugin, path } = plugins.get(name);
      return { plugin, path: plugins.pathOf(path) };
    } catch (error) {
      if (kv.owners(name).length > 0) return { plugin: name, path: name };
      throw error;
    }
  }

  /** A caller hears of plugins whose tools it sees, and reaches what it has itself. */
  function findForCaller(plugin: string, caller: Caller): Kept {
    const seen = tools.list().find((entry) => entry.plugin === plugin && seesTool(caller, entry));
    const path = seen?.served.unit.path ?? pathOf(plugin);
    if (seen !== undefined || kv.usedBytes(path, caller.id) > 0) return { plugin, path };
    throw new HotcellError('plugin-unknown', `There is no plugin "${plugin.slice(0, 200)}" of which you have values.`, {
      fix: 'See the property plugin of the tools: hotcell tool list --json.',
    });
  }

  function pathOf(plugin: string): string {
    try {
      return plugins.pathOf(plugin);
    } catch {
      return plugin;
    }
  }

  function quotaOf(path: string): number {
    const isThere = plugins.list().some((view) => plugins.pathOf(view.path) === path);
    const asking = isThere ? plugins.asking(path) : undefined;
    const granted = asking === undefined ? undefined : grants.decide(asking).granted.kv;
    return (typeof granted === 'object' ? granted.quotaBytes : undefined) ?? config.kv.quotaBytes;
  }

  function readPage(input: PageInput, caller: Caller): Kept & { entries: KvEntry[]; next?: string } {
    const { plugin, path } = find(input.plugin, caller);
    const owner = caller.role === 'admin' ? input.caller : requireOwner(caller, input.caller);
    const limit = input.limit ?? defaultLimit;
    const after = input.cursor === undefined ? undefined : readKvCursor(input.cursor);
    const entries: KvEntry[] = [];
    let chars = 0;
    let isCut = false;
    for (const entry of kv.page(path, {
      limit,
      ...(owner !== undefined && { owner }),
      ...(after !== undefined && { after }),
    })) {
      chars += entry.key.length + entry.value.length;
      isCut = entries.length > 0 && chars > maxPageChars;
      if (isCut) break;
      entries.push(entry);
    }
    const last = entries.at(-1);
    const hasMore = last !== undefined && (isCut || entries.length === limit);
    return { plugin, path, entries, ...(hasMore ? { next: writeKvCursor(last) } : {}) };
  }

  function write({ plugin, path }: Kept, owner: string, { key, value }: KvEntryView, quotaBytes: number, written: number): void {
    const text = JSON.stringify(value);
    const bytes = Buffer.byteLength(text);
    const facts = { written, key };
    if (bytes > config.kv.maxValueBytes) {
      const message = `The value of "${key}" has ${bytes} bytes as JSON; at most ${config.kv.maxValueBytes} are kept. ${written} entries were written before it.`;
      throw new HotcellError('payload-too-large', message, { facts });
    }
    if (kv.set(path, owner, key, text, quotaBytes)) return;
    const message = `"${plugin}" may keep ${quotaBytes} bytes for ${owner}; "${key}" does not fit. ${written} entries were written before it.`;
    throw new HotcellError('quota-exceeded', message, {
      facts,
      fix: 'Delete keys that are not needed, or grant a larger kv quota.',
    });
  }

  return [
    implement(kvContracts.list, (input, { caller }) => {
      const { entries, path, ...page } = readPage(input, caller);
      const sees = (owner: string) => (caller.role === 'admin' ? (input.caller ?? owner) : caller.id) === owner;
      const owners = kv.owners(path).filter(({ owner }) => sees(owner));
      return {
        ...page,
        items: entries.map(({ owner, key, value }) => ({ caller: owner, key, bytes: Buffer.byteLength(value) })),
        owners: owners.map(({ owner, bytes }) => ({ caller: owner, bytes })),
      };
    }),
    implement(kvContracts.export, (input, { caller }) => {
      const { entries, path: _path, ...page } = readPage(input, caller);
      return { ...page, items: entries.map(({ owner, key, value }) => ({ caller: owner, key, value: readValue(value) })) };
    }),
    implement(kvContracts.import, ({ plugin: asked, caller: target, entries }, { caller }) => {
      const kept = find(asked, caller);
      const quotaBytes = quotaOf(kept.path);
      const owners = entries.map((entry) => requireOwner(caller, target ?? entry.caller));
      for (const [index, entry] of entries.entries()) write(kept, owners[index] ?? caller.id, entry, quotaBytes, index);
      return { plugin: kept.plugin, written: entries.length };
    }),
    implement(kvContracts.delete, ({ plugin: asked, caller: target, key, prefix }, { caller }) => {
      if ((key === undefined) === (prefix === undefined)) {
        throw new HotcellError('body-invalid', 'Expected either key, or prefix for all keys that begin so ("" for all).');
      }
      const { plugin, path } = find(asked, caller);
      const owner = requireOwner(caller, target);
      const deleted = key === undefined ? kv.deleteAll(path, owner, prefix ?? '') : Number(kv.delete(path, owner, key));
      return { plugin, deleted };
    }),
  ];
}

/** Whose values somebody means; throws `forbidden` for those of others. */
function requireOwner({ id, role }: Caller, asked: string | undefined): string {
  if (asked === undefined || asked === id || role === 'admin') return asked ?? id;
  throw new HotcellError('forbidden', 'A key of role caller reaches its own values only.');
}

function readValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new HotcellError('storage-damaged', 'A value of context.kv is not JSON.', { cause });
  }
}

/** The place after which the next page begins, as an opaque text. */
function writeKvCursor({ owner, key }: { readonly owner: string; readonly key: string }): string {
  return Buffer.from(JSON.stringify([owner, key])).toString('base64url');
}

/** Throws `body-invalid` for a text that is no cursor. */
export function readKvCursor(cursor: string): { owner: string; key: string } {
  try {
    const place: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (Array.isArray(place) && place.length === 2 && place.every((part) => typeof part === 'string')) {
      const [owner = '', key = ''] = place;
      return { owner, key };
    }
  } catch {
    // Told below, like every other text that no page gave out.
  }
  throw cursorUnknown();
}
