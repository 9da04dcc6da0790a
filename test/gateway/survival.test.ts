import { afterEach, describe, expect, it } from 'vitest';
import { approvalContracts } from '../../src/operations/contracts/access/approvals.ts';
import { executionContracts } from '../../src/operations/contracts/executions.ts';
import { type DaemonProcess, makeDaemonFolder, removeDaemonFolder, startDaemonProcess } from '../promises/daemon-process.ts';
import { type Provider, startProvider } from './provider-server.ts';
import { call, say, toolPlugins } from './scripted.ts';

let daemon: DaemonProcess | undefined;
let provider: Provider;
let folder: string;
afterEach(async () => {
  await daemon?.kill();
  await provider.close();
  removeDaemonFolder(folder);
});

/** Waits for the question that is open. */
async function findQuestion(running: DaemonProcess): Promise<string> {
  for (;;) {
    const { items } = await running.client.invoke(approvalContracts.list, { status: 'open' });
    const [first] = items;
    if (first !== undefined) return first.id;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const post = (running: DaemonProcess, path: string, body: unknown) =>
  fetch(`${running.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${running.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

describe('kill -9 in the middle of an answer that waits for a person', () => {
  it('loses nothing: the same request, and GET /v1/responses/ID, go on with the same execution', async () => {
    provider = await startProvider();
    folder = makeDaemonFolder(toolPlugins, {
      grantRequested: true,
      models: { providers: { local: { baseUrl: `${provider.url}/v1`, model: 'm-1', maxRetries: 0 } } },
    });
    daemon = await startDaemonProcess(folder);
    say(provider, 'openai-chat', true, [[call('c1', 'weather', { city: 'Oslo' })], [call('c2', 'wipe', { disk: 'C' })]]);
    const body = { model: 'local', input: 'Go', stream: true };
    const first = await post(daemon, '/v1/responses', body);
    const reader = first.body?.pipeThrough(new TextDecoderStream()).getReader();
    let heard = '';
    while (!heard.includes('"name":"wipe"')) heard += (await reader?.read())?.value ?? '';
    const id = /"id":"(resp_\w+)"/.exec(heard)?.[1] ?? '';
    const question = await findQuestion(daemon);
    const before = await daemon.client.invoke(executionContracts.list, {});
    await daemon.kill();
    await reader?.cancel().catch(() => {});

    daemon = await startDaemonProcess(folder);
    expect(await findQuestion(daemon)).toBe(question);
    const running = await fetch(`${daemon.url}/v1/responses/${id}`, { headers: { authorization: `Bearer ${daemon.token}` } });
    expect(await running.json()).toMatchObject({ id, status: 'in_progress' });
    say(provider, 'openai-chat', true, [[]]);
    const again = post(daemon, '/v1/responses', body);
    await daemon.client.invoke(approvalContracts.answer, { id: question, answer: 'approve', person: true });
    const response = await again;
    expect(response.headers.get('x-hotcell-replay')).toBe('replayed');
    const text = await response.text();
    const { response: final } = JSON.parse(/^data: (\{"type":"response.completed".*)$/m.exec(text)?.[1] ?? '{}');
    expect(final).toMatchObject({ id, status: 'completed' });
    const outputs = final.output.flatMap((item: { output?: string }) => item.output ?? []);
    expect(outputs).toEqual(['sunny in Oslo', 'wiped C']);

    // The calls are those from before the end, and there is no other.
    const after = await daemon.client.invoke(executionContracts.list, {});
    expect(after.items.map((item) => item.id).sort()).toEqual(before.items.map((item) => item.id).sort());
    expect(after.items.map(({ status }) => status)).toEqual(['success', 'success']);
    const kept = await fetch(`${daemon.url}/v1/responses/${id}`, { headers: { authorization: `Bearer ${daemon.token}` } });
    expect(await kept.json()).toMatchObject({ id, status: 'completed' });
    expect(provider.seen).toHaveLength(3);
  });
});
