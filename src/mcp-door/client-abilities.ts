import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { isObject } from '../config/json-object.ts';

/** The name of the extension by which a call becomes a task. */
export const tasksExtension = 'io.modelcontextprotocol/tasks';

/** What the client of a request can do, as it says itself: it decides how it is asked, never what it may. */
export interface ClientAbilities {
  /** It can show a form to a person. */
  readonly form: boolean;
  readonly sampling: boolean;
  readonly roots: boolean;
  readonly tasks: boolean;
}

/** Reads what a client says: in each request in the era without sessions, at the start of its session in the older one. */
export function readAbilities(server: Server, { mcpReq }: ServerContext): ClientAbilities {
  const said: unknown = read(mcpReq.envelope, CLIENT_CAPABILITIES_META_KEY) ?? server.getClientCapabilities();
  if (!isObject(said)) return { form: false, sampling: false, roots: false, tasks: false };
  const { elicitation, sampling, roots, extensions } = said;
  // An empty object is from before there were modes: forms are what it meant.
  const form = isObject(elicitation) && (elicitation.form !== undefined || elicitation.url === undefined);
  const tasks = mcpReq.envelope !== undefined && isObject(extensions) && isObject(extensions[tasksExtension]);
  return { form, sampling: isObject(sampling), roots: isObject(roots), tasks };
}

/** What a client calls itself, for people who look who is connected. */
export function readClientName(server: Server, { mcpReq }: Pick<ServerContext, 'mcpReq'>): string {
  const said: unknown = read(mcpReq.envelope, CLIENT_INFO_META_KEY) ?? server.getClientVersion();
  if (!isObject(said) || typeof said.name !== 'string') return 'unknown';
  const version = typeof said.version === 'string' ? ` ${said.version}` : '';
  return `${said.name}${version}`.replaceAll(/\p{C}/gu, '').slice(0, 120);
}

function read(envelope: object | undefined, key: string): unknown {
  return envelope === undefined ? undefined : new Map<string, unknown>(Object.entries(envelope)).get(key);
}
