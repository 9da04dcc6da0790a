import type { BuildOptions } from 'esbuild';
import { afterAll, describe, expect, it } from 'vitest';
import { runBundle, stopBundler } from '../../../src/plugins/compile/bundle-service.ts';

const never = new Promise<never>(() => {});
const bounds = { wallMs: 2000, findObstacle: () => undefined };

/** A build of `export default 1` whose text comes as `load` says, with the number of the attempt. */
function optionsOf(load: (attempt: number) => Promise<unknown> | undefined): BuildOptions & { write: false } {
  let attempts = 0;
  return {
    stdin: { contents: "import 'text:';" },
    bundle: true,
    write: false,
    logLevel: 'silent',
    plugins: [
      {
        name: 'text',
        setup(build) {
          attempts += 1;
          const attempt = attempts;
          build.onResolve({ filter: /^text:/ }, ({ path }) => ({ path, namespace: 'text' }));
          build.onLoad({ filter: /.*/, namespace: 'text' }, async () => {
            await load(attempt);
            return { contents: 'export default 1' };
          });
        },
      },
    ],
  };
}

describe('runBundle', () => {
  afterAll(() => stopBundler());

  it('leaves the environment as it was', async () => {
    const before = { ...process.env };
    expect(
      await runBundle(
        optionsOf(() => undefined),
        bounds,
      ),
    ).toMatchObject({ kind: 'built' });
    expect({ ...process.env }).toEqual(before);
  });

  it('gives up a build that has the bundler to itself and does not end', async () => {
    expect(
      await runBundle(
        optionsOf(() => never),
        bounds,
      ),
    ).toEqual({ kind: 'overwhelmed', reason: 'time' });
  });

  it('runs a build again by itself that ran out of time beside another', async () => {
    const slow = runBundle(
      optionsOf((attempt) => (attempt === 1 ? never : undefined)),
      bounds,
    );
    const other = runBundle(
      optionsOf(() => undefined),
      bounds,
    );
    expect((await other).kind).toBe('built');
    expect((await slow).kind).toBe('built');
  });

  it('still gives up one that does not end by itself either', async () => {
    const [stuck, other] = await Promise.all([
      runBundle(
        optionsOf(() => never),
        bounds,
      ),
      runBundle(
        optionsOf(() => undefined),
        bounds,
      ),
    ]);
    expect(stuck).toEqual({ kind: 'overwhelmed', reason: 'time' });
    expect(other.kind).toBe('built');
  });
});
