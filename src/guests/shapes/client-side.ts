/** What servers of MCP ask their client for in the middle of a call, asked of the caller of the plugin. */
import { currentContext, isRecord } from './late.ts';
import { describeOne, isStandard } from './schemas.ts';

type Json = Record<string, unknown>;
type Ask = (params: unknown) => Promise<unknown>;

interface Asking {
  readonly ask: Ask;
  readonly client: { readonly createMessage: Ask; readonly listRoots: () => Promise<unknown> };
}

function asking(): Asking {
  const context = currentContext();
  if (context === undefined) throw new Error('The client can be asked while a call runs, and not before.');
  return context as unknown as Asking;
}

export async function elicitInput(params: unknown): Promise<unknown> {
  const { message, requestedSchema, mode } = isRecord(params) ? params : {};
  if (mode === 'url') throw new Error('A plugin asks with forms: pages in a browser are not part of this version.');
  return asking().ask({ message, schema: toForm(requestedSchema) });
}

export async function createMessage(params: unknown): Promise<unknown> {
  return asking().client.createMessage(params);
}

export async function askForRoots(): Promise<unknown> {
  return asking().client.listRoots();
}

/** `extra.sendRequest({ method, params })`. */
export async function sendRequest(request: unknown): Promise<unknown> {
  const { method, params } = isRecord(request) ? request : {};
  if (method === 'elicitation/create') return elicitInput(params);
  if (method === 'sampling/createMessage') return createMessage(params);
  if (method === 'roots/list') return askForRoots();
  throw new Error(`The caller of a plugin is not asked for "${String(method)}".`);
}

/** The parts of the second argument of handlers that ask the client, in both ages of the SDK. */
export const clientSide: Json = {
  sendRequest,
  elicitInput,
  mcpReq: {
    elicitInput,
    requestSampling: createMessage,
    send: sendRequest,
    notify: async () => undefined,
    log: async () => undefined,
  },
};

/** A form of the daemon has no patterns: what they were for is told by the format. */
function toForm(schema: unknown): unknown {
  const json = isStandard(schema) ? describeOne(schema) : schema;
  if (!isRecord(json) || !isRecord(json.properties)) return json;
  const properties: Json = {};
  for (const [name, property] of Object.entries(json.properties)) {
    if (!isRecord(property)) continue;
    const { pattern: _pattern, ...others } = property;
    properties[name] = others;
  }
  return { type: 'object', properties, ...(Array.isArray(json.required) ? { required: json.required } : {}) };
}
