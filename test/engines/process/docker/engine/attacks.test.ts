import { afterAll, beforeAll, expect, it } from 'vitest';
import { handlerOf } from '../../deno/deno-rig.ts';
import { describeDocker, eventually } from '../docker-machine.ts';
import { createDockerRig, type DockerRig } from './engine-rig.ts';

let rig: DockerRig;
beforeAll(() => {
  rig = createDockerRig();
});
afterAll(() => rig.close());

const kept = async () => ({ ok: true, payload: '"kept"' }) as const;
const connections = `const net = await import('node:net'); const { port } = new URL(process.env.http_proxy);
  const connect = (first) => new Promise((done) => {
    const socket = net.connect(Number(port), '127.0.0.1', () => { if (first) socket.write(first) });
    let said = ''; socket.on('data', (part) => { said += part }).on('error', () => done(said)).on('close', () => done(said));
  });`;

describeDocker('a hostile plugin in a container', () => {
  it('is no other guest when it speaks the protocol over a second connection', async () => {
    const body = `${connections}
      const head = Buffer.from('{"t":"return"}');
      const frame = Buffer.concat([Buffer.from([0, 0, 0, head.length, 0, 0, 0, 8, 0, 0, 0, 0]), head, Buffer.from('"forged"'), Buffer.from('\\r\\n\\r\\n')]);
      return [await connect(frame), await context.kv.get('a')]`;
    expect(await rig.run(handlerOf(body), { answer: kept })).toMatchObject({
      output: [expect.stringMatching(/^HTTP\/1\.1 400 |^$/), 'kept'],
    });
  });

  it('has its own channel left after it opened more connections than there are', async () => {
    const body = `${connections}
      for (let n = 0; n < 300; n++) connect('x'.repeat(100));
      await new Promise((done) => setTimeout(done, 200));
      return context.kv.get('a')`;
    const dial = () => Promise.reject(new Error('nowhere'));
    expect(await rig.run(handlerOf(body), { answer: kept, dial })).toMatchObject({ output: 'kept' });
    expect(await rig.run(handlerOf(body), { answer: kept })).toMatchObject({ output: 'kept' });
  });

  it('reaches no other process, writes nowhere but into its scratch folders, and is nobody', async () => {
    const body = `const fs = await import('node:fs'); const failed = (work) => { try { work(); return 'done' } catch (error) { return error.code } };
      return {
        first: failed(() => fs.readdirSync('/proc/1/fd')),
        memory: failed(() => fs.openSync('/proc/1/mem', 'r')),
        kill: failed(() => process.kill(1, 'SIGKILL')),
        root: failed(() => fs.writeFileSync('/x', 'x')),
        init: failed(() => fs.writeFileSync('/.hotcell-init', 'x')),
        shm: failed(() => fs.writeFileSync('/dev/shm/x', 'x')),
        tmp: failed(() => fs.writeFileSync('/tmp/x', 'x')),
        user: [process.getuid(), process.getgid(), process.setuid ? failed(() => process.setuid(0)) : ''],
        run: failed(() => { fs.copyFileSync('/bin/busybox', '/tmp/mine'); fs.chmodSync('/tmp/mine', 0o755); const { spawnSync } = process.getBuiltinModule('child_process'); const made = spawnSync('/tmp/mine', ['id']); if (made.error) throw made.error }),
      };`;
    expect(await rig.run(handlerOf(body))).toMatchObject({
      output: {
        first: 'EACCES',
        memory: 'EACCES',
        root: 'EROFS',
        init: expect.stringMatching(/EROFS|EACCES/),
        shm: expect.stringMatching(/ENOENT|EROFS|EACCES/),
        tmp: 'done',
        user: [65534, 65534, expect.stringMatching(/EPERM|ERR/)],
        run: 'EACCES',
      },
    });
  });

  it('is ended when it works on between its calls', async () => {
    const plugin = handlerOf(`const { readFileSync } = await import('node:fs');
      if (args.spin) (await import('node:child_process')).spawn('node', ['-e', 'for (;;);']);
      globalThis.seen = (globalThis.seen ?? 0) + 1;
      return [globalThis.seen, /containers\\/([0-9a-f]{64})/.exec(readFileSync('/proc/self/mountinfo', 'utf8'))[1]]`);
    const call = (args: object) => rig.run(plugin, { args, isolation: 'plugin', cellKey: 'spin' });
    await call({});
    const outcome = await call({ spin: true });
    const [seen, id] = outcome.status === 'success' && Array.isArray(outcome.output) ? outcome.output : [];
    expect(seen).toBe(2);
    await eventually(
      () => rig.house.containers(),
      (ids) => !ids.includes(String(id)),
    );
    expect(await call({})).toMatchObject({ output: [1, expect.not.stringMatching(String(id))] });
  });

  it('cannot read what another call left: not in files, not in shared memory, not in the environment', async () => {
    const body = `const fs = await import('node:fs'); const seen = [fs.readdirSync('/tmp'), fs.readdirSync('/workspace'), process.env.LEFT ?? null];
      fs.writeFileSync('/tmp/a', 'x'); fs.writeFileSync('/workspace/a', 'x'); process.env.LEFT = 'x'; return seen`;
    const outcomes = await Promise.all([rig.run(handlerOf(body)), rig.run(handlerOf(body)), rig.run(handlerOf(body))]);
    for (const outcome of outcomes) expect(outcome).toMatchObject({ output: [[], [], null] });
  });
});
