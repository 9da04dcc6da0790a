import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTerminal, type Terminal } from './terminal.ts';

const throwsPlugin = `export default {
  name: 'throws', permissions: {},
  handler: ({ what }: { what: string }) => {
    if (what === 'object') throw { code: 42, why: 'nothing left' };
    if (what === 'nothing') throw undefined;
    if (what === 'cause') throw new Error('It broke.', { cause: new TypeError('no room', { cause: 'the disk' }) });
    if (what === 'said') throw new Error('It broke: no room', { cause: new Error('no room') });
    if (what === 'many') throw new AggregateError([new Error('one'), 'two'], 'All broke');
    if (what === 'ring') { const ring = new Error('round'); ring.cause = ring; throw ring; }
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

  it('of the errors behind an error, unless it says them already', async () => {
    const said = async (what: string) => (await terminal.run(['call', 'throws', `what=${what}`])).err.split('\n')[1]?.trim();
    expect(await said('cause')).toBe('It broke (no room (the disk))');
    expect(await said('said')).toBe('It broke: no room');
    expect(await said('many')).toBe('All broke (one; two)');
    expect(await said('ring')).toBe('round');
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

  it('of what is not there to be ended, revoked or removed: with near names, a mark and what helps', async () => {
    expect(
      (await terminal.run(['secret', 'set', 'MAPS', '--host', 'a.com', '--header', 'x-key'], { stdin: 'wk-2f9c81a7d3' })).code,
    ).toBe(0);
    for (const [argv, sentence, fix] of [
      [['containers', 'kill', 'nope'], 'Nothing runs in a container for "nope".', 'hotcell containers list'],
      [['key', 'revoke', 'nope'], 'There is no valid key "nope".', 'hotcell key list'],
      [['secret', 'remove', 'MAPZ'], 'There is no secret "MAPZ". Did you mean "MAPS"?', 'hotcell secret list'],
    ] as const) {
      const { code, out, err } = await terminal.run(argv);
      expect([code, out]).toEqual([1, '']);
      expect(err).toMatch(/^✗ /);
      expect(err).toContain(sentence);
      expect(err).toMatch(new RegExp(`Fix: .*${fix}`));
      const json = await terminal.run([...argv, '--json']);
      expect([json.code, JSON.parse(json.out), json.err]).toEqual([1, expect.any(Object), '']);
    }
    expect(await terminal.run(['containers', 'kill', '--all'])).toMatchObject({ code: 0, out: '✓ 0 ended.\n' });
  });

  it('of a file with values that cannot be read, and reads - as the standard input', async () => {
    for (const path of ['/nope', '.']) {
      const { code, err } = await terminal.run(['kv', 'import', 'throws', path]);
      expect([code, err]).toEqual([
        2,
        expect.stringMatching(/The file \/.* cannot be read\.\n.*Fix: Name a file that is there\./),
      ]);
    }
    const stdin = '{"key":"a","value":1}\n';
    expect(await terminal.run(['kv', 'import', 'throws', '-'], { stdin })).toMatchObject({ code: 0, out: '✓ written: 1\n' });
  });

  it('of arguments on the standard input that are none', async () => {
    for (const [stdin, sentence] of [
      ['', 'Expected the arguments on standard input, got nothing.'],
      ['a', 'Expected JSON as the arguments on standard input'],
      ['[1]', 'Expected the arguments on standard input as a JSON object'],
    ] as const) {
      const { code, err } = await terminal.run(['call', 'throws', '-'], { stdin });
      expect([code, err]).toEqual([2, expect.stringContaining(sentence)]);
      expect(err).toContain('Fix: Send one JSON object such as {"city":"Oslo"}.');
    }
  });

  it('of an argument that is given twice', async () => {
    for (const words of [
      ['what=a', 'what=b'],
      ['what=a', 'what:="b"'],
    ]) {
      const { code, err } = await terminal.run(['call', 'throws', ...words]);
      expect([code, err]).toEqual([2, expect.stringContaining('The argument "what" is given twice.')]);
    }
  });

  it('of a generation that is no number, with the name of the plugin', async () => {
    const { code, err } = await terminal.run(['plugin', 'rollback', 'throws', 'abc']);
    expect([code, err]).toEqual([2, expect.stringContaining('Fix: See hotcell plugin history throws.')]);
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
