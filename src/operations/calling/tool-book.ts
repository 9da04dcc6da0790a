import type { Caller } from '../../callers/caller.ts';
import type { EventLog } from '../../events/event.ts';
import { encodeToolName } from '../../models/wire/tool-names.ts';
import type { Ask } from '../ask.ts';
import { type ToolView, toolContracts } from '../contracts/tools.ts';

/** The tools that one caller sees, by the names under which MCP clients know them; in a fixed order. */
export interface ToolBook {
  readonly tools: readonly ListedTool[];
  find(name: string): ToolView | undefined;
}

/** A tool and its name in MCP. */
export interface ListedTool {
  readonly name: string;
  readonly view: ToolView;
}

/** Looks tools up; what was read serves until the tools change. */
export type ToolBooks = ReturnType<typeof openToolBooks>;

const pageSize = 1000;

/** Reads with the rights of each caller. */
export function openToolBooks(ask: Ask, events: Pick<EventLog, 'subscribe'>) {
  let books = new WeakMap<Caller, Promise<ToolBook>>();
  const close = events.subscribe({ types: ['tools-change', 'setting-change'] }, () => {
    books = new WeakMap();
  });

  async function read(caller: Caller): Promise<ToolBook> {
    const views = new Map<string, ToolView>();
    const context = { caller, signal: new AbortController().signal };
    let cursor: string | undefined;
    do {
      const page = await ask(
        toolContracts.list,
        { forModel: true, limit: pageSize, ...(cursor === undefined ? {} : { cursor }) },
        context,
      );
      for (const view of page.items) views.set(view.name, view);
      cursor = page.next;
    } while (cursor !== undefined);
    const tools = [...views.values()].map((view) => ({ name: encodeToolName(view.name), view }));
    tools.sort((a, b) => (a.name < b.name ? -1 : 1));
    const byName = new Map(tools.map(({ name, view }) => [name, view]));
    return { tools, find: (name) => byName.get(name) ?? views.get(name) };
  }

  return {
    read(caller: Caller): Promise<ToolBook> {
      const known = books.get(caller);
      if (known !== undefined) return known;
      const book = read(caller);
      books.set(caller, book);
      book.catch(() => books.delete(caller));
      return book;
    },
    close,
  };
}

/** What a model is told of a tool. */
export function describeForModel({ description, usage }: Pick<ToolView, 'description' | 'usage'>): string {
  return usage === undefined || description.includes(usage) ? description : `${description}\n${usage}`;
}
