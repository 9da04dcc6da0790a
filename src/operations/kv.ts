import { HotcellError } from '../errors/hotcell-error.ts';
import type { KvEntry } from '../store/store-types.ts';
import type { Caller } from '../tools/tool-types.ts';
import { seesTool } from '../tools/visible-tools.ts';
import { type KvEntryView, kvContracts } from './contracts/kv.ts';
import { readKvCursor, writeKvCursor } from './kv-cursor.ts';
import { implement, type Operation } from './operation.ts';
import type { OperationParts } from './parts.ts';

/** A page ends at this many characters of keys and values, or after its first entry. */
const mostPageChars = 1024 * 1024;
const defaultLimit = 500;

interface PageInput {
  readonly plugin: string;
  readonly caller?: string;
  readonly limit?: number;
  readonly cursor?: string;
}

/** What can be done with the values of `context.kv`. */
export function createKvOperations(
  parts: Pick<OperationParts, 'store' | 'plugins' | 'grants' | 'config' | 'tools'>,
): Operation[] {
  const { plugins, grants, config, tools } = parts;
  const { kv } = parts.store;

  /** The name under which values are kept; those of a plugin that is gone can still be reached. */
  function nameOf(plugin: string, caller: Caller): string {
    if (caller.role !== 'admin') return nameForCaller(plugin, caller);
    try {
      return plugins.get(plugin).name;
    } catch (error) {
      if (kv.owners(plugin).length > 0) return plugin;
      throw error;
    }
  }

  /** A caller hears of plugins whose tools it sees, and reaches what it has itself. */
  function nameForCaller(plugin: string, caller: Caller): string {
    const isSeen = tools.list().some((entry) => entry.plugin === plugin && seesTool(caller, entry));
    if (isSeen || kv.usedBytes(plugin, caller.id) > 0) return plugin;
    throw new HotcellError('plugin-unknown', `There is no plugin "${plugin.slice(0, 200)}" of which you have values.`, {
      fix: 'See the property plugin of the tools: hotcell tool list --json.',
    });
  }

  function quotaOf(plugin: string): number {
    const isThere = plugins.list().some(({ name }) => name === plugin);
    const asking = isThere ? plugins.asking(plugin) : undefined;
    const granted = asking === undefined ? undefined : grants.decide(asking).granted.kv;
    return (typeof granted === 'object' ? granted.quotaBytes : undefined) ?? config.kv.quotaBytes;
  }

  function readPage(input: PageInput, caller: Caller): { plugin: string; entries: KvEntry[]; next?: string } {
    const plugin = nameOf(input.plugin, caller);
    const owner = caller.role === 'admin' ? input.caller : requireOwner(caller, input.caller);
    const limit = input.limit ?? defaultLimit;
    const after = input.cursor === undefined ? undefined : readKvCursor(input.cursor);
    const entries: KvEntry[] = [];
    let chars = 0;
    let isCut = false;
    for (const entry of kv.page(plugin, {
      limit,
      ...(owner !== undefined && { owner }),
      ...(after !== undefined && { after }),
    })) {
      chars += entry.key.length + entry.value.length;
      isCut = entries.length > 0 && chars > mostPageChars;
      if (isCut) break;
      entries.push(entry);
    }
    const last = entries.at(-1);
    const hasMore = last !== undefined && (isCut || entries.length === limit);
    return { plugin, entries, ...(hasMore ? { next: writeKvCursor(last) } : {}) };
  }

  function write(plugin: string, owner: string, { key, value }: KvEntryView, quotaBytes: number, written: number): void {
    const text = JSON.stringify(value);
    const bytes = Buffer.byteLength(text);
    const facts = { written, key };
    if (bytes > config.kv.maxValueBytes) {
      const message = `The value of "${key}" has ${bytes} bytes as JSON; at most ${config.kv.maxValueBytes} are kept. ${written} entries were written before it.`;
      throw new HotcellError('payload-too-large', message, { facts });
    }
    if (kv.set(plugin, owner, key, text, quotaBytes)) return;
    const message = `"${plugin}" may keep ${quotaBytes} bytes for ${owner}; "${key}" does not fit. ${written} entries were written before it.`;
    throw new HotcellError('quota-exceeded', message, {
      facts,
      fix: 'Delete keys that are not needed, or grant a larger kv quota.',
    });
  }

  return [
    implement(kvContracts.list, (input, { caller }) => {
      const { entries, ...page } = readPage(input, caller);
      const sees = (owner: string) => (caller.role === 'admin' ? (input.caller ?? owner) : caller.id) === owner;
      const owners = kv.owners(page.plugin).filter(({ owner }) => sees(owner));
      return {
        ...page,
        items: entries.map(({ owner, key, value }) => ({ caller: owner, key, bytes: Buffer.byteLength(value) })),
        owners: owners.map(({ owner, bytes }) => ({ caller: owner, bytes })),
      };
    }),
    implement(kvContracts.export, (input, { caller }) => {
      const { entries, ...page } = readPage(input, caller);
      return { ...page, items: entries.map(({ owner, key, value }) => ({ caller: owner, key, value: readValue(value) })) };
    }),
    implement(kvContracts.import, ({ plugin: asked, caller: target, entries }, { caller }) => {
      const plugin = nameOf(asked, caller);
      const quotaBytes = quotaOf(plugin);
      const owners = entries.map((entry) => requireOwner(caller, target ?? entry.caller));
      for (const [index, entry] of entries.entries()) write(plugin, owners[index] ?? caller.id, entry, quotaBytes, index);
      return { plugin, written: entries.length };
    }),
    implement(kvContracts.delete, ({ plugin: asked, caller: target, key, prefix }, { caller }) => {
      if ((key === undefined) === (prefix === undefined)) {
        throw new HotcellError('body-invalid', 'Expected either key, or prefix for all keys that begin so ("" for all).');
      }
      const plugin = nameOf(asked, caller);
      const owner = requireOwner(caller, target);
      const deleted = key === undefined ? kv.deleteAll(plugin, owner, prefix ?? '') : Number(kv.delete(plugin, owner, key));
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
