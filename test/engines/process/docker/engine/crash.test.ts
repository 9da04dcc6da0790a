import { afterEach, expect, it } from 'vitest';
import { handlerOf } from '../../deno/deno-rig.ts';
import { describeDocker, eventually, testImages } from '../docker-machine.ts';
import { createDockerRig, type DockerRig, keepsReady } from './engine-rig.ts';

let rig: DockerRig;
afterEach(() => rig.close());

/** Nothing of the engine is left, after a moment. */
const nothingLeft = () =>
  eventually(
    () => rig.house.containers(),
    (ids) => ids.length === 0,
  );

const never = () => new Promise<never>(() => undefined);
const waits = handlerOf("await context.kv.get('a')");

describeDocker('a plugin in a container that ends by itself', () => {
  it.each([
    ['exits', 'process.exit(3)'],
    ['is killed by itself', "process.kill(process.pid, 'SIGKILL'); await new Promise(() => {})"],
    [
      'closes its channel',
      "const { Socket } = await import('node:net'); Socket.prototype.write = function () { this.destroy() }; console.log('to see the channel'); await new Promise(() => {})",
    ],
  ])('ends its call when it %s, and the next one runs', async (_how, body) => {
    rig = createDockerRig();
    expect(await rig.run(handlerOf(body))).toMatchObject({ status: 'error', error: { code: 'engine-failed' } });
    expect(await rig.run(handlerOf("return 'fine'"))).toMatchObject({ output: 'fine' });
    expect(rig.house.faults).toEqual([]);
  });

  it('is forgotten when it was kept: the next call begins anew', async () => {
    rig = createDockerRig();
    const plugin = handlerOf(
      'if (args.exit) process.exit(0); globalThis.seen = (globalThis.seen ?? 0) + 1; return globalThis.seen',
    );
    const call = (args: object) => rig.run(plugin, { args, isolation: 'session', cellKey: 'crash' });
    expect([await call({}), await call({ exit: true }), await call({})]).toMatchObject([
      { output: 1 },
      { error: { code: 'engine-failed' } },
      { output: 1 },
    ]);
  });

  it('waits longer and longer before it is started again', async () => {
    rig = createDockerRig();
    const crash = () => rig.run(handlerOf('process.exit(1)'), { limits: { wallMs: 3000 } });
    const ends: string[] = [];
    for (let n = 0; n < 8; n++) {
      const outcome = await crash();
      ends.push(outcome.status === 'success' ? 'success' : outcome.error.code);
    }
    expect(ends.slice(0, 3)).toEqual(['engine-failed', 'engine-failed', 'engine-failed']);
    expect(ends).toContain('time-exceeded');
  }, 60_000);

  it('survives errors that nobody catches, and logs them', async () => {
    rig = createDockerRig();
    const body =
      "setTimeout(() => { throw new Error('late') }, 0); Promise.reject(new Error('alone')); await new Promise((done) => setTimeout(done, 20)); return 'alive'";
    const outcome = await rig.run(handlerOf(body));
    expect(outcome).toMatchObject({ status: 'success', output: 'alive' });
    expect(outcome.logs.map(({ text }) => text).join()).toMatch(/late[\s\S]*alone|alone[\s\S]*late/);
  });
});

describeDocker('a container that is ended from outside', () => {
  it.each([
    ['killed', 'The container was ended from outside while the plugin ran (exit code 137).'],
    ['removed', 'The container was removed from outside while the plugin ran.'],
  ])('in the middle of a call ends it with a sentence that is true: %s', async (how, sentence) => {
    rig = createDockerRig();
    const running = rig.run(waits, {
      answer: async () => {
        for (const id of await rig.house.containers()) {
          const container = rig.house.docker.getContainer(id);
          await (how === 'killed' ? container.kill() : container.remove({ force: true })).catch(() => undefined);
        }
        return never();
      },
    });
    const outcome = await running;
    expect(outcome).toMatchObject({ status: 'error', error: { code: 'engine-failed' } });
    const said = outcome.status === 'success' ? '' : outcome.error.message;
    // A removal kills first: which of the two is seen depends on when Docker is asked.
    expect(
      [sentence, 'The container was ended from outside while the plugin ran (exit code 137).'].some((one) =>
        said.startsWith(one),
      ),
    ).toBe(true);
    expect(await rig.run(handlerOf("return 'fine'"))).toMatchObject({ output: 'fine' });
  });
});

describeDocker('what a plugin in a container sends', () => {
  const forge = (frame: string) =>
    handlerOf(`const { Socket } = await import('node:net'); const { write } = Socket.prototype; let raw;
      Socket.prototype.write = function (...bytes) { raw = this; return write.apply(this, bytes) };
      console.log('to see the channel'); ${frame}; await new Promise(() => {})`);

  it.each([
    ['a frame that announces four gigabytes', 'raw.write(new Uint8Array([255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0]))'],
    ['a header that is no JSON', 'raw.write(new Uint8Array([0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 120]))'],
    [
      'questions without end',
      'const head = new TextEncoder().encode(\'{"t":"cancel","id":1}\'); const one = new Uint8Array([0, 0, 0, head.length, 0, 0, 0, 0, 0, 0, 0, 0, ...head]); for (let n = 0; n < 1e5; n++) raw.write(one)',
    ],
  ])('ends it for %s', async (_what, frame) => {
    rig = createDockerRig();
    expect(await rig.run(forge(frame), { limits: { wallMs: 20_000 } })).toMatchObject({
      status: 'error',
      error: { code: 'engine-failed', message: expect.stringContaining('was ended') },
    });
    await rig.engine.close();
    await rig.house.runner.close();
    expect(await nothingLeft()).toEqual([]);
  });
});

describeDocker('containers of the engine', () => {
  it('are gone when it is closed: kept, ready, and with a call in them', async () => {
    rig = createDockerRig({ warm: keepsReady });
    await rig.run(handlerOf('return 1'), { isolation: 'plugin', cellKey: 'kept' });
    await rig.run(handlerOf('return 1'));
    const asked = Promise.withResolvers<void>();
    const running = rig.run(waits, {
      answer: () => {
        asked.resolve();
        return never();
      },
    });
    await asked.promise;
    await rig.engine.close();
    expect(await running).toMatchObject({ status: 'cancelled' });
    await rig.house.runner.close();
    expect(await nothingLeft()).toEqual([]);
    expect(rig.house.faults).toEqual([]);
  });

  it('are gone too when it is closed while one starts', async () => {
    rig = createDockerRig();
    const running = rig.run(handlerOf('return 1'));
    await rig.engine.close();
    expect(await running).toMatchObject({ status: 'cancelled' });
    await rig.house.runner.close();
    expect(await nothingLeft()).toEqual([]);
  });

  it('do not take the turns of commands', async () => {
    rig = createDockerRig({ maxRunning: 1, images: [testImages.box] });
    await rig.run(handlerOf('return 1'), { isolation: 'plugin', cellKey: 'kept' });
    const { exitCode } = await rig.house.sh('true');
    expect(exitCode).toBe(0);
  });
});
