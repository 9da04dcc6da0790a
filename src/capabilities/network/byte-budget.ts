import { Counts } from '../../collections/counts.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';

/** What one body holds; everything is given back at the end of the scope. */
export interface ByteAccount extends Disposable {
  /** Takes bytes before they are kept. Throws `network-failed` when the owner or all together hold too many. */
  take(bytes: number): void;
}

/** Memory that bodies take while they are read. */
export type ByteBudget = ReturnType<typeof createByteBudget>;

/** Makes the budget: requests may wait in any number, but the bodies in memory at a time are bounded, also for one owner. */
export function createByteBudget(options: { readonly perOwnerBytes: number; readonly totalBytes: number }) {
  const { perOwnerBytes, totalBytes } = options;
  const heldByOwner = new Counts();
  let held = 0;
  const change = (owner: string, bytes: number) => {
    heldByOwner.add(owner, bytes);
    held += bytes;
  };
  return {
    /** Opens an account for one body of an owner. */
    open: (owner: string): ByteAccount => {
      let own = 0;
      return {
        take: (bytes) => {
          if (heldByOwner.of(owner) + bytes > perOwnerBytes || held + bytes > totalBytes) {
            throw new HotcellError('network-failed', 'Too many large responses are being read at the same time.', {
              fix: 'Fetch fewer at a time, then try again.',
            });
          }
          own += bytes;
          change(owner, bytes);
        },
        [Symbol.dispose]: () => {
          change(owner, -own);
          own = 0;
        },
      };
    },
  };
}
