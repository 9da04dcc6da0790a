import { describe, expect, it, onTestFinished } from 'vitest';
import { echoPlugin, openTerminal } from './terminal.ts';

const workers = 'workers: { min: 1, max: 1 }\n';

function open(config: string) {
  const terminal = openTerminal({
    'hotcell.config.yaml': config,
    'plugins/echo.ts': echoPlugin,
    'report.ts': `const { text } = await tools.echo({ text: 'a' });\nreturn text + (await tools.echo({ text: 'b' })).text;\n`,
    'wrong.ts': `return await tools.ecko({ text: 'a' });\n`,
  });
  onTestFinished(() => terminal.close());
  return terminal;
}

describe('hotcell code', () => {
  it('runs a script over tools, from a file and from the standard input', async () => {
    const terminal = open(`${workers}builtins: { codeForAdmins: true }\n`);
    expect(await terminal.run(['code', 'report.ts'])).toMatchObject({ code: 0, out: 'ab\n' });
    expect(await terminal.run(['code', '-'], { stdin: 'return 1 + 1' })).toMatchObject({ code: 0, out: '2\n' });
    const wrong = await terminal.run(['code', 'wrong.ts']);
    expect(wrong.code).toBe(1);
    expect(wrong.err).toContain('ecko');
    expect(await terminal.run(['code', 'missing.ts'])).toMatchObject({ code: 2, err: expect.stringContaining('cannot be read') });
  });

  it('says what allows it where it is off', async () => {
    const { code, err } = await open(workers).run(['code', 'report.ts']);
    expect(code).toBe(4);
    expect(err).toContain('builtins: { codeForAdmins: true }');
  });
});
