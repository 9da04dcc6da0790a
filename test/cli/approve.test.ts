import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../plugins/rig/supervisor-rig.ts';
import { openTerminal, type Terminal } from './terminal.ts';

const asks = (name: string) => `export default {
  name: '${name}', description: 'Asks.', permissions: { kv: true },
  handler: async (args: {}, context: any) => { await context.kv.set('a', 1); return 'kept'; },
};
`;
const names = ['first', 'second', 'third', 'fourth', 'fifth'];

const wipes = `export default {
  name: 'wipes', description: 'Wipes.', isDangerous: true, handler: async (args: { code: string }) => args.code.length,
};
`;

let terminal: Terminal;
let daemon: Awaited<ReturnType<Terminal['start']>>;
beforeAll(async () => {
  terminal = openTerminal({
    'hotcell.config.yaml': 'workers: { min: 1, max: 1 }\n',
    'plugins/wipes.ts': wipes,
    ...Object.fromEntries(names.map((name) => [`plugins/${name}.ts`, asks(name)])),
  });
  daemon = await terminal.start([], { isTTY: true });
});
afterAll(async () => {
  await daemon.stop();
  terminal.close();
});

async function find(plugin: string): Promise<string> {
  const { items } = JSON.parse((await terminal.run(['approve', '--json'])).out);
  return items.find((item: { plugin: string }) => item.plugin === plugin)?.id ?? 'none';
}

/** Somebody at the terminal who answers so. */
function person(answer: string | undefined) {
  const questions: string[] = [];
  return {
    questions,
    ask: async (question: string) => {
      questions.push(question);
      return answer;
    },
  };
}

describe('hotcell approve', () => {
  it('lists what waits, which the start told of', async () => {
    expect(daemon.first).toContain('5 questions wait for a person: hotcell approve');
    const { out, code } = await terminal.run(['approve']);
    expect(code).toBe(0);
    expect(out).toMatch(/^ID +KIND +PLUGIN +TOOL +CAUSED BY +AGE +QUESTION\n/);
    expect(out).toMatch(/^apr_\w+ +grant +first +- +- +\d+ s +The plugin "first" asks for: kv$/m);
    expect(out).toContain('answer it: hotcell approve ID');
  });

  it('shows at a terminal what is needed to judge, asks, and does what the person says', async () => {
    const yes = person('y');
    const said = await terminal.run(['approve', await find('first')], { ask: yes.ask });
    expect(said.out).toMatch(/The plugin "first" asks for: kv\n[\s\S]*permissions +kv\n +contentHash +\w{64}\n[\s\S]*✓ Approved/);
    expect(yes.questions).toEqual(['Approve? [y]es, [n]o, [l]ater: ']);
    expect((await terminal.run(['call', 'first'])).out).toBe('kept\n');
    const id = await find('second');
    const left = await terminal.run(['approve', id], { ask: person(undefined).ask });
    expect([left.code, left.err]).toEqual([0, 'Not answered: the question stays open.\n']);
    expect((await terminal.run(['approve', id], { ask: person('n').ask })).out).toContain('✗ Denied');
    expect((await terminal.run(['call', 'second'])).code).toBe(4);
    const late = await terminal.run(['approve', id, '--yes']);
    expect([late.code, late.err]).toEqual([1, expect.stringContaining('it was denied by local')]);
  });

  it('shows all of the arguments of a call, however long, before it asks', async () => {
    const code = `${' '.repeat(100_000)}\u202erm -rf /\u0000`;
    const called = terminal.run(['call', 'wipes', '--full', '--json', JSON.stringify({ code })]);
    await until(async () => (await find('wipes')) !== 'none', 'the question');
    const id = await find('wipes');
    const listed = JSON.parse((await terminal.run(['approve', '--json'])).out).items.find(
      (item: { id: string }) => item.id === id,
    );
    expect(listed).toMatchObject({ cut: { arguments: expect.any(Number) } });
    expect(JSON.stringify(listed)).not.toContain('rm -rf');
    const { out } = await terminal.run(['approve', id], { ask: person('y').ask });
    expect(out).toContain(`${' '.repeat(100_000)}\\u202erm -rf /\\u0000`);
    expect(out).toContain('✓ Approved');
    expect(JSON.parse((await called).out)).toMatchObject({ output: code.length });
  });

  it('approves nothing without a terminal but with --yes', async () => {
    const id = await find('third');
    const refused = await terminal.run(['approve', id]);
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining(`hotcell approve ${id} --yes`)]);
    const shown = await terminal.run(['approve', id, '--json']);
    expect(JSON.parse(shown.out)).toMatchObject({ id, status: 'open', mayAnswer: 'yes' });
    const done = await terminal.run(['approve', id, '--yes', '--once', '--json']);
    expect(JSON.parse(done.out)).toMatchObject({ id, status: 'approved', answeredBy: 'local' });
    expect(JSON.parse((await terminal.run(['grants', 'third', '--json'])).out).items).toMatchObject([{ scope: 'once' }]);
    expect(await find('third')).toBe('none');
  });

  it('denies without being asked, and lists answered questions with --all', async () => {
    const id = await find('fourth');
    expect((await terminal.run(['approve', id, '--deny'])).out).toContain('✗ Denied');
    expect((await terminal.run(['approve', '--all'])).out).toMatch(new RegExp(`^${id} +grant +denied +fourth`, 'm'));
    expect(JSON.parse((await terminal.run(['approve', '--all', '--json'])).out).items).toHaveLength(names.length + 1);
  });

  it('refuses what cannot be meant', async () => {
    const id = await find('fifth');
    for (const argv of [
      ['--yes'],
      ['--deny'],
      [id, '--yes', '--deny'],
      [id, '--yes', '--once', '--session', 's'],
      [id, '--yes', '--until', 'soon'],
      [id, '--yes', '--caller', 'key_1'],
      [id, '--deny', '--sesion', 's'],
    ]) {
      expect([argv, (await terminal.run(['approve', ...argv])).code]).toEqual([argv, 2]);
    }
    expect((await terminal.run(['approve', 'apr_0', '--yes'])).err).toContain('There is no question "apr_0"');
    expect(await find('fifth')).toBe(id);
  });

  it('shows a caller nothing of others, and lets it answer nothing', async () => {
    const env = { HOTCELL_TOKEN: JSON.parse((await terminal.run(['key', 'create', '--json'])).out).key };
    expect((await terminal.run(['approve'], { env })).out).toBe('Nothing waits for an answer.\n');
    expect((await terminal.run(['approve', await find('fifth'), '--yes'], { env })).code).toBe(1);
  });

  it('is named in the terminal of the daemon for every question, with its answer', async () => {
    terminal.write('plugins/later.ts', asks('later'));
    await until(
      () => /\? later The plugin "later" asks for: kv {2}Answer it: hotcell approve later/.test(daemon.text()),
      'the line',
    );
    expect(daemon.text()).toMatch(/first apr_\w+ approved by local/);
  });
});
