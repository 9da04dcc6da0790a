import { existsSync } from 'node:fs';
import { listBuiltinPaths } from '../builtins/builtins.ts';
import { createNameRegistry, type NameRegistry } from '../names/name-registry.ts';
import { listRoots, locate } from '../plugins/discovery/plugin-roots.ts';
import type { Foundation } from './foundation.ts';

/** Opens the book of who owns which name. */
export function openNames({ config, store, events, logFault }: Foundation): NameRegistry {
  const roots = listRoots(config);
  // Whether a unit of another maker than the plugin folders is still there, by how its path begins; the rest of it is handed in.
  const placesByMaker: Readonly<Record<string, (rest: string) => boolean>> = {
    'skill:': existsSync,
    'registered:': (name) => store.registeredTools.get(name) !== undefined,
    'mcp:': (server) => Object.hasOwn(config.mcp.servers, server),
  };

  /** A folder that is away as a whole takes no name with it; one that the config does not name any more does. */
  function isThere(path: string): boolean {
    const [, maker = '', rest = ''] = /^([a-z]+:)(.*)$/s.exec(path) ?? [];
    const isThereOfMaker = Object.hasOwn(placesByMaker, maker) ? placesByMaker[maker] : undefined;
    if (isThereOfMaker !== undefined) return isThereOfMaker(rest);
    const place = locate(roots, path);
    return place !== undefined && (existsSync(path) || !existsSync(place.root.path));
  }

  return createNameRegistry({
    table: store.names,
    reserved: listBuiltinPaths(config.builtins),
    assigned: config.toolOwners,
    isThere,
    onChange: ({ name, ...data }) => events.publish('name-change', { subject: name, data }),
    onFault: (error) => logFault(error),
  });
}
