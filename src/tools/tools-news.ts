import type { EventLog } from '../events/event.ts';

/** Gathers what changed among the tools and tells it once for all changes of one turn. */
export interface ToolsNews {
  note(before: readonly string[], after: readonly string[]): void;
  flush(): void;
}

/** Creates the gatherer. Something that comes and goes within a turn is no news. */
export function createToolsNews(events: Pick<EventLog, 'publish'>): ToolsNews {
  const wasThere = new Map<string, boolean>();
  const isThere = new Map<string, boolean>();
  let scheduled: NodeJS.Immediate | undefined;

  function flush(): void {
    clearImmediate(scheduled);
    scheduled = undefined;
    const keys = [...isThere.keys()];
    const added = keys.filter((key) => isThere.get(key) && !wasThere.get(key));
    const removed = keys.filter((key) => !isThere.get(key) && wasThere.get(key));
    const changed = keys.filter((key) => isThere.get(key) && wasThere.get(key));
    wasThere.clear();
    isThere.clear();
    if (added.length + removed.length + changed.length === 0) return;
    events.publish('tools-change', { subject: 'tools', data: { added, removed, changed } });
  }

  return {
    note(before, after) {
      for (const key of [...before, ...after]) if (!wasThere.has(key)) wasThere.set(key, before.includes(key));
      for (const key of before) isThere.set(key, false);
      for (const key of after) isThere.set(key, true);
      scheduled ??= setImmediate(flush);
    },
    flush,
  };
}
