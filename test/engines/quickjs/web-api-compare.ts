import { createRequire } from 'node:module';
import { expect } from 'vitest';

const requireInNode = createRequire(import.meta.url);

/** Runs an async function body in Node, where `require` is Node's, and gives what it returns, through JSON. */
export async function runInNode(body: string): Promise<unknown> {
  const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor;
  const value: unknown = await new AsyncFunction('require', body)(requireInNode);
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

/** Expects that a body returns the same in the guest as in Node. */
export async function expectSameAsNode(guest: { run(body: string): Promise<unknown> }, body: string): Promise<void> {
  const [inGuest, inNode] = [await guest.run(body), await runInNode(body)];
  expect(inGuest, body).toEqual(inNode);
}
