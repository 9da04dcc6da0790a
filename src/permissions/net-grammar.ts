import { isIP } from 'node:net';
import { isAddressLiteral, normalizeHost } from './host-name.ts';

/** One `net` entry in its one spelling, or the reason of its refusal, which ends a sentence about the entry. */
export type NetEntry = { readonly ok: true; readonly entry: string } | { readonly ok: false; readonly reason: string };

const parts = /^(?<host>\[[^\]]*\]|[^:[\]]*)(?::(?<port>\d{1,5}))?$/;

/** Reads `api.example.com`, `api.example.com:8443`, `*.example.com`, `10.0.0.5`, `[::1]:80`. */
export function parseNetEntry(text: string): NetEntry {
  const fault = findForeignForm(text);
  if (fault !== undefined) return refuse(fault);
  const { host: written = '', port } = parts.exec(text)?.groups ?? {};
  if (written === '') return refuse('is no host; write it as api.example.com or api.example.com:8443');
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) return refuse('has a port outside 1 to 65535');
  const suffix = port === undefined ? '' : `:${Number(port)}`;
  return written.includes('*') ? parseWildcard(written, suffix) : parseHost(written, suffix);
}

function findForeignForm(text: string): string | undefined {
  if (text === '') return 'is empty; write a host such as api.example.com';
  if (/\s/.test(text)) return 'holds white space; write one host an entry';
  if (text.includes('://')) return 'holds a scheme; write the host alone, such as api.example.com';
  if (text.includes('@')) return 'holds user-info; write the host alone, such as api.example.com';
  if (/[/\\?#]/.test(text)) return 'holds a path; write the host alone, such as api.example.com';
  if (text === '*' || text.startsWith('*:')) return 'is every host; name the hosts, or a domain as *.example.com';
  if (isIP(text) === 6) return `is IPv6 without brackets; write it as [${text}]`;
  if (text.includes('%')) return 'holds a zone or an encoded character; write the plain host';
  return undefined;
}

function parseWildcard(written: string, suffix: string): NetEntry {
  const domain = written.startsWith('*.') ? normalizeHost(written.slice(2)) : undefined;
  if (domain === undefined || isAddressLiteral(domain)) {
    return refuse('has a wildcard in the wrong place; write it as *.example.com');
  }
  if (!domain.includes('.')) return refuse('is a whole top-level domain; write it as *.example.com');
  return { ok: true, entry: `*.${domain}${suffix}` };
}

function parseHost(written: string, suffix: string): NetEntry {
  const host = normalizeHost(written);
  if (host === undefined) return refuse('is no host; write it as api.example.com, 203.0.113.7 or [2001:db8::7]');
  // A grant is read by people: an address in hex or octal would hide what it allows.
  if (!host.startsWith('[') && isIP(host) === 4 && host !== written)
    return refuse(`is an address in disguise; write it as ${host}`);
  return { ok: true, entry: `${host}${suffix}` };
}

function refuse(reason: string): NetEntry {
  return { ok: false, reason };
}
