import type { Caller } from '../callers/caller.ts';
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
  const tell = (act: () => void | Promise<void>): void => {
    void Promise.resolve(act()).catch(ignoreGone);
    news.told();
  };
  const bells = new Map<string, ReturnType<typeof atMostEvery>>();
  const ring = (key: string, act: () => void | Promise<void>): void => {
    const bell =
      bells.get(key) ??
      atMostEvery(
        quietMs,
        () => tell(act),
        () => bells.delete(key),
      );
    bells.set(key, bell);
    bell.ring();
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
    for (const bell of bells.values()) bell.stop();
  };
}

/** Acts at once, and once more at the end of the time if it was rung in it; `quiet` when it was not. */
function atMostEvery(ms: number, act: () => void, quiet: () => void): { readonly ring: () => void; readonly stop: () => void } {
  let timer: NodeJS.Timeout | undefined;
  let isDue = false;
  const pass = (): void => {
    timer = undefined;
    if (isDue) {
      isDue = false;
      ring();
    } else {
      quiet();
    }
  };
  function ring(): void {
    if (timer !== undefined) {
      isDue = true;
      return;
    }
    timer = setTimeout(pass, ms).unref();
    act();
  }
  return { ring, stop: () => clearTimeout(timer) };
}

/** A client that went away is told nothing. */
function ignoreGone(): void {}
