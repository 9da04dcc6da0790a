/** What is to be closed, in the order in which it was opened. */
export type Closers = Array<() => Promise<void> | void>;

/** Closes in reverse; a part that fails to close does not keep the others open. */
export async function closeAll(closers: Closers): Promise<void> {
  const failures: unknown[] = [];
  for (const close of closers.splice(0).reverse()) {
    try {
      await close();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'some parts of the daemon did not close');
}
