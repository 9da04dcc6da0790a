import type { BuildOptions } from 'esbuild';
import { afterAll, describe, expect, it, vi } from 'vitest';
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

  it('counts of the time only its share while others run', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'setTimeout', 'clearInterval', 'clearTimeout'] });
    try {
      const begun = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const end = Promise.withResolvers<void>();
      const attempts = [0, 0];
      const builds = begun.map(({ resolve }, index) =>
        runBundle(
          optionsOf((attempt) => {
            attempts[index] = attempt;
            resolve();
            return end.promise;
          }),
          bounds,
        ),
      );
      await Promise.all(begun.map(({ promise }) => promise));
      await vi.advanceTimersByTimeAsync(bounds.wallMs * 1.5);
      end.resolve();
      expect((await Promise.all(builds)).map(({ kind }) => kind)).toEqual(['built', 'built']);
      expect(attempts).toEqual([1, 1]);
    } finally {
      vi.useRealTimers();
    }
  });

  it('runs a build again whose second attempt died with the bundler of another', async () => {
    const isAgain = Promise.withResolvers<void>();
    const victim = runBundle(
      optionsOf((attempt) => {
        if (attempt === 2) isAgain.resolve();
        return attempt === 1 ? stopBundler() : attempt === 2 ? never : undefined;
      }),
      bounds,
    );
    await isAgain.promise;
    const guilty = runBundle(
      optionsOf((attempt) => (attempt === 1 ? stopBundler() : undefined)),
      bounds,
    );
    expect((await victim).kind).toBe('built');
    expect((await guilty).kind).toBe('built');
  });
});
