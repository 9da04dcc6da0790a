import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { resolveLimits } from '../../../../src/config/limits.ts';
import { readProcessUsage, readStartTicks } from '../../../../src/engines/process/deno/process-book.ts';
import { createDenoRig, handlerOf } from './deno-rig.ts';

const rig = createDenoRig();
afterAll(() => rig.close());

/** The heap of a worker counts too. */
const roomForWorker = 96 * 1024 * 1024;

const spin = handlerOf('for (;;);');

/** The processes that the engine of a data folder runs, as its book has them. */
const processesOf = (dataDir: string) => readdirSync(join(dataDir, 'deno', 'processes')).map(Number);

describe('limits of a Deno process', () => {
  it('ends a loop at its processor time', async () => {
    const outcome = await rig.run(spin, { limits: { cpuMs: 300 } });
    expect(outcome).toMatchObject({
      status: 'timeout',
      error: { code: 'time-exceeded', message: expect.stringContaining('300 ms') },
    });
    expect(outcome.usage.cpuMs).toBeGreaterThan(200);
  });

  it('ends a loop in a worker of the plugin too', async () => {
    const body = "new Worker('data:text/javascript,for(;;);', { type: 'module' }); await new Promise(() => {})";
    expect(await rig.run(handlerOf(body), { limits: { cpuMs: 300, memoryBytes: roomForWorker } })).toMatchObject({
      status: 'timeout',
    });
  });

  it('ends a call that waits for nothing at its wall clock', async () => {
    const outcome = await rig.run(handlerOf('await new Promise(() => {})'), { limits: { wallMs: 400 } });
    expect(outcome).toMatchObject({ status: 'timeout', error: { message: 'The call did not end within 400 ms.' } });
  });

  it.each([
    ['buffers', 'const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(1));'],
    ['objects', 'const all = []; for (;;) all.push({ all: new Array(100).fill(all.length) });'],
    ['shared memory', 'const all = []; for (;;) all.push(new Uint8Array(new SharedArrayBuffer(1 << 20)).fill(1));'],
  ])('ends a call that fills memory with %s', async (_what, body) => {
    expect(await rig.run(handlerOf(body))).toMatchObject({ status: 'error', error: { code: 'memory-exceeded' } });
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
      "for (let n = 0; n < 5000; n++) { console.log('line', n); if (n % 100 === 0) Deno.stderr.writeSync(new TextEncoder().encode('raw\\n')) } return 'done'";
    const outcome = await rig.run(handlerOf(lines), { limits: { logLines: 20 } });
    expect(outcome).toMatchObject({ status: 'success', output: 'done', usage: { logLines: 20 } });
    expect(outcome.logs).toHaveLength(21);
  });

  it('refuses host calls above their number, and too many at once', async () => {
    const asks = (count: number) =>
      handlerOf(`const all = await Promise.allSettled(Array.from({ length: ${count} }, () => context.kv.get('a')));
        return all.map((one) => one.reason?.code ?? 'ok')`);
    const answer = async () => ({ ok: true, payload: 'null' }) as const;
    expect(await rig.run(asks(4), { limits: { hostCalls: 3 }, answer })).toMatchObject({
      output: ['ok', 'ok', 'ok', 'host-calls-exceeded'],
    });
    const first = handlerOf(`return Promise.race([1, 2, 3].map((n) => context.kv.get('a').catch((error) => error.code)))`);
    const never = () => new Promise<never>(() => undefined);
    expect(await rig.run(first, { limits: { pendingHostCalls: 2 }, answer: never })).toMatchObject({
      output: 'pending-host-calls-exceeded',
    });
  });

  it('refuses host calls that wait at once and hold too many bytes', async () => {
    const many = handlerOf(`const text = 'x'.repeat(500_000);
      return Promise.race(Array.from({ length: 20 }, () => context.kv.set('a', text).catch((error) => error.code)))`);
    const never = () => new Promise<never>(() => undefined);
    expect(await rig.run(many, { answer: never })).toMatchObject({ output: 'pending-host-calls-exceeded' });
  });

  it('cuts long lines, and hears of progress as often as of lines', async () => {
    const told = handlerOf(
      `console.log('x'.repeat(50_000)); for (let n = 0; n < 50; n++) context.progress(n, 50); return 'done'`,
    );
    const outcome = await rig.run(told, { limits: { logLines: 20 } });
    expect(outcome).toMatchObject({ output: 'done', progress: 20 });
    expect(outcome.logs[0]?.text).toHaveLength(16_384);
  });

  it('ends a call that is cancelled in a loop', async () => {
    const controller = new AbortController();
    const running = rig.run(handlerOf("context.kv.get('a'); await 0; for (;;);"), {
      signal: controller.signal,
      answer: async () => {
        controller.abort();
        return { ok: true, payload: 'null' };
      },
    });
    expect(await running).toMatchObject({ status: 'cancelled', error: { code: 'cancelled' } });
  });
});

