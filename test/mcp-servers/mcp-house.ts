import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Settings } from '../../src/config/schema.ts';
import type { McpServerSetting } from '../../src/config/settings/mcp-settings.ts';
import type { McpServerView } from '../../src/mcp-servers/server-types.ts';
import { hashShown as hashOf } from '../../src/permissions/approvals/approval-rows.ts';
import type { Approval } from '../../src/permissions/approvals/approval-types.ts';
import { startSmallDaemon } from '../small-daemon.ts';

const require = createRequire(import.meta.url);

/** The program of a published server, and one of our own. */
export const programOf = (name: string): string =>
  join(dirname(require.resolve(`@modelcontextprotocol/${name}/package.json`)), 'dist', 'index.js');
export const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/mcp/${name}`, import.meta.url));

/** A server that is a Node program. */
export function nodeServer(file: string, args: readonly string[] = [], more: McpServerSetting = {}): McpServerSetting {
  return { command: process.execPath, args: [file, ...args], ...more };
}

/** A daemon with MCP servers, and what a test waits for. */
export async function openMcpHouse(
  servers: Readonly<Record<string, McpServerSetting>>,
  settings: Settings = {},
  { plugins = {}, ...options }: Parameters<typeof startSmallDaemon>[2] & { readonly plugins?: Record<string, string> } = {},
) {
  const house = await startSmallDaemon(plugins, { ...settings, mcp: { servers: { ...servers } } }, options);
  const { parts } = house;
  const { mcp, approvals } = parts;

  /** Looks again until it is so: what a server does is told by no event of its own. */
  async function until<Value>(look: () => Value | undefined | false): Promise<Value> {
    for (;;) {
      const found = look();
      if (found !== undefined && found !== false) return found;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  const asked = (server: string): Approval | undefined =>
    approvals.list({ status: 'open', limit: 1000 }).find(({ kind, unitPath }) => kind === 'mcp' && unitPath === `mcp:${server}`);

  async function answer(server: string, isMeant: (approval: Approval) => boolean = () => true): Promise<Approval> {
    const approval = await until(() => {
      const found = asked(server);
      return found !== undefined && isMeant(found) ? found : undefined;
    });
    mcp.requireAsked(approval);
    await mcp.approveAsked(
      approvals.answer(
        approval.id,
        'approved',
        { id: 'boss', role: 'admin', mayAnswer: false, isPerson: true },
        { shown: hashOf(approval) },
      ),
      'boss',
    );
    return approval;
  }

  return {
    ...house,
    until,
    asked,
    answer,
    /** Waits until a server stands so. */
    server: (name: string, is: (view: McpServerView) => boolean) =>
      until(() => {
        const view = mcp.list().find((each) => each.name === name);
        return view !== undefined && is(view) ? view : undefined;
      }),
    /** Approves the command line, if there is one, and then all tools. */
    async admit(name: string): Promise<McpServerView> {
      if (servers[name]?.command !== undefined) await answer(name, ({ details }) => 'command' in details);
      await answer(name, ({ details }) => !('command' in details));
      return this.server(name, ({ state, waitingTools }) => state === 'ready' && waitingTools.length === 0);
    },
  };
}

export type McpHouse = Awaited<ReturnType<typeof openMcpHouse>>;
