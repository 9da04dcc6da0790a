import type { PermissionSet } from '../config/permission-set.ts';
import { isAddressLiteral } from './host-name.ts';
import { globMatches, pathMatches, splitEntry } from './matching.ts';
import { mountOf } from './path-grammar.ts';

const matchersBySet = new WeakMap<PermissionSet, Matchers>();

/** The matchers of a granted set. They are made once for each object, so a set that changed must be another object. */
export function matchersOf(granted: PermissionSet): Matchers {
  const known = matchersBySet.get(granted);
  if (known) return known;
  const made = createMatchers(granted);
  matchersBySet.set(granted, made);
  return made;
}

/** Answers, for one granted set, in about a microsecond whatever its size. */
export type Matchers = ReturnType<typeof createMatchers>;

function createMatchers(granted: PermissionSet) {
  const exact = new Set(granted.net?.filter((entry) => !entry.startsWith('*')));
  const domains = readDomains(granted.net ?? []);
  const env = new Set(granted.env);
  const run = new Set(granted.run);
  const namesHost = (host: string, port: number) => exact.has(host) || (exact.size > 0 && exact.has(`${host}:${port}`));
  return {
    /** True when the grant names this very host, not only a domain above it. */
    namesHost,
    /** `host` as in `normalizeHost`. */
    allowsHost: (host: string, port: number): boolean =>
      namesHost(host, port) || (domains.size > 0 && isBelow(domains, host, port)),
    /** `path` with `/` between names, `.` for the workspace. */
    allowsRead: createPathMatcher(granted.read ?? []),
    allowsWrite: createPathMatcher(granted.write ?? []),
    allowsEnv: (name: string): boolean => env.has(name),
    allowsRun: (command: string): boolean => run.has(command),
    allowsTool: (name: string): boolean => granted.tools?.some((glob) => globMatches(glob, name)) ?? false,
    /** `name` of one of the plugin's own tools: it needs no approval although it is marked isDangerous. */
    allowsDangerous: (name: string): boolean => granted.dangerous?.some((glob) => globMatches(glob, name)) ?? false,
  };
}

/** Wildcard domains without their star, each with the ports it allows; an empty set is every port. */
function readDomains(entries: readonly string[]): ReadonlyMap<string, ReadonlySet<number>> {
  const portsByDomain = new Map<string, Set<number>>();
  for (const entry of entries) {
    if (!entry.startsWith('*')) continue;
    const { name, port } = splitEntry(entry);
    const domain = name.slice(2);
    const ports = portsByDomain.get(domain);
    if (ports === undefined) portsByDomain.set(domain, new Set(port === undefined ? [] : [Number(port)]));
    else if (port === undefined) ports.clear();
    else if (ports.size > 0) ports.add(Number(port));
  }
  return portsByDomain;
}

function isBelow(domains: ReadonlyMap<string, ReadonlySet<number>>, host: string, port: number): boolean {
  if (isAddressLiteral(host)) return false;
  for (let dot = host.indexOf('.'); dot >= 0; dot = host.indexOf('.', dot + 1)) {
    const ports = domains.get(host.slice(dot + 1));
    if (ports !== undefined && (ports.size === 0 || ports.has(port))) return true;
  }
  return false;
}

/** A path is allowed when it, or a folder above it, is in the set: one look-up a folder, however many prefixes there are. */
function createPathMatcher(prefixes: readonly string[]): (path: string) => boolean {
  if (prefixes.length === 1 && prefixes[0] === '.') return (path) => mountOf(path) === undefined;
  if (prefixes.length <= 2) return (path) => prefixes.some((prefix) => pathMatches(prefix, path));
  const allowed = new Set(prefixes.map((prefix) => prefix.replace(/\/$/, '')));
  const isAllWorkspace = allowed.has('.');
  return (path) => {
    if (isAllWorkspace && mountOf(path) === undefined) return true;
    for (let end = path.endsWith('/') ? path.length - 1 : path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
      if (allowed.has(path.slice(0, end))) return true;
    }
    return false;
  };
}
