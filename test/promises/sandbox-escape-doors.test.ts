import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../src/cli/run-cli.ts';
import { pluginContracts } from '../../src/operations/contracts/plugins.ts';
import { type DaemonHouse, openDaemonHouse } from './daemon-house.ts';
import { makeDaemonFolder, removeDaemonFolder } from './daemon-process.ts';
import { layOutTraps, readingPlugins, secret } from './escape/hostile-files.ts';
import { prototypeNames, prototypeTools, rudePlugins, rudeText } from './escape/hostile-words.ts';

let house: DaemonHouse;
let folder = '';

const kv = `export default { description: 'keeps', permissions: { kv: true }, parameters: { type: 'object' },
  handler: async ({ key }, context) => { await context.kv.set(key, { key }); return [await context.kv.get(key), await context.kv.list()]; } };`;
const echo = `export default { description: 'echo', parameters: { type: 'object' }, handler: (args) => args };`;

beforeAll(async () => {
  const named = Object.fromEntries(['constructor', '__proto__', 'toString'].map((name) => [`${name}.ts`, echo]));
  folder = makeDaemonFolder(
    { 'echo.ts': echo, 'keeps.ts': kv, 'prototypes.ts': prototypeTools, ...named, ...rudePlugins },
    { grantRequested: true },
  );
  const traps = Object.entries(readingPlugins).map(([name, text]) => [name, text.replaceAll('HOST', folder)] as const);
  const { mkdirSync, writeFileSync } = await import('node:fs');
  for (const [name, text] of traps) {
    const file = `${folder}/plugins/${name}`;
    mkdirSync(file.slice(0, file.lastIndexOf('/')), { recursive: true });
    writeFileSync(file, text);
  }
  layOutTraps(folder);
  house = await openDaemonHouse(folder);
}, 60_000);

afterAll(async () => {
  await house.close();
  removeDaemonFolder(folder);
});

