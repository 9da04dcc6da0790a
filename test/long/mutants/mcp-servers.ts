import type { MutantsByPromise } from './mutation.ts';

/** MCP servers behind the daemon. */
export const mcpServerMutants: MutantsByPromise = {
  'No program of an MCP server is started but by the command line': [
    {
      what: 'whatever command was approved once stands for all of that server',
      file: 'src/mcp-servers/server.ts',
      find: 'item === commandItem && hash === commandHash',
      replace: 'true || (item === commandItem && hash === commandHash)',
      tests: ['test/mcp-servers/hostile-servers.test.ts'],
    },
    {
      what: 'a program sees the whole environment of the daemon',
      file: 'src/mcp-servers/transport/connect.ts',
      find: 'env: Object.fromEntries([...passed, ...own])',
      replace:
        'env: Object.fromEntries([...Object.entries(parts.env).map(([key, value]) => [key, value ?? ""] as const), ...own])',
      tests: ['test/mcp-servers/hostile-servers.test.ts'],
    },
    {
      what: 'what a program started outlives it',
      file: 'src/mcp-servers/transport/local-program.ts',
      find: "if (pid !== undefined) signalGroup(pid, 'SIGKILL');",
      replace: '',
      tests: ['test/mcp-servers/hostile-servers.test.ts'],
    },
  ],
  'A program of an MCP server that has a container': [
    {
      what: 'the consent to a command line is one to every image',
      file: 'src/mcp-servers/server-plan.ts',
      find: 'image === undefined ? consent : { ...consent, image, net: places }',
      replace: 'consent',
      tests: ['test/mcp-servers/container-servers.test.ts'],
    },
    {
      what: 'every container has a way to the network',
      file: 'src/mcp-servers/transport/container-program.ts',
      find: 'start.net.length === 0 ? undefined :',
      replace: 'start.net.length < 0 ? undefined :',
      tests: ['test/mcp-servers/container-servers.test.ts'],
    },
  ],
  'A tool, a prompt and a resource of an MCP server serve only': [
    {
      what: 'a tool that changed goes on serving',
      file: 'src/mcp-servers/pins.ts',
      find: 'else if (pin.hash === each.hash) served.push(each);',
      replace: 'else if (pin.hash !== "") served.push(each);',
      tests: ['test/mcp-servers/hostile-servers.test.ts', 'test/mcp-servers/pins.test.ts'],
    },
    {
      what: 'a prompt that changed goes on serving',
      file: 'src/mcp-servers/pins.ts',
      find: 'if (pin === undefined) added.push(each);',
      replace: "if (pin === undefined) added.push(each);\n    else if (each.kind === 'prompt') served.push(each);",
      tests: ['test/mcp-servers/changing-servers.test.ts'],
    },
    {
      what: 'a resource that changed goes on serving',
      file: 'src/mcp-servers/pins.ts',
      find: 'if (pin === undefined) added.push(each);',
      replace: "if (pin === undefined) added.push(each);\n    else if (each.kind === 'resource') served.push(each);",
      tests: ['test/mcp-servers/changing-servers.test.ts'],
    },
    {
      what: 'what a tool says of itself is shown with its control characters',
      file: 'src/mcp-servers/tools/read-tools.ts',
      find: "bounded.split('\\n').map((line) => cleanUntrustedText(line, maxDescriptionChars))",
      replace: "bounded.split('\\n')",
      tests: ['test/mcp-servers/hostile-servers.test.ts'],
    },
  ],
  'What an MCP server sends is bounded': [
    {
      what: 'a program that ended is waited for as long as somebody holds its streams',
      file: 'src/mcp-servers/transport/local-program.ts',
      find: 'setTimeout(() => over.resolve(end), graceMs)',
      replace: 'setTimeout(() => undefined, graceMs)',
      tests: ['test/mcp-servers/hostile-servers.test.ts'],
    },
    {
      what: 'an address of another server keeps the tools of this one from serving',
      file: 'src/tools/hosted/hosted-tools.ts',
      find: 'names.findTaken(path, { version, tools: [ownedNameOf(manifest)] }) === undefined;',
      replace: 'manifest !== undefined;',
      tests: ['test/mcp-servers/hostile-servers.test.ts'],
    },
    {
      what: 'a line may be of any length',
      file: 'src/mcp-servers/transport/stdio-transport.ts',
      find: 'if (held > maxBytes) {',
      replace: 'if (held > Number.MAX_SAFE_INTEGER) {',
      tests: ['test/mcp-servers/hostile-servers.test.ts', 'test/mcp-servers/transport/stdio-transport.test.ts'],
    },
    {
      what: 'a server that lists something else every time is listened to as often as any',
      file: 'src/mcp-servers/served-list.ts',
      find: 'refreshGapMs * 2 ** Math.max(0, restless - patientQuestions)',
      replace: 'refreshGapMs',
      tests: ['test/mcp-servers/list-pace.test.ts'],
    },
    {
      what: 'a list of a server may be of any size',
      file: 'src/mcp-servers/connection.ts',
      find: 'received.watch(maxListBytes, () => flooded.abort())',
      replace: 'received.watch(Number.MAX_SAFE_INTEGER, () => flooded.abort())',
      tests: ['test/mcp-servers/connection.test.ts'],
    },
    {
      what: 'the stream of a call goes on after the call',
      file: 'src/mcp-servers/connection.ts',
      find: 'if (over === undefined || !isOfCall) return fetch(url, init);',
      replace: 'if (over !== null) return fetch(url, init);',
      tests: ['test/mcp-servers/http-servers.test.ts'],
    },
  ],
  'An MCP server asks a model only where its entry allows it': [
    {
      what: 'a server asks for a model unasked',
      file: 'src/mcp-servers/questions/answer-sampling.ts',
      find: "const isAllowed = allowed === true || typeof allowed === 'string';",
      replace: "const isAllowed = allowed !== 'never';",
      tests: ['test/mcp-servers/sampling.test.ts'],
    },
    {
      what: 'one call asks for models without end',
      file: 'src/mcp-servers/questions/answer-sampling.ts',
      find: 'if (before >= maxRequestsOfCall)',
      replace: 'if (before > Number.MAX_SAFE_INTEGER)',
      tests: ['test/mcp-servers/sampling.test.ts'],
    },
    {
      what: 'what a server has a model read keeps its secrets',
      file: 'src/models/text-generator.ts',
      find: 'redactor.isIdle ? request : redactor.value(request)',
      replace: 'redactor.isIdle ? request : request',
      tests: ['test/mcp-servers/sampling.test.ts'],
    },
  ],
  'A key for an MCP server goes to the origin': [
    {
      what: 'headers are put into requests to anybody',
      file: 'src/mcp-servers/transport/mcp-network.ts',
      find: 'url.origin === plan.url.origin ? fillHeaders(server, plan, secrets) : []',
      replace: 'fillHeaders(server, plan, secrets)',
      tests: ['test/mcp-servers/http-servers.test.ts', 'test/mcp-servers/transport/mcp-network.test.ts'],
    },
    {
      what: 'addresses that only a name leads to are reached',
      file: 'src/mcp-servers/transport/mcp-network.ts',
      find: "!isAddressLiteral(host) && host !== 'localhost' && !host.endsWith('.localhost')",
      replace: 'host !== ""',
      tests: ['test/mcp-servers/transport/mcp-network.test.ts'],
    },
  ],
};
