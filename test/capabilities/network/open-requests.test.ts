import { describe, expect, it } from 'vitest';
import { createFetch } from '../../../src/capabilities/fetch.ts';
import { createOpenRequests } from '../../../src/capabilities/network/open-requests.ts';
import { createUser } from '../capability-user.ts';
import { startWebServer } from './web-server.ts';

const bounds = { perCaller: 3, perPlugin: 4, inAll: 5, reserve: 1 };
const never = new AbortController().signal;

describe('requests of plugins that are open', () => {
  it('are bounded by caller, by plugin and in all, and count until their response is read or closed', async () => {
    // The head and a piece at once, the rest never.
    await using server = await startWebServer((_request, response) => void response.writeHead(200).write('piece'));
    const network = { maxResponseBytes: 1_000_000, timeoutMs: 60_000, maxRedirects: 1 };
    const capability = createFetch({ network, requests: createOpenRequests(bounds) });
    let calls = 0;
    const userOf = (caller: string, unitPath: string, isAdmin = false) => ({
      ...createUser({ net: ['127.0.0.1'] }),
      executionId: `exe_${calls++}`,
      ...{ caller, unitPath, isAdmin },
    });
    const payload = JSON.stringify({ url: `http://127.0.0.1:${server.port}/` });
    const open = (caller: string, plugin: string, isAdmin = false) => {
      const user = userOf(caller, plugin, isAdmin);
      return capability.operations.fetch({ op: 'fetch', payload }, user, never).then(
        (answer) => ({ user, stream: Object(answer.payload).stream }),
        (error) => String(error.message),
      );
    };
    const opened = [await open('ann', 'a'), await open('ann', 'a'), await open('ann', 'a')];
    for (const each of opened) expect(each).toMatchObject({ stream: expect.any(String) });
    expect(await open('ann', 'b')).toContain('3 requests and connections of this caller are open');
    expect(await open('bob', 'a')).toMatchObject({ stream: expect.any(String) });
    expect(await open('bob', 'a')).toContain('of this plugin');
    expect(await open('bob', 'b')).toMatchObject({ stream: expect.any(String) });
    expect(await open('carl', 'c')).toContain('of all callers');
    await expect(capability.dial({ host: '127.0.0.1', port: server.port }, userOf('carl', 'c'), never)).rejects.toMatchObject({
      code: 'queue-full',
    });
    expect(await open('local', 'a', true)).toMatchObject({ stream: expect.any(String) });
    const [first] = opened;
    if (typeof first !== 'object') throw new Error('nothing was opened');
    const cancel = { op: 'fetch.cancel', payload: JSON.stringify({ stream: first.stream }) };
    await capability.operations['fetch.cancel'](cancel, first.user);
    const socket = await capability.dial({ host: '127.0.0.1', port: server.port }, userOf('carl', 'c'), never);
    expect(await open('carl', 'c')).toContain('of all callers');
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.destroy();
    await closed;
    const last = await open('carl', 'c');
    expect(last).toMatchObject({ stream: expect.any(String) });
    if (typeof last === 'object') capability.endCall(last.user.executionId);
    expect(await open('carl', 'c')).toMatchObject({ stream: expect.any(String) });
    await capability.close();
  });

  it('that fail are not counted any more', async () => {
    const requests = createOpenRequests(bounds);
    const capability = createFetch({ network: { maxResponseBytes: 1, timeoutMs: 1000, maxRedirects: 1 }, requests });
    for (let n = 0; n < 20; n++) {
      const payload = JSON.stringify({ url: 'http://127.0.0.1:1/' });
      await expect(capability.operations.fetch({ op: 'fetch', payload }, createUser({}), never)).rejects.toMatchObject({
        code: 'permission-denied',
      });
    }
    await capability.close();
  });
});