describe('a Deno process that ends by itself', () => {
  it.each([
    ['exits', 'Deno.exit(0)'],
    [
      'closes its channel',
      "const { Socket } = await import('node:net'); Socket.prototype.write = function () { this.destroy() }; console.log('to see the channel'); await new Promise(() => {})",
    ],
  ])('ends its call when it %s, and the next one runs', async (_how, body) => {
    const outcome = await rig.run(handlerOf(body), { limits: { memoryBytes: roomForWorker } });
    expect(outcome).toMatchObject({ status: 'error', error: { code: 'engine-failed' } });
    expect(await rig.run(handlerOf("return 'fine'"))).toMatchObject({ output: 'fine' });
  });

  it('is forgotten when it was kept: the next call begins anew', async () => {
    const plugin = handlerOf('if (args.exit) Deno.exit(0); globalThis.seen = (globalThis.seen ?? 0) + 1; return globalThis.seen');
    const call = (args: object) => rig.run(plugin, { args, isolation: 'session', cellKey: 'crash' });
    expect([await call({}), await call({ exit: true }), await call({})]).toMatchObject([
      { output: 1 },
      { error: { code: 'engine-failed' } },
      { output: 1 },
    ]);
  });

  it('survives a worker of the plugin that fails', async () => {
    const body = `const worker = new Worker('data:text/javascript,throw new Error("inside")', { type: 'module' });
      await new Promise((done) => worker.addEventListener('error', (event) => { event.preventDefault(); done() }));
      return 'alive'`;
    const outcome = await rig.run(handlerOf(body), { limits: { memoryBytes: roomForWorker } });
    expect(outcome).toMatchObject({ status: 'success', output: 'alive' });
  });

  it('survives errors that nobody catches, and logs them', async () => {
    const body =
      "setTimeout(() => { throw new Error('late') }, 0); Promise.reject(new Error('alone')); await new Promise((done) => setTimeout(done, 20)); return 'alive'";
    const outcome = await rig.run(handlerOf(body));
    expect(outcome).toMatchObject({ status: 'success', output: 'alive' });
    expect(outcome.logs.map(({ text }) => text).join()).toMatch(/late[\s\S]*alone|alone[\s\S]*late/);
  });
});

describe('what a Deno process sends', () => {
  const forge = (frame: string) =>
    handlerOf(`const { Socket } = await import('node:net'); const { write } = Socket.prototype; let raw;
      Socket.prototype.write = function (...bytes) { raw = this; return write.apply(this, bytes) };
      console.log('to see the channel'); ${frame}; await new Promise(() => {})`);

  it.each([
    ['a frame that announces four gigabytes', 'raw.write(new Uint8Array([255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0]))'],
    ['a header that is no JSON', 'raw.write(new Uint8Array([0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 120]))'],
    [
      'a header of an unknown kind',
      'const head = new TextEncoder().encode(\'{"t":"grant"}\'); raw.write(new Uint8Array([0, 0, 0, head.length, 0, 0, 0, 0, 0, 0, 0, 0, ...head]))',
    ],
    [
      'questions without end',
      'const head = new TextEncoder().encode(\'{"t":"cancel","id":1}\'); const one = new Uint8Array([0, 0, 0, head.length, 0, 0, 0, 0, 0, 0, 0, 0, ...head]); for (let n = 0; n < 1e5; n++) raw.write(one)',
    ],
  ])('ends it for %s', async (_what, frame) => {
    const outcome = await rig.run(forge(frame), { limits: { wallMs: 20_000 } });
    expect(outcome).toMatchObject({
      status: 'error',
      error: { code: 'engine-failed', message: expect.stringContaining('was ended') },
    });
  });

  it('cannot end a call of somebody else', async () => {
    const other = rig.run(handlerOf("await context.kv.get('a'); return 'mine'"), {
      answer: async () => {
        const head =
          'const head = new TextEncoder().encode(\'{"t":"return"}\'); raw.write(new Uint8Array([0, 0, 0, head.length, 0, 0, 0, 1, 0, 0, 0, 0, ...head, 49]))';
        expect(await rig.run(forge(head))).toMatchObject({ status: 'success', output: 1 });
        return { ok: true, payload: 'null' };
      },
    });
    expect(await other).toMatchObject({ output: 'mine' });
  });
});

