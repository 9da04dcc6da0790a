/** Servers and extension hosts that only write down what is registered with them. */
import { askForRoots, createMessage, elicitInput } from './client-side.ts';
import { parameterNames } from './functions.ts';
import { absentPart, isRecord } from './late.ts';
import { type Offered, readOffered, recordPrompt, recordResource, registration } from './offerings.ts';
import { type FoundTool, mark, readForeignTool } from './read-tool.ts';
import { toParameters } from './schemas.ts';
import { runTask } from './tasks.ts';

type Json = Record<string, unknown>;
type Ask = (request: Json, extra: unknown) => unknown;

/** What a file made and registered while it was loaded, in this order. */
export const recorded = {
  tools: [] as unknown[],
  servers: [] as Server[],
  other: new Set<string>(),
  /** How many tools were registered that only their own host can describe. */
  unreadable: 0,
};

/** Takes `tool(name, description?, shape?, annotations?, handler)` and `registerTool(name, config, handler)`. */
function readRegistration(name: unknown, rest: readonly unknown[]): Json {
  const handler = rest.findLast((each): each is (...args: unknown[]) => unknown => typeof each === 'function');
  const found: Json = { name, handler };
  for (const each of rest) {
    if (typeof each === 'string') found.description = each;
    else if (!isRecord(each) || typeof each === 'function') continue;
    else if ('inputSchema' in each || 'description' in each || 'annotations' in each || 'outputSchema' in each)
      Object.assign(found, pickConfig(each));
    else if (isAnnotations(each)) found.annotations = each;
    else found.inputSchema = each;
  }
  if (toParameters(found.inputSchema) === undefined) {
    found.inputSchema = { type: 'object', properties: {} };
    // Where nothing describes arguments there are none: the first parameter is what others get as the second.
    if (handler !== undefined && parameterNames(handler).length < 2)
      found.handler = (_args: unknown, extra: unknown) => handler(extra);
  }
  return mark(found, 'MCP server');
}

function pickConfig({ title, description, inputSchema, annotations }: Json): Json {
  return { title, description, inputSchema, annotations };
}

function isAnnotations(value: Json): boolean {
  const keys = Object.keys(value);
  return keys.length > 0 && keys.every((key) => key === 'title' || key.endsWith('Hint'));
}

/** The low-level server of MCP: it is asked for its tools like by a client. */
export class Server {
  readonly tools: Json[] = [];
  readonly #handlers = new Map<string, Ask>();
  readonly server: Server = this;
  /** Tools that work on as tasks: a call waits for what the task stores. */
  readonly experimental = {
    tasks: {
      registerToolTask: (name: unknown, config: unknown, steps: unknown) =>
        this.registerTool(name, config, (args: unknown, extra: unknown) => runTask(steps, args, extra)),
    },
  };
  readonly prompts: unknown;
  readonly resources: unknown;
  readonly offered: Offered = { prompts: {}, resources: {} };
  readonly elicitInput = elicitInput;
  readonly createMessage = createMessage;
  readonly listRoots = askForRoots;

  constructor() {
    recorded.servers.push(this);
    // What is not of tools is heard and not used.
    // biome-ignore lint/correctness/noConstructorReturn: unknown methods of a server are absent by name, not undefined
    return new Proxy(this, {
      get: (target, key) => {
        if (key in target || typeof key === 'symbol' || key === 'then') {
          const value: unknown = Reflect.get(target, key, target);
          return typeof value === 'function' ? value.bind(target) : value;
        }
        recorded.other.add(key);
        return absentPart(`server.${key}`);
      },
    });
  }

  tool(name: unknown, ...rest: unknown[]): unknown {
    return this.registerTool(name, ...rest);
  }

  registerTool(name: unknown, ...rest: unknown[]): unknown {
    const found = readRegistration(name, rest);
    this.tools.push(found);
    const remove = () => {
      if (this.tools.includes(found)) this.tools.splice(this.tools.indexOf(found), 1);
    };
    return { enabled: true, enable() {}, disable: remove, remove, update() {} };
  }

  prompt(name: unknown, ...rest: unknown[]): unknown {
    return this.registerPrompt(name, ...rest);
  }

