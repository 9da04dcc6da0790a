import { isAddressLiteral } from './host-name.ts';
import { mountOf } from './path-grammar.ts';

/**
 * True when a `net` entry allows a host on a port. An entry without a port allows every port; `*.example.com` allows
 * what is below `example.com` at any depth, not itself, and never an address. All in the spelling of `parseNetEntry`.
 */
export function hostMatches(entry: string, host: string, port: number): boolean {
  const { name, port: allowedPort } = splitEntry(entry);
  if (allowedPort !== undefined && allowedPort !== String(port)) return false;
  return nameCovers(name, host);
}

/** True when every host and port that the `requested` entry allows is allowed by the `granted` one. */
export function netEntryCovers(granted: string, requested: string): boolean {
  const wide = splitEntry(granted);
  const narrow = splitEntry(requested);
  if (wide.port !== undefined && wide.port !== narrow.port) return false;
  if (!narrow.name.startsWith('*')) return nameCovers(wide.name, narrow.name);
  return wide.name === narrow.name || (wide.name.startsWith('*') && narrow.name.endsWith(wide.name.slice(1)));
}

/**
 * True when `path` is `prefix` or lies in it; `.` is the whole workspace and `docs:/` a whole mount. Both as
 * `parsePermissions` spells them.
 */
export function pathMatches(prefix: string, path: string): boolean {
  if (prefix === '.') return mountOf(path) === undefined;
  return path === prefix || (path.startsWith(prefix) && (prefix.endsWith('/') || path[prefix.length] === '/'));
}

/**
 * True when a glob, in which `*` stands for any text, matches a name. At worst quadratic: only the last `*` is
 * tried again. A name that holds `*` is matched as text, so a glob that matches a glob also covers it.
 */
export function globMatches(glob: string, name: string): boolean {
  let at = 0;
  let inGlob = 0;
  let star = -1;
  let afterStar = 0;
  while (at < name.length) {
    if (glob[inGlob] === '*') {
      star = inGlob++;
      afterStar = at;
    } else if (inGlob < glob.length && glob[inGlob] === name[at]) {
      inGlob++;
      at++;
    } else if (star >= 0) {
      inGlob = star + 1;
      at = ++afterStar;
    } else {
      return false;
    }
  }
  while (glob[inGlob] === '*') inGlob++;
  return inGlob === glob.length;
}

/** The host and the port of a `net` entry. */
export function splitEntry(entry: string): { readonly name: string; readonly port: string | undefined } {
  const colon = entry.lastIndexOf(':');
  if (colon <= entry.lastIndexOf(']')) return { name: entry, port: undefined };
  return { name: entry.slice(0, colon), port: entry.slice(colon + 1) };
}

function nameCovers(name: string, host: string): boolean {
  if (!name.startsWith('*')) return name === host;
  return host.length > name.length - 1 && host.endsWith(name.slice(1)) && !isAddressLiteral(host);
}