describe('a Deno process between two calls', () => {
  const cpuMs = (pid: number) => readProcessUsage(pid)?.cpuMs ?? 0;
  /** What the processes of the engine used while a process of another engine did some work. */
  const usedMeanwhile = async (pids: readonly number[]) => {
    const before = pids.map(cpuMs);
    await rig.run(handlerOf(`let sum = 0; for (let n = 0; n < 2e8; n++) sum += n; return sum`));
    return pids.map((pid, n) => cpuMs(pid) - (before[n] ?? 0));
  };

  it('does nothing, whatever its call left running', async () => {
    const own = createDenoRig();
    const plugin = handlerOf('setInterval(() => { const end = Date.now() + 50; while (Date.now() < end); }, 0); return Deno.pid');
    const outcome = await own.run(plugin, { isolation: 'session', cellKey: 'busy' });
    const pid = outcome.status === 'success' ? Number(outcome.output) : 0;
    expect(await usedMeanwhile([pid])).toEqual([0]);
    expect(await own.run(plugin, { isolation: 'session', cellKey: 'busy' })).toMatchObject({ output: pid });
    await own.close();
  });

  it('does nothing before its first call, either', async () => {
    const own = createDenoRig();
    const code = `setInterval(() => { for (let n = 0; n < 1e6; n++); }, 0); export default ${handlerOf("return 'here'")};`;
    await own.engine.load({ key: code, label: 'a.ts', code, limits: resolveLimits() });
    const pids = processesOf(own.dataDir);
    expect(pids).toHaveLength(1);
    expect(await usedMeanwhile(pids)).toEqual([0]);
    expect(await own.run(code)).toMatchObject({ output: 'here' });
    await own.close();
  });

  it('hands nothing that a call did not wait for to the next one', async () => {
    const asked: string[] = [];
    const plugin = handlerOf(
      `setTimeout(() => context.kv.set('late', args.caller), 10);
      await new Promise((done) => setTimeout(done, args.caller === 'ann' ? 0 : 60)); return args.caller`,
    );
    const call = (caller: string) =>
      rig.run(plugin, {
        args: { caller },
        isolation: 'plugin',
        cellKey: 'shared',
        answer: async ({ payload }) => {
          asked.push(`${caller}: ${payload}`);
          return { ok: true, payload: 'null' };
        },
      });
    for (const caller of ['ann', 'bob']) expect(await call(caller)).toMatchObject({ output: caller });
    expect(asked).toEqual(['bob: {"key":"late","value":"bob"}']);
  });
});

describe('processes of the engine', () => {
  it.runIf(existsSync('/proc/self/limits'))('have the bounds of the system around them', async () => {
    await rig.run(handlerOf('return 1'));
    // A process that is on its way is still the shell that sets them.
    const bounds = () =>
      processesOf(rig.dataDir)
        .map((pid) => readFileSync(`/proc/${pid}/limits`, 'utf8'))
        .map((text) =>
          [/^Max core file size +0 +0 /m, /^Max data size +2048000000 +2048000000 /m].map((line) => line.test(text)),
        );
    expect(bounds()).not.toEqual([]);
    await expect.poll(() => bounds().flat().includes(false), { timeout: 20_000 }).toBe(false);
  });

  it('are gone when it is closed', async () => {
    const own = createDenoRig();
    await own.run(handlerOf('return 1'), { isolation: 'plugin', cellKey: 'kept' });
    const pids = processesOf(own.dataDir);
    expect(pids).not.toHaveLength(0);
    await own.engine.close();
    expect(pids.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
    await own.close();
  });

  it('are gone too when it is closed while one starts', async () => {
    const own = createDenoRig();
    await own.run(handlerOf('return 1'));
    // The process for the next call is on its way now.
    await own.engine.close();
    expect(processesOf(own.dataDir)).toEqual([]);
    await own.close();
  });

  it('that a crashed daemon left are ended by the next one, and no other process is', async () => {
    const own = createDenoRig();
    const left = spawn('sleep', ['100'], { detached: true, stdio: 'ignore' });
    const stranger = spawn('sleep', ['100'], { detached: true, stdio: 'ignore' });
    const { mkdirSync, writeFileSync } = await import('node:fs');
    const book = join(own.dataDir, 'deno', 'processes');
    mkdirSync(book, { recursive: true });
    writeFileSync(join(book, String(left.pid)), readStartTicks(left.pid ?? 0) ?? '');
    writeFileSync(join(book, String(stranger.pid)), '1');
    const ended = new Promise((resolve) => left.once('exit', (_code, signal) => resolve(signal)));
    await own.run(handlerOf('return 1'));
    expect(await ended).toBe('SIGKILL');
    expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
    stranger.kill('SIGKILL');
    await own.close();
  });
});
