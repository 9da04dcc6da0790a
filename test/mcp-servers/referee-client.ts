import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HotcellError } from '../../src/errors/hotcell-error.ts';
import type { Connection } from '../../src/mcp-servers/connection.ts';
import type { AskForm } from '../../src/mcp-servers/questions/answer-form.ts';
import { type HttpPlan, planServer } from '../../src/mcp-servers/server-plan.ts';
import { readTools } from '../../src/mcp-servers/tools/read-tools.ts';
import { type Connector, createConnector } from '../../src/mcp-servers/transport/connect.ts';
import { createMcpNetwork } from '../../src/mcp-servers/transport/mcp-network.ts';
import { createSecretRegistry } from '../../src/secrets/secret-registry.ts';
import { openStore } from '../../src/store/open.ts';
import type { HostedCall } from '../../src/tools/hosted/hosted-types.ts';
import { giveTables } from '../data-dir.ts';

/** What the conformance suite tells the client that it starts for one of its scenarios. */
export interface Scenario {
  readonly name: string;
  /** Of the server that the client is to use. */
  readonly url: string;
  readonly context: {
    readonly client_id?: string;
    readonly client_secret?: string;
    readonly toolCalls?: ReadonlyArray<{ readonly name: string; readonly arguments: Record<string, unknown> }>;
  };
}

const server = 'referee';
const maxLogins = 3;
/** All clients of a run start at once. */
const patienceMs = 200_000;

/** A person who accepts what a form proposes. */
const acceptDefaults: AskForm = async ({ schema }) => {
  const { properties }: { properties?: Record<string, { default?: string | number | boolean }> } = Object(schema);
  const proposed = Object.entries(properties ?? {}).flatMap(([field, { default: value }]) =>
    value === undefined ? [] : [[field, value] as const],
  );
  return { action: 'accept', content: Object.fromEntries(proposed) };
};

/**
 * Does what a scenario wants with what the daemon connects, logs in and calls with; the suite's own browser is a fetch. Resolves with
 * what went wrong with calls, which the scenario may be about.
 */
export async function runScenario({ name, url, context }: Scenario): Promise<readonly unknown[]> {
  const ending = new AbortController();
  const dataDir = mkdtempSync(join(tmpdir(), 'hotcell-conformance-'));
  giveTables(dataDir);
  const store = openStore({ dataDir, onWriteError: console.error, onProblem: () => {} });
  const secrets = createSecretRegistry({
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
  const plan = planServer(server, {
    url,
    // The operator names this machine: the suite's servers are on it.
    net: ['localhost', '127.0.0.1'],
    auth: {
      ...(context.client_id === undefined ? {} : { clientId: context.client_id }),
      ...(context.client_secret === undefined ? {} : { clientSecret: '$' + '{secret:CLIENT_SECRET}' }),
      ...(name === 'auth/basic-cimd' ? { clientMetadataUrl: 'https://conformance-test.local/client-metadata.json' } : {}),
    },
  });
  if (plan.by !== 'http') throw new Error('the suite names a URL');
  try {
    return await callTools(connector, { plan, calls: context.toolCalls, ending });
  } finally {
    ending.abort();
    await network.close();
    await store.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

function makeCall(signal: AbortSignal): HostedCall {
  return {
    user: {
      executionId: 'one',
      plugin: server,
      tool: server,
      unitPath: server,
      caller: 'local',
      session: '',
      chain: [],
      granted: () => ({}),
      noteUse: () => {},
      holdClock: () => () => {},
    },
    signal,
    onOutput: () => {},
    onProgress: () => {},
  };
}

async function callTools(
  { connect, logins }: Connector,
  options: { readonly plan: HttpPlan; readonly calls: Scenario['context']['toolCalls']; readonly ending: AbortController },
): Promise<readonly unknown[]> {
  const { plan, ending } = options;
  let left = maxLogins;

  async function login(): Promise<void> {
    left -= 1;
    const step = await logins.begin(server, plan, { redirectUrl: undefined, signal: ending.signal });
    if (step.kind !== 'browser') return;
    const answer = await fetch(step.url, { redirect: 'manual' });
    const back = URL.parse(answer.headers.get('location') ?? '');
    if (back === null) throw new Error('the authorization server does not lead back');
    await logins.finish(server, { answer: back.searchParams, signal: ending.signal });
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
    connection ??= await connect(server, plan, {
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
  const calls = options.calls ?? tools.map((tool) => ({ name: tool.name, arguments: makeArguments(tool.name) }));
  const outcomes = await Promise.allSettled(
    calls.map(async ({ name, arguments: args }) => {
      const tool = tools.find((each) => each.name === name);
      if (tool !== undefined) await withLogin(async () => (await open()).callTool(tool.called, args, makeCall(ending.signal)));
    }),
  );
  await connection?.close();
  return outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
}

function makeArguments(tool: string): Record<string, unknown> {
  return tool === 'add_numbers' ? { a: 5, b: 3 } : {};
}
