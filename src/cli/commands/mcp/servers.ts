import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Command } from 'commander';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { mcpContracts } from '../../../operations/contracts/mcp.ts';
import { listServerColumns, renderMcpServer } from '../../render/mcp-server.ts';
import { tame } from '../../render/style.ts';
import { renderTable } from '../../render/table.ts';
import type { CliSession } from '../../session.ts';
import { addClientCommand, addCommand, addOperation, type CommonFlags, withDaemon } from '../command.ts';

const onServer = { arguments: { '<name>': 'the server' } } as const;

/** Adds `hotcell mcp servers`, `restart`, `login` and `logout`. */
export function registerMcpServers(mcp: Command, session: CliSession): void {
  const { style, io } = session;
  addClientCommand(mcp, session, {
    name: 'servers',
    about: 'list the MCP servers of the config: how they do, and what they bring',
    arguments: { '[name]': 'one server, with all of it' },
    run: async ({ name, json }, client) => {
      if (name !== undefined) {
        const server = await client.invoke(mcpContracts.get, { name });
        return json ? session.printJson(server) : session.print(renderMcpServer(server, style));
      }
      const list = await client.invoke(mcpContracts.list, {});
      if (json) return session.printJson(list);
      if (list.configProblem !== undefined)
        session.note(
          `${style.yellow('!')} The config file is not taken over as it is: ${tame(list.configProblem)} These are the servers of before.\n`,
        );
      if (list.total === 0) return session.print('No MCP servers. They are named in the config: see hotcell docs mcp-servers.\n');
      session.print(renderTable(list.items, listServerColumns(style), io.columns));
    },
  });

  addOperation(mcp, session, {
    ...onServer,
    name: 'restart',
    about: 'connect to a server anew, and ask again what was denied',
    contract: mcpContracts.restart,
    show: ({ name }) => `${style.green('✓')} ${name} is connected to anew: hotcell mcp servers ${name}\n`,
  });

  addCommand(mcp, {
    name: 'login',
    about: 'log in to a server: prints what to open, and waits until you did',
    arguments: onServer.arguments,
    options: {
      '--port <port>': { about: 'the port of this machine that the browser comes back to', range: [0, 65_535], usual: 7421 },
    },
    run: ({ name, port = 0, ...flags }) => logIn(session, name, port, flags),
  });

  addOperation(mcp, session, {
    ...onServer,
    name: 'logout',
    about: 'forget the login to a server',
    contract: mcpContracts.logout,
    findMissing: ({ wasLoggedIn }, { name }) =>
      wasLoggedIn
        ? undefined
        : new HotcellError('conflict', `Nothing was forgotten: nobody was logged in to "${name}".`, {
            fix: `See how it does: hotcell mcp servers ${name}. Log in: hotcell mcp login ${name}.`,
          }),
    show: (_answer, { name }) => `${style.green('✓')} The login to ${name} is forgotten.\n`,
  });
}

async function logIn(session: CliSession, name: string, port: number, flags: CommonFlags): Promise<void> {
  const { style } = session;
  await withDaemon(session, flags, async (client) => {
    await using callback = await listenForCallback(port);
    const step = await client.invoke(mcpContracts.login, { name, redirectUrl: callback.url });
    if (step.kind === 'browser') session.note(`Open this in your browser:\n\n  ${tame(step.url ?? '')}\n\n`);
    if (step.kind === 'device') {
      session.note(`Open ${tame(step.url ?? '')} on any device, and enter: ${style.bold(tame(step.userCode ?? ''))}\n`);
    }
    const answer = step.kind === 'browser' ? { answer: await callback.answer } : {};
    const server =
      step.kind === 'done'
        ? await client.invoke(mcpContracts.get, { name })
        : await client.invoke(mcpContracts.finishLogin, { name, ...answer });
    if (flags.json) return session.printJson(server);
    session.print(step.kind === 'done' ? `${name} needs no login.\n` : `${style.green('✓')} You are logged in to ${name}.\n`);
  });
}

const callbackPath = '/callback';

/** Waits on this machine alone for the browser to come back; the first answer counts. */
async function listenForCallback(
  port: number,
): Promise<AsyncDisposable & { readonly url: string; readonly answer: Promise<string> }> {
  const answered = Promise.withResolvers<string>();
  const server = createServer((request, response) => {
    const url = URL.parse(request.url ?? '', 'http://127.0.0.1');
    if (request.method !== 'GET' || url?.pathname !== callbackPath) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', connection: 'close' });
    response.end('Back to the terminal: it says what came of the login.\n');
    answered.resolve(url.search.slice(1));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(
        new HotcellError('port-in-use', `The port ${port}, which the browser is to come back to, cannot be listened on.`, {
          cause,
          fix: 'Name another one, which the login has to allow: --port N.',
        }),
      ),
    );
    server.listen(port, '127.0.0.1', resolve);
  });
  const { port: taken }: Pick<AddressInfo, 'port'> = Object(server.address());
  return {
    url: `http://127.0.0.1:${taken}${callbackPath}`,
    answer: answered.promise,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
