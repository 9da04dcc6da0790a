import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSmallDaemon } from '../small-daemon.ts';

/** Asks for a page and for a name, and says nothing of the refusals, or says something else. */
const sdk = (engine: string): string => `export default { version: '1.0.0', description: 'An SDK.', engine: '${engine}',
  permissions: { net: ['api.example.com'], env: ['API_KEY'] },
  handler: async ({ fails }, context) => {
    const key = context.config.get('API_KEY', 'none');
    try { await fetch('https://api.example.com/v1'); } catch { if (fails) throw new Error('Connection error.'); }
    return { key };
  } };`;

let house: Awaited<ReturnType<typeof startSmallDaemon>>;
beforeAll(async () => {
  house = await startSmallDaemon({ 'sdk.ts': sdk('quickjs') }, { grantRequested: false });
});
afterAll(() => house.close());

const command = 'hotcell grant sdk net=api.example.com env=API_KEY';
/** What the error says itself comes first; nothing follows the command. */
const described = `^See its arguments .+\\. The call was refused env=API_KEY, net=api.example.com\\. Allow it with: ${command}`;

describe('a call that was refused permissions', () => {
  it('names them and the command, though the plugin says something else', async () => {
    const answer = await house.call('sdk', { fails: true });
    const told = {
      code: 'handler-threw',
      message: 'Connection error.',
      refused: ['env=API_KEY', 'net=api.example.com'],
      fix: expect.stringMatching(new RegExp(`${described}$`)),
    };
    expect(answer).toMatchObject({ status: 'error', error: told });
    expect(house.parts.executions.get(answer.executionId, { id: 'local', role: 'admin' })).toMatchObject({ error: told });
  });

  it('has a warning when it succeeded all the same', async () => {
    const answer = await house.call('sdk', { fails: false });
    const warnings = [expect.stringContaining(command)];
    expect(answer).toMatchObject({ status: 'success', output: { key: 'none' }, warnings });
    expect(house.parts.executions.get(answer.executionId, { id: 'local', role: 'admin' })).toMatchObject({ warnings });
  });
});
