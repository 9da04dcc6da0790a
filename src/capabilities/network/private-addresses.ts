import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** What an address is, as far as the network check cares. */
export type AddressVerdict =
  | { readonly kind: 'public'; readonly literal: string }
  | { readonly kind: 'special'; readonly literal: string; readonly range: string }
  | { readonly kind: 'invalid' };

// Addresses in public ranges that answer only inside a cloud: Azure's and Oracle's hosts for the machines they run.
const metadataAddresses = new Set(['168.63.129.16', '192.0.0.192']);

const rangeNames: Readonly<Record<string, string>> = {
  private: 'a private network',
  uniqueLocal: 'a private network',
  loopback: 'this machine',
  linkLocal: 'link-local, where clouds keep their metadata',
  carrierGradeNat: 'a carrier network',
  multicast: 'multicast',
  broadcast: 'broadcast',
  unspecified: 'this network',
  ipv4Mapped: 'IPv4 inside IPv6',
  rfc6145: 'IPv4 inside IPv6',
  rfc6052: 'IPv4 inside IPv6',
  '6to4': 'IPv4 inside IPv6',
  teredo: 'IPv4 inside IPv6',
  isatap: 'IPv4 inside IPv6',
  metadata: 'where a cloud keeps its metadata',
};

/**
 * Sorts one address, as a resolver or a URL writes it (brackets allowed). Only globally reachable unicast is `public`;
 * everything else, known or not, is `special`: private, loopback, link-local, carrier NAT, multicast, reserved,
 * documentation, and IPv4 carried inside IPv6 (mapped, compatible, NAT64, 6to4, Teredo, ISATAP). Zones are `invalid`.
 */
export function judgeAddress(text: string): AddressVerdict {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  const version = isIP(bare);
  if (version === 0 || bare.includes('%')) return { kind: 'invalid' };
  return version === 4 ? judgeIPv4(ipaddr.IPv4.parse(bare)) : judgeIPv6(ipaddr.IPv6.parse(bare));
}

function judgeIPv4(address: ipaddr.IPv4): AddressVerdict {
  const literal = address.toString();
  if (metadataAddresses.has(literal)) return special(literal, 'metadata');
  const range = address.range();
  return range === 'unicast' ? { kind: 'public', literal } : special(literal, range);
}

function judgeIPv6(address: ipaddr.IPv6): AddressVerdict {
  const literal = new URL(`http://[${address.toString()}]`).hostname;
  const range = address.range();
  if (range !== 'unicast') return special(literal, range);
  const [first = 0, , , , marker = 0, isatap = 0] = address.parts;
  // 2000::/3 is all that was ever given out as global unicast.
  if (first >> 13 !== 1) return special(literal, 'reserved');
  if (isatap === 0x5efe && (marker & 0xfdff) === 0) return special(literal, 'isatap');
  return { kind: 'public', literal };
}

function special(literal: string, range: string): AddressVerdict {
  return { kind: 'special', literal, range: rangeNames[range] ?? 'reserved' };
}
