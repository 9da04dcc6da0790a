import { linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nameWorkspace } from '../../../src/capabilities/files/workspaces.ts';
import { pluginContracts } from '../../../src/operations/contracts/plugins.ts';
import { startWebServer, type WebServer } from '../../capabilities/network/web-server.ts';
import { type EngineHouse, openEngineHouse } from './engine-house.ts';
import { type CallTool, networkSubjects, presentSubjects, type Step, type StepAnswer } from './subjects.ts';

// What a guest can try that has more than the border: the modules of Deno and Node, or a machine of its own in a container.
const subjects = presentSubjects(networkSubjects).filter(({ title }) =>
  /^(?:deno|docker|a command in Docker|eval_code)$/.test(title),
);
const everything = { read: ['.'], write: ['.'], net: ['127.0.0.1'] } as const;
let world: EngineHouse;
let server: WebServer;
let ann: { readonly id: string; readonly call: CallTool };
let workspaces: string;
let outside: string;

beforeAll(async () => {
  process.env.ELSEWHERE = 'of the machine';
  server = await startWebServer((_request, response) => void response.end('hello'), '::');
  world = await openEngineHouse({ subjects });
  ann = await world.makeCaller('ann');
  workspaces = join(world.folder, '.hotcell', 'workspaces');
  outside = join(world.folder, 'outside.txt');
  writeFileSync(outside, 'of the host');
  for (const caller of [ann.id, 'somebody-else']) {
    mkdirSync(join(workspaces, nameWorkspace(caller)), { recursive: true });
    writeFileSync(join(workspaces, nameWorkspace(caller), 'own.txt'), `of ${caller}`);
  }
  symlinkSync(outside, join(workspaces, nameWorkspace(ann.id), 'soft'));
  linkSync(outside, join(workspaces, nameWorkspace(ann.id), 'hard'));
  mkdirSync(join(workspaces, nameWorkspace(ann.id), 'project', '.git'), { recursive: true });
  for (const path of ['project/.env', 'project/.git/config', '.Env.local'])
    writeFileSync(join(workspaces, nameWorkspace(ann.id), path), 'of the host');
  symlinkSync(world.folder, join(workspaces, nameWorkspace(ann.id), 'folder'));
}, 60_000);
afterAll(async () => {
  delete process.env.ELSEWHERE;
  await world.close();
  await server[Symbol.asyncDispose]();
});

const read = (path: string): Step => ({ op: 'native.read', payload: { path } });
const isRefused = (answer: StepAnswer) => (answer.ok ? `read ${String(answer.value).slice(0, 40)}` : 'refused');

