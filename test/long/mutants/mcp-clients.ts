import type { MutantsByPromise } from './mutation.ts';

/** What MCP clients send, and what they get. */
export const mcpClientMutants: MutantsByPromise = {
  'What an MCP client hands back is good for its own key': [
    {
      what: 'a state is good for every key',
      file: 'src/mcp-door/request-state.ts',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the words of the source
      find: "`${mcpReq.method}\\0${http?.authInfo?.clientId ?? ''}`",
      replace: "(mcpReq.method, http, '')",
      tests: ['test/mcp-door/attacks.test.ts'],
    },
    {
      what: 'a state is good for other arguments',
      file: 'src/mcp-door/run-call.ts',
      find: 'if (state !== undefined && state.request !== request) {',
      replace: 'if (false) {',
      tests: ['test/mcp-door/attacks.test.ts'],
    },
    {
      what: 'a call that waits is found by every caller',
      file: 'src/mcp-door/waiting-calls.ts',
      find: '({ id }: Caller, request: string): string | undefined => byCaller.get(id)?.get(request),',
      replace:
        '(_caller: Caller, request: string): string | undefined => byCaller.values().find((calls) => calls.has(request))?.get(request),',
      tests: ['test/mcp-door/attacks.test.ts'],
    },
    {
      what: 'any answer with an action lets a call begin',
      file: 'src/mcp-door/questions.ts',
      find: "if (typeof view.content?.allow !== 'boolean') throw refuse(key, '{\"allow\": true or false}');",
      replace: "if (typeof view.content?.allow !== 'boolean') return { answer: 'approve' };",
      tests: ['test/mcp-door/attacks.test.ts'],
    },
  ],
  'An agent over A2A sees, calls, answers and cancels what its key may': [
    {
      what: 'tasks are looked up with the rights of the operator',
      file: 'src/a2a-door/request-handler.ts',
      find: 'const context: OperationContext = { caller, signal };',
      replace: "const context: OperationContext = { caller: { id: 'local', role: 'admin' }, signal };",
      tests: ['test/a2a-door/a2a-door.test.ts'],
    },
    {
      what: 'a message is carried out with the rights of before it was whole',
      file: 'src/http/a2a-route.ts',
      find: 'if (!parts.isCurrent(caller)) throw refuseEnded();',
      replace: '',
      tests: ['test/http/revoked-keys.test.ts'],
    },
    {
      what: 'tools are called with the rights of the operator',
      file: 'src/a2a-door/request-handler.ts',
      find: 'const going: OperationContext = { caller, signal:',
      replace: "const going: OperationContext = { caller: { id: 'local', role: 'admin' }, signal:",
      tests: ['test/a2a-door/a2a-door.test.ts'],
    },
  ],
  'An MCP client has the sessions of its own key alone': [
    {
      what: 'whoever listens with a key whose time is over hears on',
      file: 'src/callers/key-ring.ts',
      find: 'watchers.size === 0 ? [] : times.filter(',
      replace: 'watchers.size >= 0 ? [] : times.filter(',
      tests: ['test/callers/key-ring.test.ts'],
    },
    {
      what: 'a session is anybody\u2019s who knows its id',
      file: 'src/mcp-door/sessions.ts',
      find: 'session?.caller.id === caller.id && ',
      replace: '',
      tests: ['test/mcp-door/sessions.test.ts'],
    },
    {
      what: 'a caller has as many sessions as it likes',
      file: 'src/mcp-door/sessions.ts',
      find: 'if (own.length >= perCaller) {',
      replace: 'if (false) {',
      tests: ['test/mcp-door/sessions.test.ts'],
    },
    {
      what: 'a session begins with the rights of before its request was whole',
      file: 'src/http/mcp-route.ts',
      find: 'if (!parts.isCurrent(request.caller)) throw refuseEnded();',
      replace: '',
      tests: ['test/http/revoked-keys.test.ts'],
    },
    {
      what: 'sessions outlive a change of their key',
      file: 'src/mcp-door/mcp-door.ts',
      find: 'sessions.endWhere(({ caller }) => !isCurrent(caller));',
      replace: '',
      tests: ['test/mcp-door/sessions.test.ts'],
    },
  ],
  'No model gets as a tool what people decide': [
    {
      what: 'what people decide is a tool',
      file: 'src/mcp-door/management.ts',
      find: 'if (isForPeople || !isAllowed(role, caller)) return false;',
      replace: 'if (!isAllowed(role, caller)) return false;',
      tests: ['test/mcp-door/management.test.ts'],
    },
    {
      what: 'operations for admins are tools of everybody',
      file: 'src/mcp-door/management.ts',
      find: 'if (isForPeople || !isAllowed(role, caller)) return false;',
      replace: 'if (isForPeople) return false;',
      tests: ['test/mcp-door/management.test.ts'],
    },
  ],
  'The key of a client that starts a daemon': [
    {
      what: 'the key of a client is the token of the daemon that it starts',
      file: 'src/cli/commands/mcp/start-in-background.ts',
      find: 'const { HOTCELL_TOKEN: _key, ...env } = { ...process.env, ...io.env };',
      replace: 'const env = { ...process.env, ...io.env };',
      tests: ['test/mcp-door/stdio.test.ts'],
    },
  ],
};
