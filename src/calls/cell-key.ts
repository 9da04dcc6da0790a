import type { ServedUnit } from '../units/unit.ts';

/**
 * Names the cell that a call shares: a `session` cell belongs to a caller, a session and a plugin, a `plugin` cell to a
 * plugin; a `call` cell is shared with nobody and has an empty name. Generations share names, so that a newer one takes over
 * the state of the older. Keys are JSON: no choice of session name can collide with somebody else's.
 */
export function cellKeyOf({ unit }: ServedUnit, callerId: string, session: string): string {
  switch (unit.manifest.isolation) {
    case 'call':
      return '';
    case 'session':
      return JSON.stringify([unit.path, callerId, session]);
    case 'plugin':
      return JSON.stringify([unit.path]);
  }
}
