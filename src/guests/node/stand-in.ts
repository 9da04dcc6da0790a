/** What stands for a built-in of Node that the sandbox does not have: it loads, and each of its functions is refused by name. */
import { type Lacking, refusal, refuseMember } from './refusals.ts';

/** The shape of a built-in. */
export interface StandIn extends Lacking {
  /** Names of functions and classes. */
  readonly functions: readonly string[];
  /** Constants. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Objects of functions, such as `fs.promises`; these reject. */
  readonly parts: Readonly<Record<string, readonly string[]>>;
}

type Members = Readonly<Record<string, unknown>>;

/** Makes the module; `own` are members that work. */
export function createStandIn({ functions, values, parts, ...lacking }: StandIn, own: Members = {}): object {
  const made: Record<string, unknown> = {};
  for (const member of functions) made[member] = refuseMember(lacking, member);
  for (const [part, members] of Object.entries(parts)) {
    made[part] = Object.fromEntries(
      members.map((member) => [member, () => Promise.reject(refusal(lacking, `${part}.${member}`))]),
    );
  }
  return Object.assign(made, values, own);
}

/** Members of stand-ins that packages use while they are loaded, or that need nothing of the machine. */
export const ownMembers: Readonly<Record<string, Members>> = {
  fs: { existsSync: () => false },
  http: {
    ...agents(),
    maxHeaderSize: 16_384,
    setMaxIdleHTTPParsers: () => {},
    validateHeaderName: () => {},
    validateHeaderValue: () => {},
  },
  https: agents(),
  net: {
    isIP: (text: unknown) => (isIPv4(text) ? 4 : isIPv6(text) ? 6 : 0),
    isIPv4,
    isIPv6,
    getDefaultAutoSelectFamily: () => false,
    setDefaultAutoSelectFamily: () => {},
  },
  dns: { setDefaultResultOrder: () => {}, getDefaultResultOrder: () => 'verbatim' },
  tls: { rootCertificates: [], getCiphers: () => [], createSecureContext: () => ({}) },
  cluster: { isMaster: true, isPrimary: true, isWorker: false },
  inspector: { url: () => undefined },
  module: {
    createRequire: () => Object.assign((id: unknown) => refuseRequire(id), { resolve: refuseRequire, cache: {} }),
    isBuiltin: (id: unknown) => String(id).startsWith('node:'),
    enableCompileCache: () => {},
    register: () => {},
  },
  v8: { getHeapStatistics: () => ({}), setFlagsFromString: () => {} },
};

function agents(): Record<string, unknown> {
  class Agent {
    readonly options: object;
    readonly sockets = {};
    readonly requests = {};
    readonly freeSockets = {};
    constructor(options: object = {}) {
      this.options = options;
    }
    on(): this {
      return this;
    }
    destroy(): void {}
  }
  return { Agent, globalAgent: new Agent() };
}

function refuseRequire(id: unknown): never {
  throw refusal(
    { name: 'module', instead: 'Import with a fixed name: everything is bundled before it runs.' },
    `require(${JSON.stringify(String(id))})`,
  );
}

function isIPv4(text: unknown): boolean {
  const parts = String(text).split('.');
  return parts.length === 4 && parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256);
}

declare const URL: { canParse(text: string): boolean };

function isIPv6(text: unknown): boolean {
  const [address = '', zone] = String(text).split('%');
  return (
    (zone === undefined || zone !== '') &&
    /^[0-9a-f:.]+$/i.test(address) &&
    address.includes(':') &&
    URL.canParse(`http://[${address}]/`)
  );
}
