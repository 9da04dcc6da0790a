import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTerminal, type Terminal } from './terminal.ts';

const throwsPlugin = `export default {
  name: 'throws', permissions: {},
  handler: ({ what }: { what: string }) => {
    if (what === 'object') throw { code: 42, why: 'nothing left' };
    if (what === 'nothing') throw undefined;
    throw what;
  },
};
`;

let terminal: Terminal;
let daemon: Awaited<ReturnType<Terminal['start']>>;
beforeAll(async () => {
  terminal = openTerminal({
    'plugins/throws.ts': throwsPlugin,
    'plugins/broken.ts': 'export default {\n  handler: () => { return 1 \n',
    'hotcell.config.yaml': 'grants:\n  throws:\n    net: [api.example.com]\n',
  });
  daemon = await terminal.start(['--grant-requested']);
});
afterAll(async () => {
  await daemon.stop();
  terminal.close();
});

describe('what a command says', () => {
  it('of a throw that is no Error', async () => {
    const { err } = await terminal.run(['call', 'throws', 'what=object']);
    expect(err).toContain('42');
    expect(err).toContain('nothing left');
    expect(err).not.toContain('unknown error');
    expect((await terminal.run(['call', 'throws', 'what=nothing'])).err).toContain('undefined');
    expect((await terminal.run(['call', 'throws', 'what=plain words'])).err).toContain('plain words');
  });

  it('of a file that does not compile, without saying its place twice', async () => {
    const { err } = await terminal.run(['plugin', 'reload', 'broken']);
    expect(err).not.toContain('Mend broken.ts');
    expect(err).toContain('Save the file when it is mended');
  });

  it('of a state that no plugin can have, in every door', async () => {
    const { code, err } = await terminal.run(['plugin', 'list', '--state', 'wrong']);
    expect([code, err]).toEqual([2, expect.stringContaining('one of absent, loading, ready, pending-grant')]);
    expect((await terminal.run(['plugin', 'list', '--state', 'disabled'])).out).toBe('No plugin is disabled.\n');
  });

  it('of what the config and the start grant', async () => {
    const { out } = await terminal.run(['grants']);
    expect(out).toContain('The config grants throws: net=api.example.com');
    expect(out).toContain('--grant-requested');
  });

  it('of arguments that stand beside "arguments"', async () => {
    const [url] = /http:\/\/[\d.:]+/.exec(daemon.text()) ?? [];
    const token = readFileSync(`${terminal.cwd}/.hotcell/token`, 'utf8').trim();
    const answer = await fetch(`${url}/api/tools/throws/call`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{"what":"a"}',
    });
    expect(await answer.json()).toMatchObject({ status: 400, fix: expect.stringContaining('{"arguments": {"what": …}}') });
  });
});
