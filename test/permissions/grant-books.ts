import { basename } from 'node:path';
import type { PermissionSet } from '../../src/config/permission-set.ts';
import type { EventDataByType } from '../../src/events/event-table.ts';
import { type Asking, createGrantRegistry } from '../../src/permissions/grant-registry.ts';
import type { Store } from '../../src/store/store-types.ts';
import { temporaryStore } from '../store/temporary-store.ts';

/** A book over a real store, with a clock that stands until it is moved. */
export function openBook(
  options: { store?: Store; presets?: Readonly<Record<string, PermissionSet>>; grantRequested?: boolean } = {},
) {
  const store = options.store ?? temporaryStore();
  const { presets = {} } = options;
  const clock = { ms: 1_000_000 };
  const told: EventDataByType['grant-change'][] = [];
  const book = createGrantRegistry({
    store,
    events: { publish: (_type, { data }) => void told.push(data as EventDataByType['grant-change']) },
    presetOf: (path) => {
      const name = basename(path, '.ts');
      return Object.hasOwn(presets, name) ? presets[name] : undefined;
    },
    grantRequested: options.grantRequested ?? false,
    now: () => clock.ms,
    onExpire: () => {},
    onFault: (error) => {
      throw error;
    },
  });
  return { book, store, clock, told };
}

/** A build of the plugin `weather`. */
export function asking(permissions: PermissionSet, changes: Partial<Omit<Asking, 'manifest'>> & { name?: string } = {}): Asking {
  const { name = 'weather', ...rest } = changes;
  return {
    path: '/plugins/weather.ts',
    contentHash: 'hash-1',
    author: 'operator',
    ...rest,
    manifest: { name, permissions },
  };
}
