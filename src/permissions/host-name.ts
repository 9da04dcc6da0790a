import { isIPv4 } from 'node:net';

const maxHostChars = 253;
const label = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/**
 * The one spelling of a host: WHATWG URL parsing (IDN to ASCII, `0x7f.1` to `127.0.0.1`, IPv6 shortened), then one
 * trailing dot dropped. Undefined for what is no host. IPv6 comes and goes in brackets; zones are no host.
 */
export function normalizeHost(text: string): string | undefined {
  if (text === '' || /[\s/\\?#@%]/.test(text)) return undefined;
  const bracketed = text.startsWith('[');
  if (bracketed !== text.endsWith(']') || (!bracketed && text.includes(':'))) return undefined;
  const url = URL.parse(`http://${text}/`);
  if (url === null) return undefined;
  return bracketed ? url.hostname : checkName(url.hostname.replace(/\.$/, ''));
}

/** True for dotted IPv4 and bracketed IPv6. */
export function isAddressLiteral(host: string): boolean {
  return host.startsWith('[') || isIPv4(host);
}

function checkName(name: string): string | undefined {
  if (name.length > maxHostChars) return undefined;
  return name.split('.').every((part) => label.test(part)) ? name : undefined;
}
