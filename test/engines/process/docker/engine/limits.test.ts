import { afterAll, beforeAll, expect, it } from 'vitest';
import { handlerOf } from '../../deno/deno-rig.ts';
import { describeDocker } from '../docker-machine.ts';
import { createDockerRig, type DockerRig } from './engine-rig.ts';

let rig: DockerRig;
beforeAll(() => {
  rig = createDockerRig();
});
afterAll(() => rig.close());

const kept = async () => ({ ok: true, payload: 'null' }) as const;

describeDocker('limits of a plugin in a container', () => {
  it('ends a loop at its processor time', async () => {
    const outcome = await rig.run(handlerOf('for (;;);'), { limits: { cpuMs: 300 } });
    expect(outcome).toMatchObject({
      status: 'timeout',
      error: { code: 'time-exceeded', message: expect.stringContaining('300 ms') },
    });
    expect(outcome.usage.cpuMs).toBeGreaterThan(200);
  });

  it('counts the time of programs that the plugin starts', async () => {
    const body =
      "const { spawn } = await import('node:child_process'); spawn('node', ['-e', 'for (;;);']); await new Promise(() => {})";
    expect(await rig.run(handlerOf(body), { limits: { cpuMs: 400 } })).toMatchObject({ status: 'timeout' });
  });

  it('ends a call that waits for nothing at its wall clock', async () => {
    const outcome = await rig.run(handlerOf('await new Promise(() => {})'), { limits: { wallMs: 1500 } });
    expect(outcome).toMatchObject({ status: 'timeout', error: { message: 'The call did not end within 1500 ms.' } });
  });

  it.each([
    ['buffers', 'const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(1));'],
    ['objects', 'const all = []; for (;;) all.push({ all: new Array(100).fill(all.length) });'],
    ['one large block', 'return Buffer.alloc(900_000_000, 1).length'],
    [
      'files',
      "const fs = await import('node:fs'); for (let n = 0; ; n++) { try { fs.writeFileSync('/tmp/' + n, Buffer.alloc(1 << 20, 1)) } catch { fs.writeFileSync('/workspace/' + n, Buffer.alloc(1 << 20, 1)) } }",
    ],
    [
      'programs',
      "const { spawn } = await import('node:child_process'); for (let n = 0; n < 5; n++) spawn('node', ['-e', 'const all = []; for (;;) all.push(Buffer.alloc(1 << 20, 1))']); await new Promise(() => {})",
    ],
  ])('ends a call that fills memory with %s', async (_what, body) => {
    expect(await rig.run(handlerOf(body), { limits: { cpuMs: 20_000 } })).toMatchObject({
      status: 'error',
      error: { code: 'memory-exceeded' },
    });
  });

  it('lets a call use the memory that it may have', async () => {
    const body =
      "const fs = await import('node:fs'); fs.writeFileSync('/tmp/x', Buffer.alloc(30 << 20, 1)); const kept = Buffer.alloc(30 << 20, 1); await new Promise((done) => setTimeout(done, 200)); return kept.length";
    const outcome = await rig.run(handlerOf(body), { limits: { memoryBytes: 64 * 1024 * 1024 } });
    expect(outcome).toMatchObject({ status: 'success', output: 30 << 20 });
  });

  it('survives a fork bomb, whose processes end with the call', async () => {
    const body = `const { spawn } = await import('node:child_process');
      let failed = 0;
      for (let n = 0; n < 200; n++) spawn('node', ['-e', 'setInterval(() => {}, 1000)']).on('error', () => failed++);
      await new Promise((done) => setTimeout(done, 50));
      return failed > 0`;
    const outcome = await rig.run(handlerOf(body), { limits: { memoryBytes: 96 * 1024 * 1024, wallMs: 20_000 } });
    // Which of its bounds it meets first is the machine's business.
    expect(outcome.status === 'success' ? outcome.output : outcome.error.code).toSatisfy((end) =>
      [true, 'memory-exceeded', 'engine-failed', 'time-exceeded', 'handler-threw'].includes(end),
    );
    expect(await rig.run(handlerOf("return 'fine'"))).toMatchObject({ output: 'fine' });
  });

  it('reports a recursion without end', async () => {
    const outcome = await rig.run(handlerOf('const deeper = (n) => deeper(n + 1) + 1; return deeper(0)'));
    expect(outcome).toMatchObject({ status: 'error', error: { code: 'stack-exceeded' } });
  });

  it('refuses an output above its limit', async () => {
    const outcome = await rig.run(handlerOf("return 'x'.repeat(5000)"), { limits: { outputBytes: 1000 } });
    expect(outcome).toMatchObject({ status: 'error', error: { code: 'output-exceeded' } });
  });

  it('cuts a log without end, on both ways out', async () => {
    const lines =
      "for (let n = 0; n < 5000; n++) { console.log('line', n); if (n % 100 === 0) process.stderr.write('raw\\n') } return 'done'";
    const outcome = await rig.run(handlerOf(lines), { limits: { logLines: 20 } });
    expect(outcome).toMatchObject({ status: 'success', output: 'done', usage: { logLines: 20 } });
    expect(outcome.logs).toHaveLength(21);
  });

  it('ends a plugin that writes to its standard output without end', async () => {
    const body =
      "const fs = await import('node:fs'); const line = 'x'.repeat(65535) + '\\n'; for (;;) { try { fs.writeSync(1, line) } catch {} }";
    expect(await rig.run(handlerOf(body), { limits: { cpuMs: 30_000 } })).toMatchObject({
      status: 'error',
      error: { code: 'engine-failed' },
    });
  }, 120_000);

  it('refuses host calls above their number, and too many at once', async () => {
    const asks = `const all = await Promise.allSettled(Array.from({ length: 4 }, () => context.kv.get('a')));
        return all.map((one) => one.reason?.code ?? 'ok')`;
    expect(await rig.run(handlerOf(asks), { limits: { hostCalls: 3 }, answer: kept })).toMatchObject({
      output: ['ok', 'ok', 'ok', 'host-calls-exceeded'],
    });
    const first = "return Promise.race([1, 2, 3].map((n) => context.kv.get('a').catch((error) => error.code)))";
    const never = () => new Promise<never>(() => undefined);
    expect(await rig.run(handlerOf(first), { limits: { pendingHostCalls: 2 }, answer: never })).toMatchObject({
      output: 'pending-host-calls-exceeded',
    });
  });

  it('ends a call that is cancelled in a loop', async () => {
    const controller = new AbortController();
    const outcome = await rig.run(
      handlerOf("context.kv.get('a'); await 0; await new Promise((go) => setTimeout(go, 1)); for (;;);"),
      {
        signal: controller.signal,
        answer: async () => {
          controller.abort();
          return { ok: true, payload: 'null' };
        },
      },
    );
    expect(outcome).toMatchObject({ status: 'cancelled', error: { code: 'cancelled' } });
  });
});
