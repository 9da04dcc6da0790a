import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSmallDaemon } from '../small-daemon.ts';

const files = {
  'danger.ts': `export default { description: 'Deletes.', isDangerous: true,
    output: { type: 'object', properties: { deleted: { type: 'string' } } },
    handler: ({ what }: { what: string }) => ({ deleted: what }) };`,
  'slow.ts': `export default { description: 'Waits.', handler: ({ ms }: { ms: number }) => new Promise((resolve) => setTimeout(() => resolve('done'), ms)) };`,
  'quick.ts': `export default { description: 'At once.', task: 'never', handler: async () => { await new Promise((resolve) => setTimeout(resolve, 600)); return 'late'; } };`,
};
let small: Awaited<ReturnType<typeof startSmallDaemon>>;
beforeAll(async () => {
  small = await startSmallDaemon(files, {}, { listen: true });
});
afterAll(() => small.close());

const makeKey = () => small.parts.keys.create({ name: 'test', role: 'caller', rules: { mayAnswer: true } }).key;
const era = '2026-07-28';

async function ask(
  key: string,
  method: string,
  params: Record<string, unknown>,
  hasTasks = true,
): Promise<ReturnType<typeof JSON.parse>> {
  const answer = await fetch(`${small.daemon.url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': era,
      'mcp-method': method,
      'mcp-name': String(params.name ?? params.taskId),
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method,
      params: {
        ...params,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': era,
          'io.modelcontextprotocol/clientCapabilities': {
            elicitation: { form: {} },
            ...(hasTasks ? { extensions: { 'io.modelcontextprotocol/tasks': {} } } : {}),
          },
        },
      },
    }),
  });
  return answer.json();
}

const get = async (key: string, taskId: string) => (await ask(key, 'tasks/get', { taskId })).result;

describe('a call as a task', () => {
  it('asks its person as one, is there after the daemon was started anew, and is answered by tasks/update', async () => {
    const key = makeKey();
    const { result } = await ask(key, 'tools/call', { name: 'danger', arguments: { what: 'all' } });
    expect(result).toMatchObject({ resultType: 'task', status: 'input_required' });
    const { taskId } = result;

    await small.daemon.close('starts anew');
    small = await startSmallDaemon(files, {}, { listen: true, folder: small.folder });
    const waiting = await get(key, taskId);
    expect(waiting.status).toBe('input_required');
    const [question = ''] = Object.keys(waiting.inputRequests);
    expect(waiting.inputRequests[question].params.message).toContain('"what": "all"');

    const inputResponses = { [question]: { action: 'accept', content: { allow: true } } };
    expect((await ask(key, 'tasks/update', { taskId, inputResponses })).result.resultType).toBe('complete');
    await expect.poll(async () => (await get(key, taskId)).status).toBe('completed');
    const { result: done } = await get(key, taskId);
    expect(done).toMatchObject({ content: [{ text: '{"deleted":"all"}' }], structuredContent: { deleted: 'all' } });
  });

  it('is cancelled, and belongs to its key alone', async () => {
    const key = makeKey();
    const { taskId } = (await ask(key, 'tools/call', { name: 'slow', arguments: { ms: 60_000 } })).result;
    const other = makeKey();
    for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update']) {
      expect((await ask(other, method, { taskId, inputResponses: {} })).error, method).toMatchObject({ code: -32602 });
    }
    expect((await get(key, taskId)).status).toBe('working');
    await ask(key, 'tasks/cancel', { taskId });
    await expect.poll(async () => (await get(key, taskId)).status).toBe('cancelled');
  });

  it('is none where the tool never is one, and where the client has none', async () => {
    const key = makeKey();
    expect((await ask(key, 'tools/call', { name: 'quick', arguments: {} })).result.content).toEqual([
      { type: 'text', text: 'late' },
    ]);
    const { result } = await ask(key, 'tools/call', { name: 'slow', arguments: { ms: 600 } }, false);
    expect(result.content).toEqual([{ type: 'text', text: 'done' }]);
  });
});
