import type { EventLog } from '../events/event.ts';

/** What news are about. */
export type NewsKind = 'tools' | 'prompts' | 'resources';

interface Gathered {
  readonly wasThere: Map<string, boolean>;
  readonly isThere: Map<string, boolean>;
}

/** Gathers what changed among tools, prompts and resources, and tells it once for all changes of one turn. */
export type ToolsNews = ReturnType<typeof createToolsNews>;

/** Creates the gatherer. Something that comes and goes within a turn is no news. */
export function createToolsNews(events: Pick<EventLog, 'publish'>) {
  const gathered = new Map<NewsKind, Gathered>();
  let scheduled: NodeJS.Immediate | undefined;

  function flush(): void {
    clearImmediate(scheduled);
    scheduled = undefined;
    const all = [...gathered];
    gathered.clear();
    for (const [kind, each] of all) tell(kind, each);
  }

  function tell(kind: NewsKind, { wasThere, isThere }: Gathered): void {
    const keys = [...isThere.keys()];
    const added = keys.filter((key) => isThere.get(key) && !wasThere.get(key));
    const removed = keys.filter((key) => !isThere.get(key) && wasThere.get(key));
    const changed = keys.filter((key) => isThere.get(key) && wasThere.get(key));
    if (added.length + removed.length + changed.length === 0) return;
    events.publish(`${kind}-change`, { subject: kind, data: { added, removed, changed } });
  }

  return {
    /** Notes which names were there before and which are now; names of tools unless another kind is said. */
    note(before: readonly string[], after: readonly string[], kind: NewsKind = 'tools'): void {
      if (before.length + after.length === 0) return;
      const { wasThere, isThere } = gathered.get(kind) ?? { wasThere: new Map(), isThere: new Map() };
      gathered.set(kind, { wasThere, isThere });
      for (const key of [...before, ...after]) if (!wasThere.has(key)) wasThere.set(key, before.includes(key));
      for (const key of before) isThere.set(key, false);
      for (const key of after) isThere.set(key, true);
      scheduled ??= setImmediate(flush);
    },
    flush,
  };
}
