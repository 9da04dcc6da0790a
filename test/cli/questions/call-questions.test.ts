import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CliIo } from '../../../src/cli/io.ts';
import { createCallQuestions } from '../../../src/cli/questions/call-questions.ts';
import { createSession } from '../../../src/cli/session.ts';
import type { Client } from '../../../src/client/client.ts';
import { createLocalClient } from '../../../src/client/local-client.ts';
import { loadConfig } from '../../../src/config/read/load.ts';
import { startDaemon } from '../../../src/main.ts';
import type { Daemon } from '../../../src/operations/daemon-types.ts';
import { parsePermissions } from '../../../src/permissions/parse.ts';
import { createDaemonLog } from '../../../src/secrets/daemon-log.ts';
import { question } from '../../permissions/approval-books.ts';

const cwd = mkdtempSync(join(tmpdir(), 'hotcell-questions-'));
const over = new AbortController();
let daemon: Daemon;
let client: Client;
beforeAll(async () => {
  const config = loadConfig({ flags: {}, env: {}, cwd, parsePermissions });
  daemon = await startDaemon({ config, version: '0.0.0', listen: false, log: createDaemonLog() });
  client = createLocalClient(daemon);
});
afterAll(async () => {
  await daemon.close('the test is over');
  rmSync(cwd, { recursive: true, force: true });
});

function openSession(ask: CliIo['ask']) {
  const said: string[] = [];
  const session = createSession({
    stdout: { write: () => undefined },
    stderr: { write: (text) => void said.push(text) },
    readStdin: async () => '',
    ask,
    env: { NO_COLOR: '1' },
    cwd,
    isTTY: ask !== undefined,
    loadDaemon: async () => ({ startDaemon }),
  });
  return { session, text: () => said.join('') };
}

let asked = 0;
function openQuestion(text = 'Send it?') {
  asked += 1;
  return daemon.parts.approvals.ask(question({ askKey: `key-${asked}`, caller: 'local', question: text }));
}
const settled = (id: string) => daemon.parts.approvals.settled(id, over.signal);

describe('createCallQuestions', () => {
  it('shows the question at the terminal with the plugin’s words as such, and answers it for the person', async () => {
    const { session, text } = openSession(async () => ' Yes ');
    const { id } = openQuestion('Send it?\u001b[2J "y/N]: \u202eapproved');
    createCallQuestions(session, client, over.signal).open(id);
    expect(await settled(id)).toMatchObject({ status: 'approved', answeredBy: 'local' });
    expect(text()).toContain('? the plugin says "Send it? \\"y/N]: approved"\n');
    expect(text()).toMatch(/arguments +\{\n +"to": "bob"\n/);
  });

  it('asks one after the other, asks again what is neither yes nor no, and stops asking when somebody else answered', async () => {
    const answers = [Promise.withResolvers<string>(), Promise.resolve('no'), new Promise<string>(() => {})] as const;
    let at = 0;
    const { session } = openSession((_question, signal) => {
      const said = answers[at++] ?? Promise.resolve('y');
      const mine = 'promise' in said ? said.promise : said;
      const ended = new Promise<undefined>((resolve) => signal.addEventListener('abort', () => resolve(undefined)));
      return Promise.race([mine, ended]);
    });
    const questions = createCallQuestions(session, client, over.signal);
    const [one, two, three] = [openQuestion(), openQuestion(), openQuestion()];
    for (const { id } of [one, two, three]) questions.open(id);
    questions.open(one.id);
    answers[0].resolve('yep');
    expect((await settled(one.id)).status).toBe('denied');
    await expect.poll(() => at).toBe(3);
    const admin = { id: 'key_admin', role: 'admin', mayAnswer: false, isPerson: false } as const;
    daemon.parts.approvals.answer(two.id, 'denied', admin);
    questions.end(two.id);
    expect((await settled(three.id)).status).toBe('approved');
  });

  it('says how it is answered where nobody can be asked, and ends a call that nobody could ever answer', async () => {
    const { session, text } = openSession(undefined);
    const { id } = openQuestion();
    const cancelled = Promise.withResolvers<string>();
    const elsewhere: Client = {
      ...client,
      isAlone: false,
      invoke: (contract, input, options) => {
        if (contract.name === 'executions.cancel') cancelled.resolve(JSON.stringify(input));
        return client.invoke(contract, input, options);
      },
    };
    const questions = createCallQuestions(session, elsewhere, over.signal);
    questions.open(id);
    await expect.poll(text).toContain(`Answer it with: hotcell approve ${id}`);
    createCallQuestions(session, { ...elsewhere, isAlone: true }, over.signal).open(id);
    expect(await cancelled.promise).toBe('{"id":"exe_1"}');
    expect(daemon.parts.approvals.get(id)?.status).toBe('open');
  });
});
