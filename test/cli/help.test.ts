import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nameOfCommand } from '../../src/cli/commands/command.ts';
import { commands } from '../../src/cli/commands/table.ts';
import { createCommandLine, listCommands } from '../../src/cli/run-cli.ts';
import { createSession } from '../../src/cli/session.ts';
import { echoPlugin, failsPlugin, openTerminal, type Terminal } from './terminal.ts';

let terminal: Terminal;
beforeAll(() => {
  terminal = openTerminal({ 'plugins/echo.ts': echoPlugin, 'plugins/fails.ts': failsPlugin });
});
afterAll(() => terminal.close());

async function listNames(): Promise<string[]> {
  const nothing = { write: () => true };
  const io = { stdout: nothing, stderr: nothing, readStdin: async () => '', env: {}, cwd: '.', isTTY: false };
  const session = createSession({ ...io, loadDaemon: () => Promise.reject(new Error('not asked for')) });
  const names = commands.flatMap(({ about }) => Object.keys(about));
  return listCommands(await createCommandLine(session, names)).map(nameOfCommand);
}

describe('hotcell COMMAND --help', () => {
  it('ends with examples that begin with the command itself, and with commands that exist', async () => {
    const names = await listNames();
    for (const name of names.filter((each) => each !== 'hotcell')) {
      const { code, out } = await terminal.run([...name.split(' ').slice(1), '--help']);
      const examples = out.split('\nExamples:\n')[1] ?? '';
      expect([name, code, examples]).toEqual([name, 0, expect.stringContaining(name)]);
      for (const [example] of examples.matchAll(/hotcell(?: [a-z]+)+/g)) {
        const words = example.split(' ');
        expect(names).toContain(words.slice(0, names.includes(words.slice(0, 3).join(' ')) ? 3 : 2).join(' '));
      }
    }
  });

  it('names every command with what it is for, without reading the others', async () => {
    const { out } = await terminal.run(['--help']);
    for (const { about } of commands) {
      for (const name of Object.keys(about)) expect(out).toMatch(new RegExp(`^  ${name} .*\\w`, 'm'));
    }
  });
});

describe('wrong usage', () => {
  it('is told in the form of all errors', async () => {
    for (const [argv, sentence, fix] of [
      [['plugn'], 'There is no command "plugn". Did you mean "plugin"?', 'See hotcell --help.'],
      [['kv', 'lst'], 'There is no command "kv lst". Did you mean "list"?', 'See hotcell kv --help.'],
      [['mcp', 'srvers'], 'There is no command "mcp srvers". Did you mean "servers"?', 'See hotcell mcp --help.'],
      [
        ['tool', 'switch', 'enabld', 'on'],
        'Expected what to be one of enabled, custom, got "enabld". Did you mean "enabled"?',
        'See hotcell tool switch --help.',
      ],
      [
        ['usage', '--by', 'modl'],
        'Expected --by to be one of key, model, tool, day, purpose, got "modl". Did you mean "model"?',
        'See hotcell usage --help.',
      ],
      [
        ['executions', '--limit', '0'],
        'Expected --limit to be a number from 1 to 1000, got "0".',
        'See hotcell executions list --help.',
      ],
      [['call'], 'Missing required argument "name".', 'See hotcell call --help.'],
      [['start', '--prt', '1'], 'Unknown option "--prt". Did you mean --port?', 'See hotcell start --help.'],
      [['start', '--port'], 'Option "--port <port>" argument missing.', 'See hotcell start --help.'],
      [['doctor', 'who'], 'Too many arguments for "doctor". Expected 0 arguments but got 1: who.', 'See hotcell doctor --help.'],
    ] as const) {
      expect(await terminal.run(argv)).toEqual({ code: 2, out: '', err: `✗ Wrong usage\n  ${sentence}\n  Fix: ${fix}\n` });
    }
  });
});

describe('help with a command that does not exist', () => {
  it('says so instead of the help of all others', async () => {
    for (const [argv, sentence, fix] of [
      [['help', 'plugn'], 'There is no command "plugn". Did you mean "plugin"?', 'See hotcell --help.'],
      [['plugn', '--help'], 'There is no command "plugn". Did you mean "plugin"?', 'See hotcell --help.'],
      [['plugin', 'help', 'lst'], 'There is no command "plugin lst". Did you mean "list"?', 'See hotcell plugin --help.'],
      [['help', 'plugin', 'lst'], 'There is no command "plugin lst". Did you mean "list"?', 'See hotcell plugin --help.'],
    ] as const) {
      expect(await terminal.run(argv)).toEqual({ code: 2, out: '', err: `✗ Wrong usage\n  ${sentence}\n  Fix: ${fix}\n` });
    }
    for (const argv of [['help'], ['help', 'call'], ['call', 'help', '--help']]) {
      expect(await terminal.run(argv)).toMatchObject({ code: 0, out: expect.stringContaining('Usage: hotcell'), err: '' });
    }
  });
});

describe('hotcell docs', () => {
  it('lists the pages and shows one', async () => {
    expect((await terminal.run(['docs'])).out).toMatch(/^getting-started +Getting started$/m);
    expect((await terminal.run(['docs', 'permissions'])).out).toMatch(/^# /);
    const { code, err } = await terminal.run(['docs', 'permission']);
    expect([code, err]).toEqual([2, expect.stringContaining('Did you mean "permissions"?')]);
    expect((await terminal.run(['docs', 'kallz'])).err).toContain('Did you mean "calls"?');
    expect((await terminal.run(['docs', 'HOTCELL_URL'])).err).toMatch(/Pages that speak of it: [\w-]+/);
  });
});

describe('hotcell start, status, logs and completion', () => {
  it('show calls, failures and log lines as they come, and the daemon as a whole', async () => {
    const daemon = await terminal.start([], { isTTY: true });
    await terminal.run(['call', 'echo', 'text=a']);
    await terminal.run(['call', 'fails', 'how=throw']);
    expect(daemon.text()).toMatch(/→ echo \(.+ ms\)/);
    expect(daemon.text()).toMatch(/✗ fails error \(.+ ms\) .*no such luck/);
    expect((await terminal.run(['status'])).out).toMatch(/^tools +\d+$/m);
    expect((await terminal.run(['logs'])).out).toContain('→ echo');
    const complete = async (...words: string[]) => (await terminal.run(['completion', 'bash', '--', ...words])).out.split('\n');
    expect(await complete('call', 'ec')).toEqual(['echo', '']);
    expect(await complete('why', 'fa')).toEqual(['fails', '']);
    expect(await complete('plugin', 'ro')).toEqual(['rollback', '']);
    expect(await complete('start', '--qu')).toEqual(['--quiet', '']);
    expect((await terminal.run(['completion', 'powershell'])).code).toBe(2);
    const { out } = await daemon.stop();
    expect(out).toContain('Ctrl-C again ends at once');
  });

  it('say nothing of calls with --quiet', async () => {
    const daemon = await terminal.start(['--quiet'], { isTTY: true });
    await terminal.run(['call', 'echo', 'text=a']);
    expect((await daemon.stop()).out).not.toContain('→ echo');
  });
});
