import { createCoalescer } from '../../concurrency/coalescer.ts';
import type { ResourceWatches } from '../../events/resource-watches.ts';
import type { Connection } from '../connection.ts';

/** How resources of a server are watched, and who is told. */
export interface ResourceNewsParts {
  readonly watches: Pick<ResourceWatches, 'list' | 'onChange'>;
  /** Whether an address is one of the server, as it serves now. */
  readonly serves: (uri: string) => boolean;
  /** Must not throw. */
  readonly tell: (uri: string) => void;
}

/** Resources of one server that are watched at the same time. */
const maxFollowed = 1000;
/** What a server says of its resources within so long is passed on together, each resource once. */
const gapMs = (): number => 250;

/** Starts to follow them: the server is asked for news of what somebody watches, and news of anything else are dropped. */
export function followResources(
  { watches, serves, tell }: ResourceNewsParts,
  there: { readonly connection: () => Connection | undefined; readonly signal: AbortSignal },
) {
  let followed: ReadonlySet<string> = new Set();
  let askedOf: Connection | undefined;
  const changed = new Set<string>();
  const asking = createCoalescer(askForNews, gapMs);
  const telling = createCoalescer(passOn, gapMs);
  const endWatch = watches.onChange(asking.poke);

  async function askForNews(): Promise<void> {
    const connection = there.connection();
    if (connection === undefined) return;
    followed = pickFollowed();
    await connection.watchResources(followed, there.signal).catch(() => undefined);
    // What changed while the server was away, nobody was told.
    if (askedOf !== undefined && askedOf !== connection) for (const uri of followed) note(uri);
    askedOf = connection;
  }

  function pickFollowed(): ReadonlySet<string> {
    const picked = new Set<string>();
    for (const uri of watches.list()) {
      if (picked.size === maxFollowed) break;
      if (serves(uri)) picked.add(uri);
    }
    return picked;
  }

  async function passOn(): Promise<void> {
    const uris = [...changed];
    changed.clear();
    for (const uri of uris) tell(uri);
  }

  function note(uri: string): void {
    if (!followed.has(uri)) return;
    changed.add(uri);
    telling.poke();
  }

  return {
    /** The server said that a resource changed. */
    note,
    /** It may serve other resources than before, or is connected anew. */
    poke: asking.poke,
    close(): void {
      endWatch();
      asking.close();
      telling.close();
    },
  };
}
