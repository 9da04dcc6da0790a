import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { askAnswer, askYesNo } from '../../src/cli/questions/ask.ts';
import { openTerminal } from './terminal.ts';

const notes = `export default {
  tools: {
    write_note: { description: 'Writes', handler: async (args: { text: string }, context) => { await context.kv.set('a', args.text); return 'ok'; } },
    read_note: { description: 'Reads', handler: async (_args: {}, context) => context.kv.get('a') },
  },
};`;
const nothing = 'export default { tools: { nan: { handler: () => NaN }, code: { handler: () => () => 1 } } };';

const city = `class City {
  name = 'city'; description = 'Says where'; unit = 'km'; cache = new Map(); #calls = 0;
  handler({ to }: { to: string }) { this.#calls++; return to + ' in ' + this.unit; }
}
export default new City();`;
const arrow = `class Arrow { description = 'Adds'; base = 1; handler = async ({ a }: { a: number }) => a + this.base; }
export default new Arrow();`;
const lost = "export default { handler: async () => { void Promise.reject(new TypeError('lost one')); return 1; } };";

describe('what a newcomer types', () => {
  const files = { notes, nothing, city, arrow, lost };
  const terminal = openTerminal(Object.fromEntries(Object.entries(files).map(([name, text]) => [`plugins/${name}.ts`, text])));
  let daemon: Awaited<ReturnType<typeof terminal.start>>;

  beforeAll(async () => {
    daemon = await terminal.start([], { isTTY: true });
  });

  afterAll(async () => {
    await daemon.stop();
    terminal.close();
  });

  it('a plugin in place of a tool is answered with its tools', async () => {
    const { code, err } = await terminal.run(['call', 'notes']);
    expect(code).not.toBe(0);
    expect(err).toContain('"notes" is a plugin. Its tools are');
    expect(err).toContain('write_note');
  });

  it('a permission in a wrong spelling is answered with the right one', async () => {
    expect((await terminal.run(['grant', 'notes', 'kv=yes'])).err).toContain(
      '"kv=yes" is not understood. Write kv, kv=1048576 for so many bytes, or kv=shared.',
    );
    expect((await terminal.run(['grant', 'notes', 'net=https://a.example/x'])).err).toContain('Write net=api.example.com');
    expect((await terminal.run(['grant', 'notes', 'llm=much'])).err).toContain('llm=20000');
    expect((await terminal.run(['grant', 'notes', 'sharedCell=no'])).err).toContain('Write sharedCell.');
  });

  it('a refused permission says the command, and the one that allows everything', async () => {
    const { err } = await terminal.run(['call', 'write_note', 'text=a']);
    expect(err).toContain('hotcell grant notes kv');
    expect(err).toContain('hotcell grant notes --requested');
    expect(err).not.toContain('NAME PERMISSION');
  });

  it.each(['nan', 'code'])('a result that JSON cannot say (%s) is not told to fit a schema that is not there', async (tool) => {
    const { err } = await terminal.run(['call', tool]);
    expect(err).toContain('which JSON cannot say');
    expect(err).toContain('Return text or JSON, and where the tool declares an output schema');
  });

  it('a call whose arguments do not fit shows in the terminal of the daemon', async () => {
    const { code } = await terminal.run(['call', 'write_note', 'txt=a']);
    expect(code).not.toBe(0);
    expect(daemon.text()).toMatch(/✗ write_note refused .*text/);
  });

  it('an instance of a class may have fields of its own, with a method or a field as its handler', async () => {
    expect((await terminal.run(['call', 'city', 'to=Bonn'])).out).toContain('Bonn in km');
    expect((await terminal.run(['call', 'arrow', 'a=2'])).out).toContain('3');
  });

  it('an unhandled rejection is told by the lines of the plugin alone', async () => {
    const { out, err } = await terminal.run(['call', 'lost']);
    expect(out + err).toContain('Unhandled rejection: TypeError: lost one');
    expect(out + err).toMatch(/at handler \(/);
    expect(out + err).not.toMatch(/prelude\.js|native/);
  });

  it('a variable that is read before there is any is warned of', async () => {
    terminal.write(
      'plugins/early.ts',
      "const key = process.env.MY_KEY;\nconst { OTHER } = process.env;\nexport default { description: 'x', handler: () => [key, OTHER, process.env.LATER].join() };",
    );
    await vi.waitUntil(() => daemon.text().includes('early'), { timeout: 20_000 });
    const { out } = await terminal.run(['plugin', 'info', 'early']);
    expect(out.replace(/\s+/g, ' ')).toContain(
      'MY_KEY, OTHER are read while the file loads, when no variable is there, and stay undefined. Read it inside the handler: process.env.MY_KEY.',
    );
  });

  it('a file that does not end when it loads is named, with the limit', async () => {
    terminal.write('hotcell.config.yaml', 'limits: { cpuMs: 200 }\n');
    await vi.waitUntil(() => daemon.text().includes('hotcell.config.yaml applied: limits'), { timeout: 20_000 });
    terminal.write('plugins/loop.ts', 'while (true) {}\nexport default { handler: () => 1 };\n');
    await vi.waitUntil(() => daemon.text().includes('loop.ts'), { timeout: 20_000 });
    const { out } = await terminal.run(['plugin', 'info', 'loop']);
    expect(out).toContain('Loading loop.ts took more than 200 ms of processor time (limits.cpuMs)');
    expect(out).toContain('Move the work into the handler');
  });

  it('the status says where the daemon listens and what waits', async () => {
    const { out } = await terminal.run(['status']);
    expect(out).toMatch(/address +http:\/\/127\.0\.0\.1:\d+/);
    expect(out).toContain('questions');
  });
});

describe('askAnswer and askYesNo', () => {
  const person = (...answers: string[]) => ({ ask: async () => answers.shift(), signal: undefined }) as const;

  it('ask again after what is neither, and take an empty line for no harm', async () => {
    const io = (...answers: string[]) => ({ ...terminalIo, ...person(...answers) });
    expect(await askAnswer(io('yse', 'Y'), 'Approve?')).toBe('yes');
    expect(await askAnswer(io('maybe', 'no'), 'Approve?')).toBe('no');
    expect(await askAnswer(io(''), 'Approve?')).toBe('later');
    expect(await askAnswer(io('x', 'l'), 'Approve?')).toBe('later');
    expect(await askYesNo(io('yep', 'yes'), 'Approve?')).toBe(true);
    expect(await askYesNo(io('?', 'n'), 'Approve?')).toBe(false);
    expect(await askYesNo(io(''), 'Approve?')).toBe(false);
    expect(await askYesNo(io('?'), 'Approve?')).toBeUndefined();
  });
});

const terminalIo = {
  stdout: process.stdout,
  stderr: process.stderr,
  readStdin: async () => '',
  env: {},
  cwd: '/',
  isTTY: false,
  loadDaemon: async () => import('../../src/main.ts'),
};
