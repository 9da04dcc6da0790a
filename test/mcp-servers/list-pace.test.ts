import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createResourceWatches } from '../../src/events/resource-watches.ts';
import type { Connection } from '../../src/mcp-servers/connection.ts';
import { startMcpServer } from '../../src/mcp-servers/server.ts';
import { temporaryStore } from '../store/temporary-store.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }));
afterEach(() => void vi.useRealTimers());

/** A server that says after every list that it has another one, and when it was asked for each, in ms since the one before. */
function open(describeTool: (asked: number) => string) {
  const listedAtMs: number[] = [];
  const server = startMcpServer({
    name: 'bad',
    setting: { url: 'http://127.0.0.1:9/mcp' },
    pins: temporaryStore().mcpPins,
    approvals: { askIfRoom: () => true, withdraw: () => undefined, listOpen: () => [] },
    hosted: { put: () => undefined, remove: () => undefined },
    async connect(_plan, { onToolsChanged }): Promise<Connection> {
      const over = Promise.withResolvers<string>();
      return {
        era: '2025-11-25',
        protocolVersion: '2025-11-25',
        serverName: '',
        serverVersion: '',
        pid: undefined,
        canComplete: false,
        async listTools() {
          listedAtMs.push(Date.now());
          onToolsChanged();
          return [{ name: 'moving', description: describeTool(listedAtMs.length), inputSchema: { type: 'object' } }];
        },
        listOfferings: async () => ({ prompts: [], resources: [], templates: [] }),
        watchResources: async () => undefined,
        callTool: async () => ({ content: [] }),
        ask: () => Promise.reject(new TypeError('Nobody asks it.')),
        closed: over.promise,
        close: async () => over.resolve('closed'),
      };
    },
    onChange: () => undefined,
    resources: { watches: createResourceWatches(), serves: () => false, tell: () => undefined },
    now: Date.now,
    onFault: (error) => {
      throw error;
    },
  });
  return {
    server,
    /** The times between two lists, of those that come within so long. */
    async gapsWithin(ms: number): Promise<number[]> {
      listedAtMs.splice(0, listedAtMs.length - 1);
      await vi.advanceTimersByTimeAsync(ms);
      return listedAtMs.slice(1).map((atMs, position) => atMs - (listedAtMs[position] ?? 0));
    },
  };
}

describe('a server that lists something else every time', () => {
  it('is asked for its list more and more seldom, at last once a minute, until a person looks after it', async () => {
    const { server, gapsWithin } = open((asked) => `Told ${asked} times.`);
    const slower = [500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000];
    const first = await gapsWithin(140_000);
    expect(first.filter((gap) => gap > 250)).toEqual(slower);
    expect(first.length).toBeLessThan(20);
    expect(await gapsWithin(10 * 60_000)).toEqual(Array.from({ length: 10 }, () => 60_000));
    server.restart();
    const again = await gapsWithin(140_000);
    expect(again.filter((gap) => gap > 250).slice(-7)).toEqual(slower.slice(0, -1));
    await server.close({ isGone: true });
  });

  it('is no server that lists the same and only says that it changed', async () => {
    const { server, gapsWithin } = open(() => 'Told once.');
    expect(await gapsWithin(3 * 60_000)).toEqual([0, ...Array.from({ length: 720 }, () => 250)]);
    await server.close({ isGone: true });
  });
});
