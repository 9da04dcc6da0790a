import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createDenoRig, handlerOf } from './deno-rig.ts';

const rig = createDenoRig();
const home = realpathSync(mkdtempSync(join(tmpdir(), 'hotcell-native-')));
const dir = join(home, 'workspace');
mkdirSync(dir);
mkdirSync(join(home, 'outside'));
writeFileSync(join(home, 'secret.txt'), 'secret');
afterAll(async () => {
  await rig.close();
  rmSync(home, { recursive: true, force: true });
});

/** Runs an expression in a process that may read and write the whole workspace. */
async function attempt(expression: string): Promise<unknown> {
  const body = `const out = args.home + '/outside/'; const { DatabaseSync, backup } = require('node:sqlite');
    const database = () => new DatabaseSync(':memory:');
    try { return await (${expression}) } catch (error) { return error.name + ': ' + error.message }`;
  const outcome = await rig.run(handlerOf(body), {
    args: { home, dir },
    limits: { memoryBytes: 96 * 1024 * 1024 },
    workspace: async () => ({ dir, read: ['.'], write: ['.'] }),
  });
  return outcome.status === 'success' ? outcome.output : outcome.error.message;
}

describe('native code of a Deno process', () => {
  it.each([
    ['signals to the daemon', 'process.kill(process.ppid, 0)', /run access/],
    ['signals to others', "Deno.kill(1, 'SIGCONT')", /run access/],
    ['a program', "new Deno.Command('/bin/true').output()", /run access/],
    ['a library', "process.dlopen({ exports: {} }, '/lib/x.so')", /ffi access/],
    ['an add-on', "(Deno.writeTextFileSync('x.node', ''), require(args.dir + '/x.node'))", /ffi access/],
    ['a module outside', "require(args.home + '/secret.txt')", /read access/],
    ['another folder', 'process.chdir(args.home)', /read access/],
    ['a database outside', "new DatabaseSync(out + 'a.db')", /(read|write) access/],
    ['a database outside, attached', `database().exec("ATTACH '" + out + "b.db' AS b; CREATE TABLE b.t (a)")`, /attached/],
    ['a database outside, by VACUUM', `database().exec("CREATE TABLE t (a); VACUUM INTO '" + out + "c.db'")`, /attached/],
    ['a database outside, as a copy', "backup(database(), out + 'd.db')", /write access/],
    [
      'an extension of a database',
      "new DatabaseSync(':memory:', { allowExtension: true }).loadExtension('/lib/x.so')",
      /ffi access/,
    ],
    [
      'a snapshot of the heap outside',
      "require('node:v8').writeHeapSnapshot(out + 'heap')",
      /write access|more than its \d+ bytes of memory/,
    ],
    ['a debugger', "require('node:inspector').open(0)", /net access/],
    ['the environment', 'Deno.env.toObject()', /env access/],
    ['the name of the machine', 'Deno.hostname()', /sys access/],
    ['the user', "JSON.stringify(require('node:os').userInfo())", /"username":"hotcell"/],
    ['a priority', "require('node:os').setPriority(-20)", /sys access/],
    ['a question to a person', "Deno.permissions.request({ name: 'net' }).then(({ state }) => state)", /^denied$/],
    ['graphics', 'navigator.gpu?.requestAdapter().then(String)', /^null$/],
  ])('gets no %s', async (_what, expression, refusal) => {
    expect(await attempt(expression)).toMatch(refusal);
    expect(readdirSync(join(home, 'outside'))).toEqual([]);
  });

  it.each([
    ['a file of the workspace', "Deno.writeTextFile('a.txt', 'a').then(() => Deno.readTextFile('a.txt'))", 'a'],
    [
      'a database of the workspace',
      "(() => { const db = new DatabaseSync('own.db'); db.exec('CREATE TABLE IF NOT EXISTS t (a)'); return 'made' })()",
      'made',
    ],
    ['a copy of a database', "backup(database(), 'copy.db').then(() => Deno.statSync('copy.db').isFile)", true],
    [
      'the granted folder',
      "Promise.all(['read', 'write'].map(async (name) => (await Deno.permissions.query({ name, path: args.dir })).state))",
      ['granted', 'granted'],
    ],
  ])('gets %s', async (_what, expression, output) => {
    expect(await attempt(expression)).toEqual(output);
  });

  it('shows no host path in what a call returns when it fails', async () => {
    const outcome = await rig.run(handlerOf("throw new Error('here')"));
    expect(JSON.stringify(outcome)).not.toContain(rig.dataDir);
  });
});
