import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { BorderWorkspace } from '../../../../src/border/border.ts';
import { isForbiddenSegment } from '../../../../src/permissions/forbidden-segments.ts';
import { createDenoRig, handlerOf } from './deno-rig.ts';

const rig = createDenoRig();
const home = realpathSync(mkdtempSync(join(tmpdir(), 'hotcell-deno-files-')));
const dir = join(home, 'workspace');
afterAll(async () => {
  await rig.close();
  rmSync(home, { recursive: true, force: true });
});
beforeEach(() => {
  rmSync(home, { recursive: true, force: true });
  put('../outside.txt', 'outside');
  put('notes/a.txt', 'a');
  put('other/b.txt', 'b');
});

function put(path: string, text: string): void {
  mkdirSync(dirname(join(dir, path)), { recursive: true });
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, path), text);
}

/** Runs an expression in a process that was granted `read` and `write`; the output is its value, or the name of its error. */
const attempt = (expression: string, grant: Partial<BorderWorkspace>) =>
  run(`try { return await (${expression}) } catch (error) { return { refused: error.name } }`, grant);

/** The same for expressions that one process tries one after the other. */
const attemptEach = (expressions: readonly string[], grant: Partial<BorderWorkspace>) =>
  run(
    `const outcomes = [];
    for (const attempt of [${expressions.map((each) => `async () => ${each}`).join()}])
      outcomes.push(await attempt().catch((error) => ({ refused: error.name })));
    return outcomes;`,
    grant,
  );

async function run(body: string, grant: Partial<BorderWorkspace>) {
  const outcome = await rig.run(handlerOf(body), {
    args: { dir, outside: join(home, 'outside.txt') },
    workspace: async () => ({ dir, read: [], write: [], ...grant }),
  });
  return { output: outcome.status === 'success' ? outcome.output : outcome.error, logs: outcome.logs.map(({ text }) => text) };
}
const refused = { refused: 'NotCapable' };
const all = { read: ['.'], write: ['.'] };