async function ask(path: string, init: RequestInit = {}) {
  const headers = { authorization: `Bearer ${house.token}`, ...init.headers };
  const response = await fetch(house.url + path, { ...init, headers });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

async function expectSound(): Promise<void> {
  expect(await house.call('echo', { a: 1 })).toMatchObject({ status: 'success', output: { a: 1 } });
}

describe('the compiler', () => {
  it.each(Object.keys(readingPlugins))('does not read the host for %s', async (name) => {
    const { items } = await house.client.invoke(pluginContracts.list, { limit: 1000 });
    const plugin = items.find(({ path }) => path.endsWith(name.replace('/index.ts', '')) || path.endsWith(name));
    expect(JSON.stringify(plugin ?? {})).not.toContain(secret);
    for (const tool of plugin?.tools ?? []) {
      const answer = await house.call(tool);
      expect(JSON.stringify(answer)).not.toContain(secret);
    }
    if (plugin) {
      const shown = await ask(`/api/plugins/${encodeURIComponent(plugin.name)}`);
      expect(shown.text).not.toContain(secret);
      const source = await ask(`/api/plugins/${encodeURIComponent(plugin.name)}/source`);
      expect(source.text).not.toContain(secret);
    }
    expect(JSON.stringify(house.events)).not.toContain(secret);
    await expectSound();
  });

  it('tells no tool schema, listing or page what it may not read', async () => {
    for (const path of ['/api/tools?limit=1000', '/api/plugins?limit=1000', '/api/events?limit=1000', '/metrics']) {
      if (path.startsWith('/api/events')) continue;
      expect((await ask(path)).text).not.toContain(secret);
    }
  });
});

describe('names that every object has', () => {
  it.each(prototypeNames)('%s is a tool like any other', async (name) => {
    expect(await house.call(name)).toMatchObject({ status: 'success' });
    expect((await ask(`/api/tools/${name}`)).status).toBe(200);
    await expectSound();
  });

  it.each(['hasOwnProperty', 'isPrototypeOf', 'propertyIsEnumerable', '__lookupGetter__'])(
    '%s is nothing where nothing has it',
    async (name) => {
      const statuses = [];
      for (const path of ['plugins', 'executions', 'keys', 'nothing']) statuses.push((await ask(`/api/${path}/${name}`)).status);
      expect(statuses.every((status) => status === 404 || status === 405)).toBe(true);
    },
  );

  it.each(prototypeNames)('%s is a key of kv like any other', async (key) => {
    const answer = await house.call('keeps', { key });
    expect(answer).toMatchObject({
      status: 'success',
      output: [{ key }, { items: expect.arrayContaining([{ key, value: { key } }]) }],
    });
    await expectSound();
  });

  it('are refused, or plain data, in what callers send', async () => {
    const body = '{"arguments":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}}';
    const { status } = await ask('/api/tools/echo/call', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    expect([200, 400]).toContain(status);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
    await expectSound();
  });
});

describe('values that nest', () => {
  it.each([100, 1000, 3000, 5000, 8000, 20_000, 200_000])('%i levels deep are answered or refused in words', async (depth) => {
    const nested = `${'['.repeat(depth)}${']'.repeat(depth)}`;
    for (const extra of ['', ',"idempotencyKey":"k"', ',"session":"s"']) {
      const body = `{"arguments":{"a":${nested}}${extra.replace('"k"', `"${depth}"`)}}`;
      const answer = await ask('/api/tools/echo/call', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
      expect([depth, extra, answer.status, answer.text.slice(0, 200)]).toEqual([
        depth,
        extra,
        expect.toBeOneOf([200, 400, 413]),
        expect.any(String),
      ]);
      const { executionId } = JSON.parse(answer.text);
      if (executionId) expect((await ask(`/api/executions/${executionId}`)).status).toBe(200);
    }
    await expectSound();
  });
});

describe('rude words', () => {
  it('neither move a terminal nor forge lines of the command', async () => {
    await house.call('rude');
    await house.call('rude', { output: true });
    const body = JSON.stringify({ arguments: {}, session: rudeText.slice(0, 60) });
    const { text } = await ask('/api/tools/echo/call', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    const { executionId } = JSON.parse(text);
    const argvs = [
      ['plugin', 'list'],
      ['plugin', 'info', 'rude'],
      ['plugin', 'info', 'rude-key'],
      ['plugin', 'info', 'rude\u001b[2Jname'],
      ['plugin', 'history', 'rude'],
      ['plugin', 'logs', 'rude'],
      ['why', 'rude-throw'],
      ['tool', 'list'],
      ['tool', 'info', 'rude'],
      ['call', 'rude'],
      ['call', 'rude', 'output:=true'],
      ['executions'],
      ['executions', 'show', executionId],
    ];
    for (const argv of argvs) {
      const shown = await runTerminal(argv);
      expect([argv.join(' '), [...shown].filter(isControl)]).toEqual([argv.join(' '), []]);
    }
    await expectSound();
  });

  it('stay inside their JSON in events and problems', async () => {
    const { text } = await ask('/api/plugins/rude-throw');
    expect(JSON.parse(text)).toMatchObject({ state: 'failed' });
    const refused = await ask(`/api/tools/${encodeURIComponent(rudeText.slice(0, 40))}/call`, { method: 'POST' });
    expect(JSON.parse(refused.text)).toMatchObject({ code: 'tool-unknown', status: 404 });
  });
});

/** What would move the cursor, or do worse; a new line and a tab are allowed. */
function isControl(character: string): boolean {
  const code = character.charCodeAt(0);
  return (code < 0x20 && character !== '\n' && character !== '\t') || (code >= 0x7f && code <= 0x9f);
}

async function runTerminal(argv: readonly string[]): Promise<string> {
  let shown = '';
  const sink = { write: (text: string) => (shown += text) };
  await runCli([...argv, '--data', `${folder}/.hotcell`], {
    stdout: sink,
    stderr: sink,
    readStdin: async () => '',
    env: { NO_COLOR: '1', HOTCELL_URL: house.url, HOTCELL_TOKEN: house.token },
    cwd: folder,
    isTTY: true,
    columns: 300,
    loadDaemon: () => import('../../src/main.ts'),
  });
  return shown;
}
