import { hash } from 'node:crypto';
import type { McpServerSetting } from '../config/settings/mcp-settings.ts';
import { parseNetEntry } from '../permissions/net-grammar.ts';
import { listSecrets } from '../secrets/named-secrets.ts';
import { canonicalJson } from '../tools/canonical-json.ts';

/** How a server is reached, read from its entry in the config. */
export type ServerPlan = StdioPlan | HttpPlan;

/** It is a program that the daemon starts, on this machine or in a container. */
export interface StdioPlan {
  readonly by: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  /** Values may hold `${secret:NAME}`. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** It runs in a container of this image. */
  readonly image?: string;
  /** Where it may go from its container, in the grammar of `net`. */
  readonly net: readonly string[];
  /** SHA-256 (hex) of everything that consent is given to: no value of the environment. */
  readonly commandHash: string;
}

/** It answers at a URL. */
export interface HttpPlan {
  readonly by: 'http';
  readonly url: URL;
  /** Undefined: the streamable one, and the older one for a server that does not know it. */
  readonly transport: 'http' | 'sse' | undefined;
  /** Values may hold `${secret:NAME}`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Places that the operator named, in the grammar of `net`; the URL's own place is among them. */
  readonly net: readonly string[];
  readonly auth: McpServerSetting['auth'];
}

/** What a server is called: a tool of it is `NAME/TOOL`. */
const serverNamePattern = /^[A-Za-z0-9_-]{1,64}$/;

/** Reads an entry; the reason when it cannot be used, as a sentence. */
export function planServer(
  name: string,
  setting: McpServerSetting,
): ServerPlan | { readonly by: 'nothing'; readonly reason: string } {
  if (!serverNamePattern.test(name)) return refuse('The name of a server has letters, digits, _ and -, at most 64 of them.');
  const { url, command } = setting;
  if (url !== undefined && command !== undefined)
    return refuse('Its entry has a url and a command; a server has one of the two.');
  if (url === undefined && command === undefined)
    return refuse('Its entry has neither a url nor a command; a server has one of the two.');
  return command === undefined ? planHttp(url ?? '', setting) : planProgram(command, setting);
}

function planProgram(command: string, setting: McpServerSetting): ReturnType<typeof planServer> {
  const { args = [], env = {}, cwd, container: image, net = [] } = setting;
  if (image === undefined && net.length > 0)
    return refuse('Its entry has a net, which bounds no program of this machine: name the image of a container for it.');
  const places = readNet(net);
  if (typeof places === 'string') return refuse(places);
  const names = Object.keys(env).sort();
  const consent = { command, args, names, cwd, secrets: listSecrets(Object.values(env)) };
  return {
    by: 'stdio',
    command,
    args,
    env,
    ...(cwd === undefined ? {} : { cwd }),
    ...(image === undefined ? {} : { image }),
    net: places,
    commandHash: hash('sha256', canonicalJson(image === undefined ? consent : { ...consent, image, net: places })),
  };
}

function planHttp(text: string, setting: McpServerSetting): ReturnType<typeof planServer> {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    return refuse(`Its url is no http: or https: URL: "${text.slice(0, 100)}".`);
  if (url.username !== '' || url.password !== '') return refuse('Its url holds user-info: put it into a header, as a secret.');
  const { headers = {}, net = [], transport, auth } = setting;
  if (setting.container !== undefined) return refuse('Its entry has a url and a container; only a command runs in one.');
  const places = readNet([`${url.hostname}:${url.port || (url.protocol === 'https:' ? '443' : '80')}`, ...net]);
  if (typeof places === 'string') return refuse(places);
  return {
    by: 'http',
    url,
    transport,
    headers,
    net: places,
    auth,
  };
}

function refuse(reason: string): { readonly by: 'nothing'; readonly reason: string } {
  return { by: 'nothing', reason };
}

/** Places in the grammar of `net`; the reason when one is none. */
function readNet(net: readonly string[]): readonly string[] | string {
  const entries = net.map(parseNetEntry);
  const wrong = entries.find((entry) => !entry.ok);
  if (wrong?.ok === false) return `An entry of its net ${wrong.reason}.`;
  return entries.flatMap((entry) => (entry.ok ? [entry.entry] : []));
}
