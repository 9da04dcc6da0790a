import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { explainDenoRefusals } from '../../../../src/engines/process/deno/deno-refusals.ts';
import { createDenoRig, type DenoRig, handlerOf } from './deno-rig.ts';

let rig: DenoRig;
beforeAll(() => {
  rig = createDenoRig();
});
afterAll(() => rig.close());

describe('what Deno refuses', () => {
  it.each([
    ['read', "Deno.readTextFile('notes/a.txt')", / read=notes\/a\.txt$/],
    ['read by its whole path', "Deno.readTextFile(Deno.cwd() + '/b.txt')", / read=b\.txt$/],
    ['read elsewhere', "Deno.readTextFile('/etc/passwd')", /outside the workspace/],
    ['write', "Deno.writeTextFile('a.txt', '')", / write=a\.txt$/],
    ['write by node:fs', "require('node:fs').promises.writeFile('a.txt', '')", / write=a\.txt$/],
    ['temporary files', 'Deno.makeTempDir()', /outside the workspace/],
    ['a link', "Deno.symlink('a', 'b')", /a link could lead out/],
    ['env', "Deno.env.get('HOME')", / env=HOME$/],
    ['all of env', 'Deno.env.toObject()', /context\.env\.get/],
    ['sys', 'Deno.hostname()', /no grant changes that/],
    ['run', "new Deno.Command('ls').output()", / run=ls$/],
    ['ffi', "Deno.dlopen('/lib/x.so', {})", /engine: 'docker'/],
    ['import', "import('https://example.com/x.js')", /Import it at the top/],
  ])('is told with what helps: %s', async (_what, expression, told) => {
    const outcome = await rig.run(handlerOf(`console.log('hello'); return await (${expression})`));
    expect(outcome).toMatchObject({ status: 'error', error: { message: expect.stringMatching(told) } });
    const { message } = outcome.status === 'error' ? outcome.error : { message: '' };
    expect(message).not.toMatch(/run again|--allow|\.hotcell|deno\/empty/);
  });

  it('is told so in the log, too', async () => {
    const body = "try { await Deno.readTextFile(Deno.cwd() + '/x') } catch (error) { console.error(error.message) }";
    const { logs } = await rig.run(handlerOf(body));
    expect(logs.map(({ text }) => text).join()).toMatch(/The plugin may not read "x" of the workspace.*read=x/);
  });
});

describe('explainDenoRefusals', () => {
  const process = { plugin: 'weather', cwd: '/data/work' };

  it('names hosts as a grant does, and leaves other text alone', () => {
    const told = explainDenoRefusals('It: Requires net access to "a.example:443", run again with the --allow-net flag.', process);
    expect(told).toBe('It: The plugin may not connect to "a.example:443". Allow it with: hotcell grant weather net=a.example.');
    expect(explainDenoRefusals('Requires patience.', process)).toBe('Requires patience.');
  });
});