describe.each(subjects.map((subject) => [subject.title, subject] as const))('a guest of %s, by itself', (title, subject) => {
  const ask = (steps: readonly Step[]) => world.tryAs(subject, everything, steps, ann.call);

  it('reads no file of the host, of the daemon or of another caller, and its own', async () => {
    const dataDir = join(world.folder, '.hotcell');
    const paths = [
      outside,
      join(dataDir, 'token'),
      join(dataDir, 'hotcell.db'),
      join(workspaces, nameWorkspace('somebody-else'), 'own.txt'),
      `../${nameWorkspace('somebody-else')}/own.txt`,
      '../../token',
      'soft',
      'hard',
      'project/.env',
      'project/.git/config',
      '.Env.local',
      'folder/outside.txt',
      'folder/.hotcell/token',
      fileURLToPath(new URL('../../../package.json', import.meta.url)),
      '/var/run/docker.sock',
      // In a container these are its own.
      ...(title === 'deno' ? ['/proc/1/environ', '/proc/1/root/etc/hostname', '/proc/self/environ'] : []),
    ];
    const answers = await ask(paths.map(read));
    expect(answers.map((answer, index) => [paths[index], isRefused(answer)])).toEqual(paths.map((path) => [path, 'refused']));
    expect(JSON.stringify(answers)).not.toMatch(/of the (?:host|machine)|HOTCELL|somebody-else"/);
    const [own] = await ask([read(title === 'deno' ? 'own.txt' : '/proc/self/comm')]);
    expect(own).toMatchObject({ ok: true });
    if (title !== 'deno') return;
    // What a guest opens by itself counts as used once it was handed over.
    const { permissions } = await world.house.client.invoke(pluginContracts.get, { name: subject.plugin });
    expect(permissions.used?.map(({ permission }) => permission)).toEqual(expect.arrayContaining(['read=.', 'write=.']));
  });

  it('has no variable of the daemon', async () => {
    const [env, environ] = await ask([{ op: 'native.env' }, read('/proc/self/environ')]);
    expect(env).toMatchObject({ ok: true });
    expect(JSON.stringify([env, environ])).not.toMatch(/ELSEWHERE|HOTCELL|of the machine/);
  });

  it('has no network that the daemon does not dial', async () => {
    server.seen.length = 0;
    const direct = ['127.0.0.1', '::1', '172.17.0.1', '169.254.169.254', '10.0.0.1', 'localhost'];
    const steps = direct.map((host): Step => ({ op: 'native.connect', payload: { host, port: server.port } }));
    const answers = await world.tryAs(subject, { net: title === 'deno' ? ['127.0.0.9'] : ['127.0.0.1'] }, steps, ann.call);
    expect(answers.map(isRefused)).toEqual(direct.map(() => 'refused'));
    expect(server.seen).toEqual([]);
    const twin =
      title === 'deno'
        ? steps[0]
        : { op: title === 'docker' ? 'native.proxy' : 'fetch', payload: { url: `http://127.0.0.1:${server.port}/` } };
    expect(JSON.stringify(await world.tryAs(subject, { net: ['127.0.0.1'] }, twin ? [twin] : [], ann.call))).toContain('hello');
  });
});

describe.each(subjects.filter(({ title }) => title === 'deno').map((subject) => [subject.title, subject] as const))(
  'a guest of %s',
  (_title, subject) => {
    const ask = (steps: readonly Step[]) => world.tryAs(subject, everything, steps, ann.call);

    it('makes no link that leads out, starts no program, and writes its own file', async () => {
      const answers = await ask([
        { op: 'native.link', payload: { from: outside, to: 'made-soft' } },
        { op: 'native.link', payload: { from: outside, to: 'made-hard', hard: true } },
        { op: 'native.link', payload: { from: '../../token', to: 'made-relative' } },
        { op: 'native.run', payload: { command: 'id', args: [] } },
        { op: 'native.write', payload: { path: 'soft', text: 'changed' } },
        { op: 'native.write', payload: { path: '../escaped.txt', text: 'changed' } },
        { op: 'native.write', payload: { path: 'mine.txt', text: 'written' } },
        read('mine.txt'),
      ]);
      expect(answers.slice(0, 6).map(isRefused)).toEqual(Array(6).fill('refused'));
      expect(answers.slice(6)).toMatchObject([{ ok: true }, { ok: true, value: 'written' }]);
      expect(readFileSync(outside, 'utf8')).toBe('of the host');
    });
  },
);

describe.each(subjects.filter(({ title }) => title === 'docker').map((subject) => [subject.title, subject] as const))(
  'a guest of %s',
  (_title, subject) => {
    it('starts programs of its own image, which have no more than it has', async () => {
      server.seen.length = 0;
      const run = (command: string, ...args: string[]): Step => ({ op: 'native.run', payload: { command, args } });
      const [said, user, host] = await world.tryAs(
        subject,
        everything,
        [run('echo', 'said'), run('id', '-u'), run('nc', '-w', '1', '172.17.0.1', String(server.port))],
        ann.call,
      );
      expect([said, user]).toEqual([
        { ok: true, value: 'said\n' },
        { ok: true, value: '65534\n' },
      ]);
      expect([Object(host).value, server.seen]).toEqual(['', []]);
    });
  },
);
