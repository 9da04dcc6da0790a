import { BoundedMap } from '../collections/bounded-map.ts';

interface Bucket {
  left: number;
  atMs: number;
}

const minuteMs = 60_000;

/**
 * Creates rates by key: a bucket holds what one minute allows and fills up evenly. Of more than `maxBuckets` keys the one that was used
 * least lately begins anew.
 */
export function createRateBuckets(options: { readonly now: () => number; readonly maxBuckets: number }) {
  const { now, maxBuckets } = options;
  const bucketByKey = new BoundedMap<string, Bucket>(maxBuckets);
  return {
    /** Takes one from the bucket of a key and returns 0; else takes nothing and returns the ms until there is one again. */
    take(key: string, perMinute: number): number {
      const atMs = now();
      const known = bucketByKey.get(key);
      // A clock that was set back must not empty or fill a bucket.
      const filled = known === undefined ? perMinute : (Math.max(0, atMs - known.atMs) * perMinute) / minuteMs;
      const left = Math.min(perMinute, (known?.left ?? 0) + filled);
      const isTaken = left >= 1;
      bucketByKey.set(key, { left: isTaken ? left - 1 : left, atMs });
      return isTaken ? 0 : Math.ceil(((1 - left) * minuteMs) / perMinute);
    },
  };
}
