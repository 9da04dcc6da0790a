import { CLIENT_INFO_META_KEY } from '@modelcontextprotocol/server';
import type { Caller } from '../callers/caller.ts';
import { BoundedMap } from '../collections/bounded-map.ts';
import { countedAs } from '../config/counted-callers.ts';
import { isObject } from '../config/json-object.ts';
import type { McpClientView } from '../operations/contracts/mcp.ts';

interface Entry {
  readonly caller: string;
  readonly era: McpClientView['era'];
  client: string;
  usedAtMs: number;
  toldAtMs?: number;
  listeners: number;
}

const forgottenAfterMs = 3_600_000;
/** A caller that calls itself something else with every request is one client. */
const maxEntries = 500;

/** Who speaks MCP with the daemon, for people who look. */
export type ClientBook = ReturnType<typeof createClientBook>;

/** Keeps them by key and era: what a client calls itself decides nothing. */
export function createClientBook() {
  const entries = new BoundedMap<string, Entry>(maxEntries);

  function entryOf({ id }: Caller, era: McpClientView['era']): Entry {
    const caller = countedAs(id);
    const key = `${era} ${caller}`;
    const entry = entries.get(key) ?? { caller, era, client: 'unknown', usedAtMs: Date.now(), listeners: 0 };
    entries.set(key, entry);
    return entry;
  }

  return {
    /** A request came in; `listens` where it stays open to be told of changes. */
    note(caller: Caller, era: McpClientView['era'], body: unknown): void {
      const entry = entryOf(caller, era);
      entry.usedAtMs = Date.now();
      entry.client = readName(body) ?? entry.client;
    },
    /** Somebody listens until the returned function is called. */
    listens(caller: Caller, era: McpClientView['era']): () => void {
      const entry = entryOf(caller, era);
      entry.listeners++;
      return () => {
        entry.listeners--;
      };
    },
    told(caller: Caller): void {
      const id = countedAs(caller.id);
      for (const entry of entries.values()) if (entry.caller === id && entry.listeners > 0) entry.toldAtMs = Date.now();
    },
    list(): McpClientView[] {
      const since = Date.now() - forgottenAfterMs;
      const recent = [...entries.values()].filter(({ usedAtMs, listeners }) => listeners > 0 || usedAtMs >= since);
      return recent.reverse().map(({ listeners, ...entry }) => ({ ...entry, listening: listeners > 0 }));
    },
  };
}

/** Said in every request of the era without sessions, and in the first of a session. */
function readName(body: unknown): string | undefined {
  if (!isObject(body) || !isObject(body.params)) return undefined;
  const { _meta, clientInfo } = body.params;
  const info = isObject(_meta) ? (_meta[CLIENT_INFO_META_KEY] ?? clientInfo) : clientInfo;
  if (!isObject(info) || typeof info.name !== 'string') return undefined;
  const version = typeof info.version === 'string' ? ` ${info.version}` : '';
  return `${info.name}${version}`.replaceAll(/\p{C}/gu, '').slice(0, 120);
}
