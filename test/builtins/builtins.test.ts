import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { nameWorkspace } from '../../src/capabilities/files/workspaces.ts';
import { HotcellError } from '../../src/errors/hotcell-error.ts';
import { describeDocker, testImages } from '../engines/process/docker/docker-machine.ts';
import { startSmallDaemon } from '../small-daemon.ts';

type Daemon = Awaited<ReturnType<typeof startSmallDaemon>>;

const wrapper = `
export default {
  name: 'wrapper',
  permissions: { tools: ['eval_code'] },
  handler: async (args: any, context) => context.tools.call('eval_code', args),
};`;

const settings = {
  grantRequested: false,
  grants: { 'builtin:eval_code': { read: ['in'], write: ['out'] }, wrapper: { tools: ['eval_code'] } },
  builtins: {
    eval_code: { node: testImages.node, python: testImages.python },
    execute_command: testImages.box,
    who: { eval_code: 'model' as const, execute_command: 'person' as const },
  },
  docker: { images: [], timeoutMs: 20_000, warm: { perImage: 0 } },
};

let daemon: Daemon;

async function refusal(call: Promise<unknown>): Promise<HotcellError> {
  const error: unknown = await call.then(
    (answer) => new Error(`not refused: ${JSON.stringify(answer)}`),
    (reason: unknown) => reason,
  );
  if (error instanceof HotcellError) return error;
  throw error;
}