describe('files of a Deno process', () => {
  it.each([
    ['a granted file, by its name in the workspace', "Deno.readTextFile('notes/a.txt')", { read: ['notes'] }, 'a'],
    ['a granted file, by node:fs', "require('node:fs').promises.readFile('notes/a.txt', 'utf8')", { read: ['notes/a.txt'] }, 'a'],
    ['a granted file, by its path', "Deno.readTextFile(args.dir + '/other/b.txt')", { read: ['.'] }, 'b'],
    ['what is written', "Deno.writeTextFile('notes/new.txt', 'n').then(() => Deno.readTextFile('notes/new.txt'))", all, 'n'],
  ])('are opened as granted: %s', async (_what, expression, grant, output) => {
    expect(await attempt(expression, grant)).toMatchObject({ output, logs: [] });
  });

  it.each([
    ['without a grant', "Deno.readTextFile('notes/a.txt')", {}],
    ['beside the granted folder', "Deno.readTextFile('other/b.txt')", { read: ['notes'] }],
    ['beside the granted folder, by a way around', "Deno.readTextFile('notes/../other/b.txt')", { read: ['notes'] }],
    ['outside the workspace', 'Deno.readTextFile(args.outside)', all],
    ['above the workspace', "Deno.readTextFile('../outside.txt')", all],
    ['of the machine', "Deno.readTextFile('/etc/passwd')", all],
    ['of the process', "Deno.readTextFile('/proc/self/environ')", all],
    ['that are only granted to be read', "Deno.writeTextFile('notes/a.txt', 'x')", { read: ['.'] }],
    ['that are only granted to be written', "Deno.readTextFile('notes/a.txt')", { write: ['.'] }],
    ['by a new link', "Deno.symlink(args.outside, 'link')", all],
    ['by a new link of node:fs', "require('node:fs').promises.symlink(args.outside, 'link')", all],
    ['by an import', "import('file://' + args.outside)", all],
    [
      'by a worker',
      "new Promise((resolve) => { const worker = new Worker('file://' + args.outside, { type: 'module' }); worker.onerror = (event) => { event.preventDefault(); resolve({ refused: 'NotCapable' }) } })",
      all,
    ],
  ])('are not opened %s', async (_what, expression, grant) => {
    const { output } = await attempt(expression, grant);
    expect(['NotCapable', 'TypeError']).toContain((output as typeof refused).refused);
  });

  it.each(['.env', '.git/config', 'secrets/key', 'notes/.env', 'notes/.ENV.local', 'notes/deep/.git/config'])(
    'are not opened under a name that no path may hold: %s',
    async (path) => {
      put(path, 'hidden');
      const folder = dirname(path).split('/')[0];
      const wrong = [`Deno.readTextFile('${path}')`, `Deno.writeTextFile('${path}', 'mine')`];
      if (folder !== '.') wrong.push(`Deno.rename('${folder}', 'moved')`);
      const { output } = await attemptEach([...wrong, "Deno.readTextFile('other/b.txt')"], all);
      expect(output).toEqual([...wrong.map(() => refused), 'b']);
      expect(readFileSync(join(dir, path), 'utf8')).toBe('hidden');
    },
  );

  it.each(['.ENV', '.Env.local', 'notes/.git/config', 'notes/deep/.SSH/key', 'Secrets/key'])(
    'are not left under a name that no path may hold and that was not there before: %s',
    async (path) => {
      const write = `Deno.mkdir('${dirname(path)}', { recursive: true }).then(() => Deno.writeTextFile('${path}', 'mine'))`;
      expect(await attempt(write, all)).toMatchObject({ output: { code: 'file-refused' } });
      expect(existsSync(join(dir, path))).toBe(false);
      const left = readdirSync(dir, { recursive: true, encoding: 'utf8' });
      expect(left.filter((name) => name.split('/').some(isForbiddenSegment))).toEqual([]);
      expect(left.some((name) => name.includes('refused-'))).toBe(true);
    },
  );

  it('are not opened through links that are there, whatever they lead to', async () => {
    symlinkSync(join(home, 'outside.txt'), join(dir, 'notes/link'));
    symlinkSync(home, join(dir, 'up'));
    linkSync(join(home, 'outside.txt'), join(dir, 'hard'));
    const wrong = ['notes/link', 'up/outside.txt', 'hard'].flatMap((path) => [
      `Deno.readTextFile('${path}')`,
      `Deno.writeTextFile('${path}', 'mine')`,
    ]);
    expect(await attemptEach(wrong, all)).toMatchObject({ output: wrong.map(() => refused) });
    expect(await attempt("Deno.rename('notes', 'moved').then(() => Deno.readTextFile('moved/link'))", all)).toMatchObject({
      output: refused,
    });
    expect(await attempt("Deno.readTextFile('up/outside.txt')", { read: ['up'] })).toMatchObject({ output: refused });
    expect(readFileSync(join(home, 'outside.txt'), 'utf8')).toBe('outside');
  });

  it('are left to context.files where a flag cannot bar what must be', async () => {
    symlinkSync(home, join(dir, 'a,b'));
    const { output, logs } = await attempt("Deno.readTextFile('notes/a.txt')", all);
    expect(output).toEqual(refused);
    expect(logs.join()).toContain('context.files works');
  });

  it('are taken away in the middle when the grant is', async () => {
    let granted = ['.'];
    const outcome = await rig.run(
      handlerOf("await Deno.readTextFile('notes/a.txt'); await context.kv.get('a'); await new Promise(() => {})"),
      {
        workspace: async () => ({ dir, read: granted, write: [] }),
        answer: async () => {
          granted = [];
          return { ok: true, payload: 'null' };
        },
      },
    );
    expect(outcome).toMatchObject({ status: 'error', error: { code: 'permission-denied' } });
  });
});

describe('the quota of a Deno process', () => {
  const bounds = { ...all, quotaBytes: 200_000, maxFileBytes: 50_000 };

  it('bounds a file', async () => {
    expect(await attempt("Deno.writeFile('notes/big', new Uint8Array(50_000)).then(() => 'written')", bounds)).toMatchObject({
      output: 'written',
    });
    expect(await attempt("Deno.writeFile('notes/big', new Uint8Array(60_000))", bounds)).toMatchObject({
      output: { refused: 'Error' },
    });
  });

  it('ends a call that writes beyond it', async () => {
    const body = `const bytes = new Uint8Array(40_000);
      for (let n = 0; ; n = (n + 1) % 50) { await Deno.writeFile('notes/' + n, bytes); await new Promise((done) => setTimeout(done, 5)) }`;
    const outcome = await rig.run(handlerOf(body), { workspace: async () => ({ dir, ...bounds }) });
    expect(outcome).toMatchObject({ status: 'error', error: { code: 'quota-exceeded' } });
  });

  it('leaves only reading where it is used up', async () => {
    for (let n = 0; n < 5; n++) put(`notes/${n}`, 'x'.repeat(45_000));
    const { output, logs } = await attempt("Deno.writeTextFile('notes/new', 'x')", bounds);
    expect(output).toEqual(refused);
    expect(logs.join()).toContain('nothing is written directly');
    expect(existsSync(join(dir, 'notes/new'))).toBe(false);
    expect(await attempt("Deno.readTextFile('notes/a.txt')", bounds)).toMatchObject({ output: 'a' });
  });
});
