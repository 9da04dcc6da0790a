import { tmpdir } from 'node:os';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { BorderAnswer } from '../../src/border/border.ts';
import type { CommandRequest, RunCommand } from '../../src/border/container-command.ts';
import { createCapabilityTable } from '../../src/capabilities/capability-table.ts';
import { loadConfig } from '../../src/config/read/load.ts';
import { parsePermissions } from '../../src/permissions/parse.ts';
import { openStore } from '../../src/store/open.ts';
import { describeDocker, openRunnerHouse, type RunnerHouse, testImages } from '../engines/process/docker/docker-machine.ts';
import { createUser, type TestUser } from './capability-user.ts';

describeDocker('createRun', () => {
  let house: RunnerHouse;
  let store: ReturnType<typeof openStore>;
  let requests: CommandRequest[];
  let ask: (op: string, payload: object, user: TestUser, body?: Uint8Array) => Promise<BorderAnswer>;
  const run = async (user: TestUser, command: string, args: readonly string[] = [], options: object = {}, body?: Uint8Array) => {
    const answer = await ask('run', { command, args, options }, user, body);
    return answer.ok ? { ...JSON.parse(answer.payload), ...(answer.body ? { body: answer.body } : {}) } : answer;
  };
  const write = (user: TestUser, path: string, text: string) => ask('files.write', { path, text }, user);

  beforeAll(() => {
    house = openRunnerHouse();
    store = openStore({ dataDir: house.dataDir });
    const loaded = loadConfig({ flags: { data: house.dataDir }, env: {}, cwd: tmpdir(), parsePermissions });
    const sandbox: RunCommand = (request, signal) => {
      requests.push(request);
      return house.runner.run(request, signal);
    };
    const docker = {
      ...loaded.docker,
      commands: { sh: testImages.box, cat: testImages.box },
      timeoutMs: 5000,
      scratchBytes: 1_048_576,
    };
    const files = { maxFileBytes: 900_000, workspaceQuotaBytes: 2_000_000 };
    const table = createCapabilityTable({
      config: { ...loaded, docker, files },
      store,
      logFault: () => undefined,
      runCommand: sandbox,
    });
    ask = (op, payload, user, body) =>
      table.answer({ op, payload: JSON.stringify(payload), ...(body ? { body } : {}) }, user, new AbortController().signal);
  });
  beforeEach(() => {
    requests = [];
  });
  afterEach(async () => {
    await ask('files.delete', { path: 'job', recursive: true }, createUser({ write: ['job'], read: ['job'] }));
  });
  afterAll(async () => {
    store.close();
    await house.close();
  });

  it('needs a grant for the very command, and notes its use', async () => {
    const user = createUser({ run: ['cat'] });
    expect(await run(user, 'sh')).toMatchObject({
      ok: false,
      code: 'permission-denied',
      message: expect.stringContaining('hotcell grant weather run=sh'),
    });
    expect(await run(user, '/bin/cat')).toMatchObject({ ok: false, code: 'permission-denied' });
    expect(await run(user, 'cat', [], { stdin: 'x' })).toMatchObject({ exitCode: 0, stdout: 'x' });
    expect(user.uses).toEqual(expect.arrayContaining([['run', 'cat', true]]));
    user.grant({});
    expect(await run(user, 'cat')).toMatchObject({ ok: false, code: 'permission-denied' });
  });

  it('runs a command only where the config names an image, and never one that the plugin chose', async () => {
    const user = createUser({ run: ['sh', 'jq', 'constructor'] });
    expect(await run(user, 'jq')).toMatchObject({ ok: false, code: 'command-missing' });
    expect(await run(user, 'constructor')).toMatchObject({ ok: false, code: 'command-missing' });
    expect(await run(user, 'sh', ['-c', 'true'], { image: testImages.python })).toMatchObject({
      ok: false,
      code: 'image-refused',
    });
    expect(await run(user, 'sh', ['-c', 'true'], { image: testImages.box })).toMatchObject({ exitCode: 0 });
  });

  it.each([
    { user: 'root' },
    { mounts: ['/'] },
    { network: 'host' },
    { env: { A: 'b' } },
    { cpus: 8 },
    { timeoutMs: 0 },
    { files: '/etc' },
  ])('knows no option %j', async (options) => {
    expect(await run(createUser({ run: ['sh'] }), 'sh', [], options)).toMatchObject({ ok: false });
    expect(requests).toEqual([]);
  });

  it('takes no more time than the config gives', async () => {
    const user = createUser({ run: ['sh'] });
    await run(user, 'sh', ['-c', 'true'], { timeoutMs: 3_600_000 });
    await run(user, 'sh', ['-c', 'true'], { timeoutMs: 1000 });
    expect(requests.map(({ timeoutMs }) => timeoutMs)).toEqual([5000, 1000]);
  });

  it('brings granted files and folders, and puts back what may be written', async () => {
    const user = createUser({ run: ['sh'], read: ['job'], write: ['job'] });
    await write(user, 'job/in/a', 'one');
    await write(user, 'job/in/deep/b', 'two');
    const script = 'cat job/in/a job/in/deep/b; echo new > job/in/a; mkdir other; echo no > other/x; ln -s /etc/passwd job/link';
    expect(await run(user, 'sh', ['-c', script], { files: ['job/in', './job/./in/a'] })).toEqual({
      exitCode: 0,
      stdout: 'onetwo',
      stderr: '',
      truncated: false,
      files: ['job/in/a'],
      left: ['other/x', 'job/link'],
    });
    expect(requests[0]?.files?.map(({ path }) => path)).toEqual(['job/in/a', 'job/in/deep/b']);
    expect(await ask('files.read', { path: 'job/in/a' }, user)).toMatchObject({ payload: expect.stringContaining('new\\n') });
  });

  it('brings back nothing without a grant to write, and asks for none of it', async () => {
    const user = createUser({ run: ['sh'] });
    expect(await run(user, 'sh', ['-c', 'echo x > x'])).toMatchObject({ files: [], left: [] });
    expect(requests[0]).not.toHaveProperty('collectBytes');
    expect(requests[0]).not.toHaveProperty('dial');
  });

  it('brings no file that may not be read', async () => {
    const user = createUser({ run: ['sh'], read: ['job'], write: ['job'] });
    for (const path of ['other', '../x', '/etc/passwd', 'job/.env', 'job/../other', '.git']) {
      expect(await run(user, 'sh', [], { files: [path] }), path).toMatchObject({ ok: false });
    }
    expect(requests).toEqual([]);
  });

  it('is bounded in what goes in and what comes back', async () => {
    const user = createUser({ run: ['sh'], read: ['job'], write: ['job'] });
    for (const name of ['a', 'b']) await write(user, `job/${name}`, 'x'.repeat(600_000));
    expect(await run(user, 'sh', [], { files: ['job'] })).toMatchObject({ ok: false, code: 'payload-too-large' });
    expect(requests).toEqual([]);
    const large = 'mkdir job; dd if=/dev/zero of=job/x bs=1000 count=950 2>/dev/null';
    expect(await run(user, 'sh', ['-c', large])).toMatchObject({ ok: false, code: expect.stringMatching(/too-large|quota/) });
  });

  it('carries bytes both ways as they are', async () => {
    const user = createUser({ run: ['cat'] });
    const bytes = Uint8Array.from([0, 255, 128, 10]);
    const answer = await run(user, 'cat', [], { as: 'bytes' }, bytes);
    expect(Buffer.from(answer.body).equals(bytes)).toBe(true);
    expect(answer).not.toHaveProperty('stdout');
  });
});
