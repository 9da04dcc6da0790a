import type { Caller } from '../callers/caller.ts';
import { type Coalescer, createCoalescer } from '../concurrency/coalescer.ts';
import type { EventLog } from '../events/event.ts';
import { filterFor } from '../operations/handlers/events.ts';

/** Where news come from. */
export interface NewsParts {
  readonly events: Pick<EventLog, 'subscribe'>;
}

/** What can be listed. */
export type ChangedList = 'tools' | 'prompts' | 'resources';

/** What clients are told that their lists are old. Nothing here may throw. */
export interface ListNews {
  listChanged(list: ChangedList): void | Promise<void>;
  resourceChanged(uri: string): void | Promise<void>;
  /** Something of it was told. */
  told(): void;
}

/** The first change is told at once; what comes within so long after it is told together. */
const quietMs = 50;

/** Tells of changes in what a caller sees, until the returned function is called. */
export function listen({ events }: NewsParts, caller: Caller, news: ListNews): () => void {
  const tell = async (act: () => void | Promise<void>): Promise<void> => {
    // A client that went away is told nothing, and the next news do not wait for one that is slow.
    void Promise.resolve(act()).catch(() => {});
    news.told();
  };
  const bells = new Map<string, Coalescer>();
  const ring = (key: string, act: () => void | Promise<void>): void => {
    const bell =
      bells.get(key) ??
      createCoalescer(
        () => tell(act),
        () => quietMs,
        () => bells.delete(key),
      );
    bells.set(key, bell);
    bell.poke();
  };
  const types = ['tools-change', 'prompts-change', 'resources-change', 'resource-update'] as const;
  const end = events.subscribe(filterFor(caller, types), ({ type, data }) => {
    if (type === 'tools-change') ring('tools', () => news.listChanged('tools'));
    else if (type === 'prompts-change') ring('prompts', () => news.listChanged('prompts'));
    else if (type === 'resources-change') ring('resources', () => news.listChanged('resources'));
    else if (type === 'resource-update') ring(`resource ${data.uri}`, () => news.resourceChanged(data.uri));
  });
  return () => {
    end();
    for (const bell of bells.values()) bell.close();
  };
}
