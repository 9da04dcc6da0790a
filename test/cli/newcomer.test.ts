import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askAnswer, askYesNo } from '../../src/cli/ask.ts';
import { openTerminal } from './terminal.ts';

const notes = `export default {
  tools: {
    write_note: { description: 'Writes', handler: async (args: { text: string }, context) => { await context.kv.set('a', args.text); return 'ok'; } },
    read_note: { description: 'Reads', handler: async (_args: {}, context) => context.kv.get('a') },
  },
};`;
const nothing = 'export default { tools: { nan: { handler: () => NaN }, code: { handler: () => () => 1 } } };';

describe('what a newcomer types', () => {
  const terminal = openTerminal({ 'plugins/notes.ts': notes, 'plugins/nothing.ts': nothing });
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
