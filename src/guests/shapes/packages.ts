/** What stands for the libraries that tool files import, as far as they describe tools with them. */
import { absentPart, isLoadingFile, isRecord, standIn } from './late.ts';
import { completable, ResourceTemplate } from './offerings.ts';
import { mark } from './read-tool.ts';
import { recorded, Server } from './recorders.ts';
import { StringEnum, Type } from './type-box.ts';

type Json = Record<string, unknown>;

function record(shape: string): (tool: unknown) => unknown {
  return (tool) => {
    if (isRecord(tool)) recorded.tools.push(mark(tool, shape));
    return tool;
  };
}

const asAiTool = record('AI SDK');

/** `tool(fn, { name, description, schema })` of LangChain. */
function langChainTool(func: unknown, fields: unknown): unknown {
  return record('LangChain')(Object.assign(Object.create(invoking) as Json, isRecord(fields) ? fields : {}, { func }));
}

/** What code calls a tool of LangChain by. A file that tries its tool while it is loaded gets nothing of it. */
const invoking = {
  invoke(this: Json, input: unknown, options?: unknown): unknown {
    return isLoadingFile() ? absentPart(`${String(this.name)}.invoke()`) : workOf(this).call(this, input, options);
  },
};

function workOf({ func, _call }: Json): (this: unknown, ...args: unknown[]) => unknown {
  return (typeof func === 'function' ? func : _call) as (...args: unknown[]) => unknown;
}

class StructuredTool {
  constructor(fields: unknown = {}) {
    if (isRecord(fields)) Object.assign(this, pickFields(fields));
    mark(this, 'LangChain');
    recorded.tools.push(this);
  }

  invoke(input: unknown, options?: unknown): unknown {
    return invoking.invoke.call(this as unknown as Json, input, options);
  }
}

function pickFields({ name, description, schema, func }: Json): Json {
  return Object.fromEntries(Object.entries({ name, description, schema, func }).filter(([, value]) => value !== undefined));
}

class UserError extends Error {}
class McpError extends Error {
  readonly code: unknown;
  constructor(code: unknown, message?: string) {
    super(message);
    this.code = code;
  }
}

const langChainTools = {
  tool: langChainTool,
  StructuredTool,
  Tool: StructuredTool,
  DynamicTool: StructuredTool,
  DynamicStructuredTool: StructuredTool,
};
const ErrorCode = {
  InvalidRequest: -32600,
  MethodNotFound: -32601,
  InvalidParams: -32602,
  InternalError: -32603,
  ConnectionClosed: -32000,
  RequestTimeout: -32001,
};

/** The known names of a package, by the beginning of its specifier; `z` is zod where a package brings it along. */
const packages: ReadonlyArray<readonly [string, (specifier: string, z: unknown) => Json]> = [
  [
    '@modelcontextprotocol/ext-apps',
    () => ({
      registerAppTool: (server: { registerTool: (...args: unknown[]) => unknown }, ...rest: unknown[]) =>
        server.registerTool(...rest),
    }),
  ],
  ['@modelcontextprotocol/', () => ({ McpServer: Server, Server, ResourceTemplate, completable, McpError, ErrorCode })],
  ['fastmcp', () => ({ FastMCP: Server, UserError })],
  ['@langchain/core/utils/env', () => ({ getEnvironmentVariable: (name: string) => readGlobalEnvironment(name) })],
  ['@langchain/', () => langChainTools],
  ['langchain', () => langChainTools],
  ['@openai/agents', () => ({ tool: record('OpenAI Agents') })],
  [
    '@opencode-ai/plugin',
    (_specifier, z) => ({ tool: Object.assign((tool: unknown) => record('opencode')(tool), { schema: z }), z }),
  ],
  ['@mastra/', () => ({ createTool: record('Mastra') })],
  ['typebox', () => ({ Type, default: Type })],
  ['@sinclair/typebox', () => ({ Type, default: Type })],
  [
    'node-fetch',
    () => ({
      default: (...args: unknown[]) => (globalThis as unknown as { fetch: (...args: unknown[]) => unknown }).fetch(...args),
    }),
  ],
  ['dotenv', () => ({ config: () => ({}), default: { config: () => ({}) } })],
  [
    'ai',
    () => ({
      tool: asAiTool,
      dynamicTool: asAiTool,
      createTool: asAiTool,
      jsonSchema: (schema: unknown) => schema,
      zodSchema: (schema: unknown) => schema,
    }),
  ],
  // pi and its forks: @mariozechner/pi-…, @earendil-works/pi-…
  ['', () => ({ Type, StringEnum, defineTool: record('pi') })],
];

/** The module that a specifier stands for. */
export function packageOf(specifier: string, z: unknown): Json {
  const found = packages.find(([start]) =>
    start.endsWith('/') || start === '' ? specifier.startsWith(start) : specifier === start || specifier.startsWith(`${start}/`),
  );
  return standIn(specifier, found?.[1](specifier, z) ?? {});
}

function readGlobalEnvironment(name: string): unknown {
  const { __hotcellEnv: environment } = globalThis as { __hotcellEnv?: Json };
  return environment?.[name];
}

/** A Node built-in in a trial load, which only asks what a file exports. */
export function builtinOf(name: string): unknown {
  return standIn(name, { default: absentPart(name) });
}