describeDocker('eval_code', () => {
  beforeAll(async () => {
    daemon = await startSmallDaemon({ 'wrapper.ts': wrapper }, settings);
  });
  afterAll(() => daemon.close());

  it('runs JavaScript and answers what it printed', async () => {
    const answer = await daemon.call('eval_code', { language: 'node', code: 'console.log(6 * 7); console.error("aside")' });
    expect(answer).toMatchObject({
      status: 'success',
      output: { exitCode: 0, stdout: '42\n', stderr: 'aside\n', truncated: false, files: [], left: [] },
    });
  });

  it('runs Python with standard input', async () => {
    const code = 'import sys; print(sum(int(line) for line in sys.stdin))';
    const answer = await daemon.call('eval_code', { language: 'python', code, stdin: '1\n2\n3\n' });
    expect(answer.output).toMatchObject({ exitCode: 0, stdout: '6\n' });
  });

  it('says how the program ended, which is no failure of the call', async () => {
    const answer = await daemon.call('eval_code', { language: 'node', code: 'process.exit(3)' });
    expect(answer).toMatchObject({ status: 'success', output: { exitCode: 3 } });
  });

  it('brings files in and out as far as it is granted', async () => {
    const folder = join(daemon.parts.config.dataDir, 'workspaces', nameWorkspace('local'));
    mkdirSync(join(folder, 'in'), { recursive: true });
    writeFileSync(join(folder, 'in', 'a.txt'), 'hello');
    writeFileSync(join(folder, 'b.txt'), 'not granted');
    const code = `
      const fs = require('fs');
      fs.mkdirSync('out');
      fs.writeFileSync('out/a.txt', fs.readFileSync('in/a.txt', 'utf8').toUpperCase());
      fs.writeFileSync('elsewhere.txt', 'x');`;
    const answer = await daemon.call('eval_code', { language: 'node', code, files: ['in'] });
    expect(answer.output).toMatchObject({ exitCode: 0, files: ['out/a.txt'], left: ['elsewhere.txt'] });
    expect(readFileSync(join(folder, 'out', 'a.txt'), 'utf8')).toBe('HELLO');
    const refused = await daemon.call('eval_code', { language: 'node', code: '1', files: ['b.txt'] });
    expect(refused).toMatchObject({ status: 'error', error: { code: 'permission-denied' } });
    expect(refused.error?.message).toMatch(/hotcell grant 'builtin:eval_code' read=b.txt/);
  });

  it('logs output line by line, and keeps the log with the record', async () => {
    const lines: string[] = [];
    const code = 'console.log("one"); console.log("two"); console.error("three")';
    const answer = await daemon.call(
      'eval_code',
      { language: 'node', code },
      { onLog: ({ level, text }) => lines.push(`${level} ${text}`) },
    );
    expect(lines.sort()).toEqual(['info one', 'info two', 'warn three']);
    const kept = await daemon.parts.caller.readLogs(answer.executionId);
    expect(kept.map(({ text }) => text).sort()).toEqual(['one', 'three', 'two']);
  });

  it('is called by a plugin that may call it, and recorded as its child', async () => {
    const answer = await daemon.call('wrapper', { language: 'node', code: 'console.log("nested")' });
    expect(answer.output).toMatchObject({ stdout: 'nested\n' });
    const { items } = daemon.parts.executions.list({ parent: answer.executionId }, { id: 'local', role: 'admin' });
    expect(items).toMatchObject([{ tool: 'eval_code', plugin: 'builtin:eval_code', status: 'success' }]);
  });

  it('ends at the time that the caller set', async () => {
    const answer = await daemon.call('eval_code', { language: 'node', code: 'for (;;) {}', timeoutMs: 300 });
    expect(answer).toMatchObject({ status: 'timeout', error: { code: 'time-exceeded' } });
  });

  it('is cancelled with what runs in it', async () => {
    const cancel = new AbortController();
    const code = 'console.log("here"); setInterval(() => {}, 1000)';
    const onLog = () => cancel.abort();
    const answer = await daemon.call('eval_code', { language: 'node', code }, { signal: cancel.signal, onLog });
    expect(answer).toMatchObject({ status: 'cancelled', error: { code: 'cancelled' } });
  });

  it('has no network unless it is asked for and granted', async () => {
    const code = 'fetch("http://127.0.0.1:1").catch((error) => console.log(error.cause?.code ?? error.message))';
    const answer = await daemon.call('eval_code', { language: 'node', code });
    expect(answer.output).toMatchObject({ exitCode: 0 });
    const asking = await daemon.call('eval_code', { language: 'node', code, network: true });
    expect(asking).toMatchObject({ status: 'error', error: { code: 'permission-denied' } });
  });

  it.each([
    ['image', { image: 'alpine' }],
    ['user', { user: 'root' }],
    ['mounts', { mounts: ['/:/host'] }],
    ['env', { env: { LD_PRELOAD: 'x' } }],
  ])('lets no caller choose %s', async (_what, more) => {
    const error = await refusal(daemon.call('eval_code', { language: 'node', code: '1', ...more }));
    expect(error.code).toBe('arguments-invalid');
  });

  it('knows only the languages that have an image', async () => {
    const error = await refusal(daemon.call('eval_code', { language: 'ruby', code: '1' }));
    expect(error.code).toBe('arguments-invalid');
  });

  it('reaches a granted host when it asks for the network, and nothing when it does not', async () => {
    const server = createServer((_request, response) => response.end('from outside'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const host = `127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
    const { asking } = daemon.parts.units.find('builtin:eval_code');
    if (asking === undefined) throw new Error('it is on');
    const code = `import urllib.request; print(urllib.request.urlopen('http://${host}/').read().decode())`;
    const run = (network: boolean) => daemon.call('eval_code', { language: 'python', code, network });
    const grant = (net: string) =>
      daemon.parts.grants.create({ asking, permissions: { net: [net] }, scope: { scope: 'always' }, grantedBy: 'local' });
    try {
      grant('api.example.com');
      expect((await run(true)).output).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('403') });
      grant(host);
      expect((await run(true)).output).toMatchObject({ exitCode: 0, stdout: 'from outside\n' });
      expect((await run(false)).output).toMatchObject({ exitCode: 1, stdout: '' });
    } finally {
      daemon.parts.grants.revoke({ unitPath: asking.path }, 'local');
      server.close();
    }
  });

  it('keeps so much of the output, and secrets of the operator out of it', async () => {
    const long = await daemon.call('eval_code', { language: 'node', code: 'console.log("x".repeat(200_000))' });
    expect(long.output).toMatchObject({ truncated: true, stdout: 'x'.repeat(100_000) });
    await daemon.parts.secrets.set({
      name: 'KEY',
      value: 'sesame-open-1234',
      hosts: ['api.example.com'],
      header: 'authorization',
    });
    const lines: string[] = [];
    const code = 'console.log(["sesame", "open", "1234"].join("-"))';
    const answer = await daemon.call('eval_code', { language: 'node', code }, { onLog: ({ text }) => lines.push(text) });
    expect(JSON.stringify([answer, lines])).not.toContain('sesame-open-1234');
    expect(answer.status).toBe('success');
  });

  it('gives a grant made while it runs to the next call', async () => {
    const { asking } = daemon.parts.units.find('builtin:eval_code');
    if (asking === undefined) throw new Error('it is on');
    daemon.parts.grants.create({ asking, permissions: { write: ['later'] }, scope: { scope: 'once' }, grantedBy: 'local' });
    const code = 'fs.mkdirSync("later"); fs.writeFileSync("later/x", "1")';
    expect((await daemon.call('eval_code', { language: 'node', code })).output).toMatchObject({ files: ['later/x'] });
    expect((await daemon.call('eval_code', { language: 'node', code })).output).toMatchObject({ left: ['later/x'] });
  });
});

describeDocker('execute_command', () => {
  beforeAll(async () => {
    daemon = await startSmallDaemon({}, settings);
  });
  afterAll(() => daemon.close());

  it('gives text to a shell, and arguments to nobody but the program', async () => {
    const line = await daemon.call('execute_command', { command: 'echo $((40 + 2)) | tr 4 5' });
    expect(line.output).toMatchObject({ exitCode: 0, stdout: '52\n' });
    const program = await daemon.call('execute_command', { command: 'echo', args: ['$(id)', ';', 'ls'] });
    expect(program.output).toMatchObject({ exitCode: 0, stdout: '$(id) ; ls\n' });
  });

  it('runs as nobody in a container of its own', async () => {
    const answer = await daemon.call('execute_command', { command: 'id -u; touch /x; hostname' });
    expect(answer.output).toMatchObject({ stdout: '65534\ncell\n' });
  });

  it('is for people alone: a caller is refused', async () => {
    const caller = { id: 'key_1', role: 'caller' as const };
    const error = await refusal(daemon.call('execute_command', { command: 'id' }, { caller }));
    expect(error.code).toBe('forbidden');
  });

  it('says which program is missing', async () => {
    const answer = await daemon.call('execute_command', { command: 'no-such-program', args: [] });
    expect(answer).toMatchObject({ status: 'error', error: { code: 'command-missing' } });
  });
});

describeDocker('createBuiltins', () => {
  it('turns on nothing that needs an image and has none', async () => {
    const house = await startSmallDaemon({});
    expect(house.parts.tools.list().map(({ name }) => name)).toEqual(['call_tool', 'run_code', 'search_code', 'search_tools']);
    await house.close();
  });

  it('turns on nothing that runs code in safe mode', async () => {
    const house = await startSmallDaemon({}, { ...settings, safeMode: 'dangerous' });
    expect(house.parts.tools.list().map(({ name }) => name)).toEqual(['call_tool', 'search_tools']);
    await house.close();
  });

  it('has a person let each eval_code begin unless the config says otherwise, also after a restart', async () => {
    const { who: _who, ...builtins } = settings.builtins;
    const dataDir = mkdtempSync(join(tmpdir(), 'hotcell-builtins-'));
    const first = await startSmallDaemon({}, { ...settings, builtins }, { dataDir });
    const left = refusal(first.call('eval_code', { language: 'node', code: 'console.log("let in")' }));
    const [question] = first.parts.approvals.list({ status: 'open', limit: 10 }).filter(({ kind }) => kind === 'call');
    expect(question).toMatchObject({ reason: 'hybrid', tool: 'eval_code' });
    await first.close();
    expect((await left).code).toBe('shutting-down');

    const second = await startSmallDaemon({}, { ...settings, builtins }, { dataDir });
    const { approvals, caller, executions } = second.parts;
    approvals.answer(question?.id ?? '', 'approved', { id: 'local', role: 'admin', mayAnswer: true, isPerson: true });
    const id = question?.executionId ?? '';
    await caller.ended(id, 20_000, new AbortController().signal);
    expect(executions.get(id, { id: 'local', role: 'admin' })).toMatchObject({
      status: 'success',
      output: { stdout: 'let in\n' },
    });
    await second.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('says what to install where there is no Docker', async () => {
    const house = await startSmallDaemon({}, { ...settings, docker: { ...settings.docker, socket: '/nonexistent/docker.sock' } });
    const answer = await house.call('eval_code', { language: 'node', code: '1' });
    expect(answer).toMatchObject({ status: 'error', error: { code: 'docker-missing' } });
    expect(answer.error?.message).toContain('apt-get install docker.io');
    await house.close();
  });

  it('says which image is missing', async () => {
    const house = await startSmallDaemon(
      {},
      { ...settings, builtins: { execute_command: 'hotcell-test/none:1', who: settings.builtins.who } },
    );
    const answer = await house.call('execute_command', { command: 'id' });
    expect(answer).toMatchObject({ status: 'error', error: { code: 'image-missing' } });
    await house.close();
  });
});
