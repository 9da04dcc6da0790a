import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { echo } from '../hooks/hook-house.ts';
import { openTerminal } from './terminal.ts';

const matter =
  '---\ndescription: "No \\u001b[31mbad\\u202e words."\nevents: ["tool:before", "message:sent"]\npermissions: { net: ["a.com"] }\n---\n';
const handler = 'export default (event) => event.context.arguments.text === "bad" ? { veto: "no bad words." } : undefined;\n';

const terminal = openTerminal({
  'plugins/echo.ts': echo,
  'skills/polite/SKILL.md': '---\nname: polite\ndescription: Is polite.\n---\n',
  'skills/polite/hooks/words/HOOK.md': matter,
  'skills/polite/hooks/words/handler.ts': handler,
  'skills/polite/hooks/broken/HOOK.md': '---js\n({ events: ["tool:before"] })\n---\n',
});

describe('hotcell hook', () => {
  let daemon: Awaited<ReturnType<typeof terminal.start>>;
  beforeAll(async () => {
    daemon = await terminal.start();
  });
  afterAll(async () => {
    await daemon.stop();
    terminal.close();
  });

  it('lists hooks of skills, with what is wrong with them', async () => {
    const { out } = await terminal.run(['hook']);
    expect(out).toMatch(/^polite\/broken +invalid +- +HOOK.md must begin with a line of three dashes/m);
    expect(out).toMatch(/^polite\/words +new +tool:before message:sent +No bad words\.$/m);
    expect(JSON.parse((await terminal.run(['hook', 'list', '--json'])).out)).toMatchObject({ total: 2, isOn: true });
  });

  it('shows what is to be judged, and nothing that hides', async () => {
    const { out } = await terminal.run(['hook', 'show', 'polite/words']);
    expect(out).toContain('asks for  net=a.com');
    expect(out).toContain('not yet   message:sent');
    expect([out.includes('\u001b'), out.includes('\u202e')]).toEqual([false, false]);
  });

  it('approves nothing without a yes, what is invalid, or other files than were seen', async () => {
    const unasked = await terminal.run(['hook', 'approve', 'polite/words']);
    expect([unasked.code, unasked.err]).toEqual([2, expect.stringContaining('hotcell hook approve polite/words --yes')]);
    const declined = await terminal.run(['hook', 'approve', 'polite/words'], { ask: async () => 'n' });
    expect([declined.code, declined.err]).toEqual([0, 'Not approved.\n']);
    const invalid = await terminal.run(['hook', 'approve', 'polite/broken', '--yes']);
    expect([invalid.code, invalid.err]).toEqual([1, expect.stringContaining('three dashes')]);
    const other = await terminal.run(['hook', 'approve', 'polite/words', '--yes', '--hash', 'abc']);
    expect([other.code, other.err]).toEqual([1, expect.stringContaining('have the hash')]);
    expect((await terminal.run(['call', 'echo', 'text=bad'])).code).toBe(0);
  });

  it('approves after a yes, and revokes', async () => {
    const approved = await terminal.run(['hook', 'approve', 'polite/words'], { ask: async () => 'yes' });
    expect([approved.code, approved.out]).toEqual([0, expect.stringContaining('✓ polite/words is approved and runs.')]);
    const refused = await terminal.run(['call', 'echo', 'text=bad']);
    expect([refused.code, refused.err]).toEqual([4, expect.stringContaining('refused this call of echo: no bad words.')]);
    expect((await terminal.run(['call', 'echo', 'text=good'])).code).toBe(0);
    expect((await terminal.run(['executions'])).out).toContain('hook:polite/words');
    expect((await terminal.run(['hook', 'revoke', 'polite/words'])).code).toBe(0);
    const again = await terminal.run(['hook', 'revoke', 'polite/words']);
    expect([again.code, again.err]).toEqual([1, expect.stringContaining('Nothing was taken back: the hook "polite/words"')]);
    expect((await terminal.run(['call', 'echo', 'text=bad'])).code).toBe(0);
  });

  it('is for admins alone', async () => {
    const key = (await terminal.run(['key', 'create', '--role', 'caller'])).out.trim();
    for (const words of [['list'], ['show', 'polite/words'], ['approve', 'polite/words', '--yes'], ['revoke', 'polite/words']]) {
      const said = await terminal.run(['hook', ...words], { env: { HOTCELL_TOKEN: key } });
      expect([words, said.code, said.err]).toEqual([words, expect.any(Number), expect.stringContaining('needs the role admin')]);
    }
  });
});
