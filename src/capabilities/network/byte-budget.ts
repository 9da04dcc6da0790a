import { HotcellError } from '../../errors/hotcell-error.ts';

/** Memory that bodies take while they are read. */
export interface ByteBudget {
  /** Opens an account for one body of an owner. */
  open(owner: string): ByteAccount;
}

/** What one body holds; everything is given back at the end of the scope. */
export interface ByteAccount extends Disposable {
  /** Takes bytes before they are kept. Throws `network-failed` when the owner or all together hold too many. */
  take(bytes: number): void;
}

/** Makes the budget: requests may wait in any number, but the bodies in memory at a time are bounded, also for one owner. */
export function createByteBudget(options: { readonly perOwnerBytes: number; readonly totalBytes: number }): ByteBudget {
  const { perOwnerBytes, totalBytes } = options;
  const heldByOwner = new Map<string, number>();
  let held = 0;
  const change = (owner: string, bytes: number) => {
    const left = (heldByOwner.get(owner) ?? 0) + bytes;
    if (left > 0) heldByOwner.set(owner, left);
    else heldByOwner.delete(owner);
    held += bytes;
  };
  return {
    open: (owner) => {
      let own = 0;
      return {
        take: (bytes) => {
          if ((heldByOwner.get(owner) ?? 0) + bytes > perOwnerBytes || held + bytes > totalBytes) {
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
