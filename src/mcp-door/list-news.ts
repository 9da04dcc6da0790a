import type { Caller } from '../callers/caller.ts';
import type { EventLog } from '../events/event.ts';
import { filterFor } from '../operations/handlers/events.ts';

/** Where news come from. */
export interface NewsParts {
  readonly events: Pick<EventLog, 'subscribe'>;
}

/** What clients are told that their lists are old. Nothing here may throw. */
export interface ListNews {
  toolsChanged(): void | Promise<void>;
  /** Something of it was told. */
  told(): void;
}

/** The first change is told at once; what comes within so long after it is told together. */
const quietMs = 50;

/** Tells of changes in what a caller sees, until the returned function is called. */
export function listen({ events }: NewsParts, caller: Caller, news: ListNews): () => void {
  const tell = atMostEvery(quietMs, () => {
    void Promise.resolve(news.toolsChanged()).catch(ignoreGone);
    news.told();
  });
  const end = events.subscribe(filterFor(caller, ['tools-change']), tell.ring);
  return () => {
    end();
    tell.stop();
  };
}

function atMostEvery(ms: number, act: () => void): { readonly ring: () => void; readonly stop: () => void } {
  let timer: NodeJS.Timeout | undefined;
  let isDue = false;
  const pass = (): void => {
    timer = undefined;
    if (!isDue) return;
    isDue = false;
    ring();
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
