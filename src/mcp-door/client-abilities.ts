import { CLIENT_CAPABILITIES_META_KEY, type Server, type ServerContext } from '@modelcontextprotocol/server';
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

function read(envelope: object | undefined, key: string): unknown {
  return envelope === undefined ? undefined : new Map<string, unknown>(Object.entries(envelope)).get(key);
}