  registerPrompt(name: unknown, ...rest: unknown[]): unknown {
    recordPrompt(this.offered, name, rest);
    return registration();
  }

  resource(name: unknown, address: unknown, ...rest: unknown[]): unknown {
    return this.registerResource(name, address, ...rest);
  }

  registerResource(name: unknown, address: unknown, ...rest: unknown[]): unknown {
    recordResource(this.offered, name, address, rest);
    return registration();
  }

  addTool(tool: unknown): void {
    if (isRecord(tool)) this.tools.push(mark({ ...tool }, 'FastMCP'));
  }

  addTools(tools: readonly unknown[]): void {
    for (const tool of tools) this.addTool(tool);
  }

  setRequestHandler(schema: unknown, ask: Ask): void {
    this.#handlers.set(methodOf(schema), ask);
  }

  async connect(): Promise<void> {}
  async start(): Promise<void> {}
  async close(): Promise<void> {}

  /** What it brings beside tools. */
  async readOfferings(): Promise<Offered> {
    await readOffered(this.offered, this.#handlers);
    return this.offered;
  }

  /** The tools that it lists, each with a handler that calls it like a client does. */
  async readTools(): Promise<readonly unknown[]> {
    const list = this.#handlers.get('tools/list');
    const call = this.#handlers.get('tools/call');
    if (list === undefined || call === undefined) return this.tools;
    const listed = await list({ method: 'tools/list', params: {} }, {});
    const tools: readonly unknown[] = isRecord(listed) && Array.isArray(listed.tools) ? listed.tools : [];
    return [
      ...this.tools,
      ...tools.filter(isRecord).map((tool) => mark({ ...tool, handler: callBy(call, tool.name) }, 'MCP server')),
    ];
  }
}

function callBy(call: Ask, name: unknown) {
  return (args: unknown, extra: unknown) => call({ method: 'tools/call', params: { name, arguments: args } }, extra);
}

/** `ListToolsRequestSchema` of the stand-in and the SDK's own say which request they are for. */
function methodOf(schema: unknown): string {
  if (typeof schema === 'string') return schema;
  const name = String(schema);
  return requests.find(([start]) => name.includes(start))?.[1] ?? name;
}

/** Names of schemas, the longer of two that begin alike first. */
const requests: readonly (readonly [string, string])[] = [
  ['ListTools', 'tools/list'],
  ['CallTool', 'tools/call'],
  ['ListPrompts', 'prompts/list'],
  ['GetPrompt', 'prompts/get'],
  ['ListResourceTemplates', 'resources/templates/list'],
  ['ListResources', 'resources/list'],
  ['ReadResource', 'resources/read'],
];

/** The API that a pi extension is handed. Also used for functions that register with some server. */
export function createApi() {
  const server = new Server();
  const tools: unknown[] = [];
  const starters: (() => unknown)[] = [];
  const known: Json = {
    registerTool(tool: unknown, ...rest: unknown[]) {
      if (rest.length > 0) return server.registerTool(tool, ...rest);
      if (isRecord(tool)) tools.push(mark({ ...tool }, 'pi'));
      return undefined;
    },
    tool: server.tool.bind(server),
    registerPrompt: server.registerPrompt.bind(server),
    prompt: server.prompt.bind(server),
    registerResource: server.registerResource.bind(server),
    resource: server.resource.bind(server),
    addTool: server.addTool.bind(server),
    setRequestHandler: server.setRequestHandler.bind(server),
    server,
    experimental: server.experimental,
    on(event: unknown, listen: unknown) {
      if (typeof listen === 'function' && String(event) === 'session_start') starters.push(() => listen({}, absentPart('ctx')));
      return () => {};
    },
  };
  const api = new Proxy(known, {
    get(target, key) {
      if (typeof key === 'symbol' || key === 'then') return undefined;
      if (!(key in target) || key === 'on') recorded.other.add(key);
      return key in target ? target[key] : absentPart(`api.${key}`);
    },
  });
  /** What an extension does when a session begins; some register their tools there. */
  const start = async () => {
    for (const begin of starters) await begin();
  };
  return { api, tools, server, start };
}

/** Reads whatever of a list is a tool. */
export function readForeignTools(values: readonly unknown[]): FoundTool[] {
  return values.flatMap((value) => readForeignTool(value) ?? []);
}
