import fc from 'fast-check';
import { parsePermissions } from '../../src/permissions/parse.ts';

const port = fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined });
const host = fc
  .tuple(fc.constantFrom('a.com', 'b.a.com', 'c.b.a.com', '*.a.com', '*.b.a.com', 'xa.com', '10.0.0.1', '[::1]'), port)
  .map(([name, number]) => (number === undefined ? name : `${name}:${number}`));
const path = fc.constantFrom('.', 'a', 'a/b', 'a/b/c', 'ab', 'a b');
const glob = fc.constantFrom('*', 'a*', 'ab', 'a*c', 'abc', '*c', 'x');
const kv = fc.oneof(
  fc.constant(true),
  fc.record({ quotaBytes: fc.integer({ min: 1, max: 9 }), shared: fc.boolean() }, { requiredKeys: [] }),
);

function list(entry: fc.Arbitrary<string>): fc.Arbitrary<string[]> {
  return fc.uniqueArray(entry, { minLength: 1, maxLength: 4 });
}

/** Sets over a small world, so that entries often meet. */
export const permissionSets = fc
  .record(
    {
      net: list(host),
      read: list(path),
      write: list(path),
      env: list(fc.constantFrom('A', 'B')),
      run: list(fc.constantFrom('ls', 'git')),
      tools: list(glob),
      dangerous: list(glob),
      engine: list(fc.constantFrom('deno', 'docker')),
      llm: fc.oneof(fc.constant(true), fc.integer({ min: 1, max: 200_000 })),
      kv,
      sharedCell: fc.constant(true),
    },
    { requiredKeys: [] },
  )
  .map((block) => {
    const parsed = parsePermissions(block);
    if (!parsed.ok) throw new Error(parsed.message);
    return parsed.permissions;
  });
