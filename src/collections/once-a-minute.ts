import { BoundedMap } from './bounded-map.ts';

const everyMs = 60_000;
const maxRemembered = 10_000;

/** What happens often and is written down once a minute for each key, so that it costs no writes. */
export class OnceAMinute extends BoundedMap<string, number> {
  constructor() {
    super(maxRemembered);
  }

  /** True once a minute for a key. */
  isDue(key: string, atMs: number): boolean {
    const lastAtMs = this.get(key);
    if (lastAtMs !== undefined && Math.abs(atMs - lastAtMs) < everyMs) return false;
    this.set(key, atMs);
    return true;
  }
}
