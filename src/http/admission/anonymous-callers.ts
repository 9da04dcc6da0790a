import { randomUUID } from 'node:crypto';
import type { Caller } from '../../callers/caller.ts';
import { createRateBuckets } from '../../callers/rate-buckets.ts';
import type { Config } from '../../config/config-types.ts';
import { anonymousPrefix } from '../../config/counted-callers.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';

const maxAddresses = 10_000;

/**
 * Lets requests without a token in, each as a caller of its own that nobody else can be. Returns undefined where the config
 * lets none in; throws `rate-limited` when too many came from one address.
 */
export function createAnonymousCallers(
  config: Config['anonymous'] | undefined,
  now: () => number = () => performance.now(),
): (address: string) => Caller | undefined {
  if (config === undefined) return () => undefined;
  const buckets = createRateBuckets({ now, maxBuckets: maxAddresses });
  return (address) => {
    const { enabled, tools, ratePerMinute, maxConcurrent } = config;
    if (!enabled) return undefined;
    const retryAfterMs = buckets.take(nameNetwork(address), ratePerMinute);
    if (retryAfterMs > 0) {
      throw new HotcellError(
        'rate-limited',
        `At most ${ratePerMinute} requests a minute without a token come from one address.`,
        {
          facts: { retryAfterMs },
          fix: 'Wait as long as Retry-After says, or use a key.',
        },
      );
    }
    return Object.freeze({ id: `${anonymousPrefix}${randomUUID()}`, role: 'caller', isAnonymous: true, tools, maxConcurrent });
  };
}

/** Who has one IPv6 address has the whole /64 around it, so that is what counts. */
function nameNetwork(address: string): string {
  const bare = address.replace(/^::ffff:(?=\d+\.)/i, '');
  if (!bare.includes(':')) return bare;
  const [head = '', tail] = (bare.split('%', 1)[0] ?? '').split('::', 2);
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length);
  const groups = [...left, ...Array<string>(zeros).fill('0'), ...right];
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
