import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GatewayHouse, openGateway } from './gateway-house.ts';
import { sendJson } from './provider-server.ts';

const pluginOf = (name: string) =>
  `export default { name: '${name}', description: 'It does.', handler: () => '${name} of the daemon' }`;

let house: GatewayHouse;
beforeAll(async () => {
  house = await openGateway({ 'bash.ts': pluginOf('bash'), 'other.ts': pluginOf('other') }, { gateway: { tools: 'all' } });
});
afterAll(() => house.close());

const executions = (): string[] =>
  house.events.flatMap((event) => (event.type === 'execution-start' ? [JSON.stringify(event)] : []));

describe('a tool in the words of the provider with the name of one of the daemon', () => {
  it('is the one that is meant: its call goes to the client, and that of the daemon is neither told of nor run', async () => {
    const use = (id: string, name: string) => ({ type: 'tool_use', id, name, input: { command: 'ls' } });
    const message = { id: 'm', type: 'message', role: 'assistant', model: 'm-1', stop_reason: 'tool_use' };
    const usage = { input_tokens: 1, output_tokens: 1 };
    for (const content of [[use('t1', 'bash')], [use('t2', 'bash'), use('t3', 'other')]]) {
      house.provider.next((_request, response) => sendJson(response, { ...message, content, usage }));
      const before = executions().length;
      const response = await house.post('/v1/messages', {
        model: 'anthropic/m-1',
        max_tokens: 50,
        messages: [{ role: 'user', content: `Hi ${content.length}` }],
        tools: [{ type: 'bash_20250124', name: 'bash' }],
      });
      expect(await response.json()).toMatchObject({ content: [content[0]], stop_reason: 'tool_use' });
      const names = house.provider.seen.at(-1)?.body.tools.map((tool: { name: string }) => tool.name);
      expect(names).toEqual(expect.arrayContaining(['bash', 'other']));
      expect(names).toHaveLength(new Set(names).size);
      const ran = executions().slice(before);
      expect(ran).toHaveLength(content.length - 1);
      expect(ran.join()).not.toContain('"bash"');
    }
  });
});
