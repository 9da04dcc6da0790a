import { describe, expect, it } from 'vitest';
import type { Caller } from '../../../src/callers/caller.ts';
import { toolContracts } from '../../../src/operations/contracts/tools.ts';
import { openIdentityHouse } from '../../promises/identity-house.ts';

const model: Caller = { id: 'key_model', role: 'caller' };
const tool = (fields: string) => `export default { ${fields} handler: () => 'done' };`;

describe('tools.select', () => {
  it('chooses among what the caller may use, follows settings and rules, and counts calls over restarts', async () => {
    const house = openIdentityHouse(
      {
        'plugins/mail_send.ts': tool(`mode: 'auto', description: 'Sends a letter.',`),
        'plugins/mail_read.ts': tool(`mode: 'auto', description: 'Reads letters.',`),
        'plugins/mail_wipe.ts': tool(`mode: 'auto', description: 'Wipes letters.', isElevated: true,`),
        'plugins/mail_ask.ts': tool(`mode: 'auto', description: 'For people.', who: 'person',`),
        'plugins/notes.ts': tool(`mode: 'auto', description: 'Keeps notes.',`),
      },
      { skillRoutingRules: [{ intent: 'archive', preferSkills: ['notes'] }] },
    );
    await house.start();
    const select = async (context: string, caller = model) => {
      const { tools } = await house.invoke(toolContracts.select, { context }, caller);
      return tools.filter(({ why }) => why !== 'on').map(({ name }) => name);
    };
    expect(await select('mail for me, mail letters')).toEqual(['mail_read']);
    expect(await select('mail to read and send')).toEqual(['mail_read', 'mail_send']);
    await house.call('mail_send', {}, model);
    await house.call('mail_send', {}, model);
    expect(await select('mail to read and send')).toEqual(['mail_send', 'mail_read']);
    await house.restart();
    expect(await select('mail to read and send')).toEqual(['mail_send', 'mail_read']);
    expect(await house.invoke(toolContracts.get, { ref: 'mail_send' })).toMatchObject({ calls: 2 });
    expect(await house.invoke(toolContracts.get, { ref: 'mail_send' }, model)).not.toHaveProperty('calls');
    expect(await select('archive my mail')).toEqual(['notes']);
    expect(await select('use mail_wipe and mail_ask', { id: 'local', role: 'admin' })).toEqual(['mail_wipe']);
    await house.invoke(toolContracts.update, { ref: 'mail_send', mode: 'off' });
    expect(await select('mail_send')).toEqual([]);
    await house.invoke(toolContracts.update, { ref: 'notes', mode: 'on' });
    const answer = await house.invoke(toolContracts.select, { context: 'nothing of it', limit: 0 }, model);
    expect(answer.tools.map(({ name, why }) => [name, why])).toEqual([
      ['call_tool', 'on'],
      ['notes', 'on'],
      ['search_tools', 'on'],
    ]);
    expect(answer.passedOver.map(({ name }) => name)).toEqual(['mail_read']);
  });
});
