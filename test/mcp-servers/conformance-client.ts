import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { McpServerSetting } from '../../src/config/settings/mcp-settings.ts';
import { HotcellError } from '../../src/errors/hotcell-error.ts';
import type { Connection } from '../../src/mcp-servers/connection.ts';
import type { AskForm } from '../../src/mcp-servers/questions/answer-form.ts';
import { planServer } from '../../src/mcp-servers/server-plan.ts';
import { readTools } from '../../src/mcp-servers/tools/read-tools.ts';
import { type Connector, createConnector } from '../../src/mcp-servers/transport/connect.ts';
import { createMcpNetwork } from '../../src/mcp-servers/transport/mcp-network.ts';
import { createSecretBook } from '../../src/secrets/secret-book.ts';
import { openStore } from '../../src/store/open.ts';
import type { HostedCall } from '../../src/tools/hosted/hosted-types.ts';

// The client that the conformance suite starts for each of its scenarios: what the daemon connects, logs in and calls with, at the
// URL of the last argument. The suite's own browser is a fetch.

interface Context {
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly toolCalls?: ReadonlyArray<{ readonly name: string; readonly arguments: Record<string, unknown> }>;
}

const url = process.argv.at(-1) ?? '';
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? '';
const context: Context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');
const name = 'referee';
const ending = new AbortController();
const maxLogins = 3;
/** All clients of a run start at once. */
const patienceMs = 200_000;

const dataDir = mkdtempSync(join(tmpdir(), 'hotcell-conformance-'));
const store = openStore({ dataDir, onWriteError: console.error, onProblem: () => {} });
const secrets = createSecretBook({
  table: store.secrets,
  config:
    context.client_secret === undefined
      ? {}
      : { CLIENT_SECRET: { env: 'CLIENT_SECRET', hosts: ['localhost'], header: 'authorization' } },
  env: { CLIENT_SECRET: context.client_secret },
  now: Date.now,
});
const network = createMcpNetwork({
  network: { maxResponseBytes: 10_000_000, timeoutMs: patienceMs, maxRedirects: 5 },
  resolve: undefined,
  secrets,
});
/** A person who accepts what a form proposes. */
const acceptDefaults: AskForm = async ({ schema }) => {
  const { properties }: { properties?: Record<string, { default?: string | number | boolean }> } = Object(schema);
  const proposed = Object.entries(properties ?? {}).flatMap(([field, { default: value }]) =>
    value === undefined ? [] : [[field, value] as const],
  );
  return { action: 'accept', content: Object.fromEntries(proposed) };
};
const connector = createConnector({
  version: '0.0.0',
  connectMs: patienceMs,
  askForm: acceptDefaults,
  askModel: () => Promise.reject(new Error('no model is there')),
  network,
  secrets,
  learn: secrets.learn,
  logins: store.mcpLogins,
  env: process.env,
  startInContainer: () => Promise.reject(new Error('There are no containers here.')),
  onErrorLine: () => {},
});

const setting: McpServerSetting = {
  url,
  // The operator names this machine: the suite's servers are on it.
  net: ['localhost', '127.0.0.1'],
  auth: {
    ...(context.client_id === undefined ? {} : { clientId: context.client_id }),
    ...(context.client_secret === undefined ? {} : { clientSecret: '$' + '{secret:CLIENT_SECRET}' }),
    ...(scenario === 'auth/basic-cimd' ? { clientMetadataUrl: 'https://conformance-test.local/client-metadata.json' } : {}),
  },
};
const plan = planServer(name, setting);
if (plan.by !== 'http') throw new Error('the suite names a URL');
const httpPlan = plan;

const call: HostedCall = {
  user: {
    executionId: 'one',
    plugin: name,
    tool: name,
    unitPath: name,
    caller: 'local',
    session: '',
    chain: [],
    granted: () => ({}),
    noteUse: () => {},
    holdClock: () => () => {},
  },
  signal: ending.signal,
  onOutput: () => {},
  onProgress: () => {},
};

try {
  await run(connector);
} finally {
  ending.abort();
  await network.close();
  await store.close();
  rmSync(dataDir, { recursive: true, force: true });
}
process.exit(process.exitCode ?? 0);

async function run({ connect, logins }: Connector): Promise<void> {
  let left = maxLogins;

  async function login(): Promise<void> {
    left -= 1;
    const step = await logins.begin(name, httpPlan, { redirectUrl: undefined, signal: ending.signal });
    if (step.kind !== 'browser') return;
    const answer = await fetch(step.url, { redirect: 'manual' });
    const back = URL.parse(answer.headers.get('location') ?? '');
    if (back === null) throw new Error('the authorization server does not lead back');
    await logins.finish(name, { answer: back.searchParams, signal: ending.signal });
  }

  /** What is refused for want of a login is done again after one. */
  async function withLogin<Value>(attempt: () => Promise<Value>): Promise<Value> {
    for (;;) {
      try {
        return await attempt();
      } catch (error) {
        const isWanted = error instanceof HotcellError && (error.facts.wantsLogin === true || error.fix.includes('mcp login'));
        if (!isWanted || left <= 0) throw error;
        await login();
      }
    }
  }

  let connection: Connection | undefined;
  const open = async (): Promise<Connection> => {
    connection ??= await connect(name, httpPlan, {
      signal: ending.signal,
      sampling: false,
      onToolsChanged: () => {},
      onResourceUpdated: () => {},
    });
    void connection.closed.then(() => {
      connection = undefined;
    });
    return connection;
  };
  const { tools } = readTools(await withLogin(async () => (await open()).listTools(ending.signal)));
  const calls = context.toolCalls ?? tools.map((tool) => ({ name: tool.name, arguments: makeArguments(tool.name) }));
  const outcomes = await Promise.allSettled(
    calls.map(async ({ name: toolName, arguments: args }) => {
      const tool = tools.find((each) => each.name === toolName);
      if (tool !== undefined) await withLogin(async () => (await open()).callTool(tool.called, args, call));
    }),
  );
  for (const outcome of outcomes) if (outcome.status === 'rejected') console.error(outcome.reason);
  await connection?.close();
}

function makeArguments(tool: string): Record<string, unknown> {
  return tool === 'add_numbers' ? { a: 5, b: 3 } : {};
}
