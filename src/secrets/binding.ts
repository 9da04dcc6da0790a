import { parseNetEntry } from '../permissions/net-grammar.ts';
import type { SecretBinding } from './secret-types.ts';

/** A binding as somebody wrote it. */
export interface WrittenBinding {
  readonly hosts: readonly string[];
  readonly header?: string | undefined;
  readonly query?: string | undefined;
}

/** What was read, or why not: a clause that follows the name of the secret. */
export type ReadBinding =
  | { readonly ok: true; readonly binding: SecretBinding }
  | { readonly ok: false; readonly reason: string };

const maxHosts = 32;
const shortestValue = 8;
const maxValueChars = 4096;
const headerName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,256}$/;

/** Reads where a secret may go. */
export function readBinding({ hosts, header, query }: WrittenBinding): ReadBinding {
  if ((header === undefined) === (query === undefined)) {
    return { ok: false, reason: 'needs either a header or a query parameter, in which alone it is sent' };
  }
  if (header !== undefined && !headerName.test(header)) return { ok: false, reason: 'has a header that is no name of a header' };
  if (query !== undefined && !/^[^\p{Cc}]{1,128}$/u.test(query)) {
    return { ok: false, reason: 'has a query parameter that is empty, too long or holds control characters' };
  }
  if (hosts.length === 0 || hosts.length > maxHosts) {
    return { ok: false, reason: `needs one to ${maxHosts} hosts to which it may go` };
  }
  const entries: string[] = [];
  for (const host of hosts) {
    const read = parseNetEntry(host);
    if (!read.ok) return { ok: false, reason: `has the host "${host.slice(0, 100)}", which ${read.reason}` };
    if (!entries.includes(read.entry)) entries.push(read.entry);
  }
  const place = header === undefined ? { query: query ?? '' } : { header: header.toLowerCase() };
  return { ok: true, binding: { hosts: entries, ...place } };
}

/** Why a name cannot be that of a secret, as a clause; undefined when it can. */
export function findNameFault(name: string): string | undefined {
  if (/^HOTCELL_/i.test(name)) return 'belongs to the daemon; choose another name';
  if (/^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/.test(name)) return undefined;
  return 'is no name for a secret; write it as API_KEY';
}

/** Why a value cannot be used, as a clause that does not hold it; undefined when it can. */
export function findValueFault(value: string, binding: SecretBinding): string | undefined {
  // What is shorter stands in ordinary text by chance, and would be taken out of it.
  if (value.length < shortestValue) return `has a value of ${value.length} characters; it needs at least ${shortestValue}`;
  if (value.length > maxValueChars) return `has a value of ${value.length} characters; it may have at most ${maxValueChars}`;
  if (/\p{Cc}/u.test(value)) return 'has a value with a line break or another control character';
  if (value !== value.trim()) return 'has a value that begins or ends with white space';
  if (!value.isWellFormed()) return 'has a value that is no well-formed text';
  if (binding.header !== undefined && /[^ -~]/.test(value)) return 'has a value with characters that no header may hold';
  return undefined;
}

/** Where a secret goes, for people: `the header x-api-key of requests to api.example.com`. */
export function describeBinding({ hosts, header, query }: SecretBinding): string {
  const place = header === undefined ? `the query parameter ${JSON.stringify(query)}` : `the header ${header}`;
  return `${place} of requests to ${hosts.join(', ')}`;
}
