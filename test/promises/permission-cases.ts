import type { ErrorCode } from '../../src/errors/catalog.ts';

/**
 * Attacks on the network and file permissions as data, so that every engine can run them. In what a case holds, `PORT`
 * stands for the port of a server that the test started on 127.0.0.1 (and, where it can, on ::1) and that answers `hello`.
 * Every denial has a twin: the grant with which the very same place answers, unless nothing may ever open it.
 */

/** Net entries of a grant. */
type Net = readonly string[];

/** A place that a guest wants to reach: over fetch as `http://<place>/`, over a bare connection as host and port. */
export interface NetworkCase {
  readonly what: string;
  /** Host and port, the host in the spelling of the attack. */
  readonly place: string;
  /** What names mean: one list of addresses for each time that somebody asks; the last one stays. */
  readonly names?: Readonly<Record<string, readonly (readonly string[])[]>>;
  readonly granted: Net;
  readonly expected: ErrorCode;
  /** The grant that opens the place; absent when none does. */
  readonly allowedBy?: Net;
  /** The server must listen on ::1. */
  readonly needsIPv6?: true;
}

const elsewhere: Net = ['*.example.com', '127.0.0.9', 'localhost:1'];
const loopback: Net = ['127.0.0.1'];

/** Loopback in every spelling: nobody granted it, and the grant of the one right spelling opens all of them. */
const spellings: readonly NetworkCase[] = [
  ['dotted', '127.0.0.1'],
  ['decimal', '2130706433'],
  ['hexadecimal', '0x7f000001'],
  ['hexadecimal by part', '0x7f.0x0.0x0.0x1'],
  ['octal', '0177.0.0.1'],
  ['octal in one', '017700000001'],
  ['short', '127.1'],
  ['mixed', '0x7f.0.1'],
  ['in full-width digits', '１２７.０.０.１'],
  ['with an ideographic full stop', '127。0。0。1'],
  ['with a trailing dot', '127.0.0.1.'],
].map(([form, host]) => ({
  what: `loopback written ${form}`,
  place: `${host}:PORT`,
  granted: elsewhere,
  expected: 'permission-denied',
  allowedBy: loopback,
}));

const ipv6: readonly NetworkCase[] = [
  {
    what: 'IPv4 mapped into IPv6 where the IPv4 address is granted',
    place: '[::ffff:127.0.0.1]:PORT',
    granted: loopback,
    expected: 'permission-denied',
    allowedBy: ['[::ffff:7f00:1]'],
  },
  {
    what: 'IPv4 mapped into IPv6, in hexadecimal',
    place: '[::ffff:7f00:1]:PORT',
    granted: loopback,
    expected: 'permission-denied',
    allowedBy: ['[::ffff:7f00:1]'],
  },
  {
    what: 'a name whose address is IPv4 mapped into IPv6',
    place: 'mapped.test:PORT',
    names: { 'mapped.test': [['::ffff:127.0.0.1']] },
    granted: ['mapped.test', '127.0.0.1'],
    expected: 'network-refused',
    allowedBy: ['mapped.test', '[::ffff:7f00:1]'],
  },
  {
    what: 'IPv6 loopback in full where only IPv4 and the name are granted',
    place: '[0:0:0:0:0:0:0:1]:PORT',
    granted: ['127.0.0.1', 'localhost'],
    expected: 'permission-denied',
    allowedBy: ['[::1]'],
    needsIPv6: true,
  },
  { what: 'an IPv6 zone', place: '[fe80::1%25eth0]:PORT', granted: ['[fe80::1]'], expected: 'network-refused' },
  {
    what: 'a name whose address has a zone',
    place: 'zone.test:PORT',
    names: { 'zone.test': [['fe80::1%eth0']] },
    granted: ['zone.test', '[fe80::1]'],
    expected: 'network-refused',
  },
  {
    what: 'IPv4 in IPv6 for translators (NAT64)',
    place: 'nat.test:PORT',
    names: { 'nat.test': [['64:ff9b::7f00:1']] },
    granted: ['nat.test', '127.0.0.1'],
    expected: 'network-refused',
  },
  {
    what: 'IPv4 in IPv6 by 6to4',
    place: '6to4.test:PORT',
    names: { '6to4.test': [['2002:7f00:1::']] },
    granted: ['6to4.test', '127.0.0.1'],
    expected: 'network-refused',
  },
];

const names: readonly NetworkCase[] = [
  {
    what: 'a granted name that is private',
    place: 'inside.example.com:PORT',
    names: { 'inside.example.com': [['127.0.0.1']] },
    granted: ['inside.example.com', '*.example.com'],
    expected: 'network-refused',
    allowedBy: ['inside.example.com', '127.0.0.1'],
  },
  {
    what: 'a name with one private address among public ones',
    place: 'mixed.test:PORT',
    names: { 'mixed.test': [['127.0.0.1', '10.0.0.1']] },
    granted: ['mixed.test', '127.0.0.1'],
    expected: 'network-refused',
    allowedBy: ['mixed.test', '127.0.0.1', '10.0.0.1'],
  },
  {
    what: 'a name without an address',
    place: 'none.test:PORT',
    names: { 'none.test': [[]] },
    granted: ['none.test'],
    expected: 'network-failed',
  },
  {
    what: 'a name below localhost that leads elsewhere',
    place: 'app.localhost:PORT',
    names: { 'app.localhost': [['10.0.0.1']] },
    granted: ['app.localhost'],
    expected: 'network-refused',
  },
  {
    what: 'localhost in capitals and with a trailing dot',
    place: 'LOCALHOST.:PORT',
    names: { localhost: [['127.0.0.1']] },
    granted: ['*.localhost.test'],
    expected: 'permission-denied',
    allowedBy: ['localhost'],
  },
  {
    what: 'an international name that only looks like the granted one',
    place: 'BÜCHER.test:PORT',
    names: { 'xn--bcher-kva.test': [['127.0.0.1']] },
    granted: ['bucher.test', '127.0.0.1'],
    expected: 'permission-denied',
    allowedBy: ['bücher.test', '127.0.0.1'],
  },
  {
    what: 'a name that ends like the granted one',
    place: 'evil-example.com:PORT',
    names: { 'evil-example.com': [['127.0.0.1']] },
    granted: ['*.example.com', 'example.com', '127.0.0.1'],
    expected: 'permission-denied',
    allowedBy: ['evil-example.com', '127.0.0.1'],
  },
  {
    what: 'another port than the granted one',
    place: '127.0.0.1:PORT',
    granted: ['127.0.0.1:1'],
    expected: 'permission-denied',
    allowedBy: ['127.0.0.1:PORT'],
  },
  {
    what: 'a port of another protocol that the grant does not name',
    place: '127.0.0.1:6667',
    granted: ['127.0.0.1'],
    expected: 'network-refused',
  },
];

/** Answers that change between check and connect: whoever resolves again later gets 127.0.0.1, where the server listens. */
const changing: readonly NetworkCase[] = [
  {
    what: 'a name that means this machine only after it was checked',
    place: 'rebind.test:PORT',
    names: { 'rebind.test': [['0.0.0.1'], ['127.0.0.1']] },
    granted: ['rebind.test', '0.0.0.1'],
    expected: 'network-failed',
    allowedBy: ['rebind.test', '127.0.0.1'],
  },
];

const metadata: readonly NetworkCase[] = [
  '169.254.169.254',
  '100.100.100.200',
  '168.63.129.16',
  'fd00:ec2::254',
  '0.0.0.0',
  '::',
].map((address) => ({
  what: `a name that leads to ${address}`,
  place: 'meta.test:PORT',
  names: { 'meta.test': [[address]] },
  granted: ['meta.test', '*.meta.test'],
  expected: 'network-refused',
}));

/** Places that no grant of the case opens. */
export const networkCases: readonly NetworkCase[] = [...spellings, ...ipv6, ...names, ...changing, ...metadata];

/** Whole URLs and requests, for guests that send HTTP: what is wrong lies beside the host. */
export interface RequestCase {
  readonly what: string;
  readonly url: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly expected: ErrorCode;
}

const open = 'http://127.0.0.1:PORT/';

/** All of them with `net: ['127.0.0.1', 'example.com']` granted; the twin of each is a plain GET of `http://127.0.0.1:PORT/`. */
export const requestCases: readonly RequestCase[] = [
  { what: 'a file', url: 'file:///etc/passwd', expected: 'network-refused' },
  { what: 'data', url: 'data:text/plain,hi', expected: 'network-refused' },
  { what: 'another protocol', url: 'gopher://127.0.0.1:PORT/', expected: 'network-refused' },
  { what: 'user-info that looks like the host', url: 'http://example.com@127.0.0.1:PORT/', expected: 'network-refused' },
  { what: 'user-info with a password', url: 'http://example.com:80@127.0.0.1:PORT/', expected: 'network-refused' },
  { what: 'a backslash before user-info', url: 'http://10.0.0.1\\@example.com/', expected: 'permission-denied' },
  { what: 'a line break in a header', url: open, headers: [['x-a', 'b\r\nx-injected: 1']], expected: 'network-refused' },
  { what: 'a line break in the name of a header', url: open, headers: [['x-a\r\nhost', 'b']], expected: 'network-refused' },
  {
    what: 'a header that frames the message',
    url: open,
    headers: [['transfer-encoding', 'chunked']],
    expected: 'network-refused',
  },
  { what: 'a length of its own', url: open, headers: [['content-length', '0']], expected: 'network-refused' },
  { what: 'a hop-by-hop header', url: open, headers: [['connection', 'upgrade']], expected: 'network-refused' },
  { what: 'a header for a proxy', url: open, headers: [['proxy-authorization', 'x']], expected: 'network-refused' },
  { what: 'another host than that of the URL', url: open, headers: [['host', 'inside']], expected: 'network-refused' },
];

/** Where a server sends a guest that was granted `net: ['127.0.0.1']`; the twin is `http://127.0.0.1:PORT/there`. */
export const redirectCases: readonly { readonly what: string; readonly location: string; readonly expected: ErrorCode }[] = [
  { what: 'a private address', location: 'http://10.0.0.1/', expected: 'permission-denied' },
  { what: 'where a cloud keeps its metadata', location: 'http://169.254.169.254/latest/', expected: 'permission-denied' },
  { what: 'IPv6 loopback', location: 'http://[::1]:PORT/', expected: 'permission-denied' },
  { what: 'an address in decimal, without a protocol', location: '//2130706434:PORT/', expected: 'permission-denied' },
  { what: 'a name of this machine', location: 'http://localhost:PORT/', expected: 'permission-denied' },
  { what: 'a file', location: 'file:///etc/passwd', expected: 'network-refused' },
  { what: 'data', location: 'data:,x', expected: 'network-refused' },
  { what: 'user-info', location: 'http://user:pw@127.0.0.1:PORT/', expected: 'network-refused' },
];

/** Paths in a workspace that are refused whatever is granted, and a path that the grant `['.']` opens. */
export const refusedPaths: readonly string[] = [
  '../x', 'a/../../x', '..', '/etc/passwd', '//etc/passwd', 'C:\\x', 'c:/x', 'a\\..\\x', '..\\x', 'a\0b', 'a\nb', '~/x', '',
  '%2e%2e/x', '%2E%2e%2fx', 'a%2fb', 'a%5cb', 'x%00', '.env', '.ENV', '.Env.local', 'a/.git/config', '.GIT', '.ssh/id',
  '.hotcell/token', '.codex', 'secrets', 'SECRETS/x', 'a/Secrets', '.env ', '.env.', '.env::$DATA', '.gi\u200Bt', '.ｅｎｖ',
  'a/'.repeat(40), 'n'.repeat(256), 'é'.repeat(128), 'p/'.repeat(600), `${'./'.repeat(600)}x`, '\ud800',
]; // biome-ignore format: a list of attacks

/** The twin of `refusedPaths`. */
export const allowedPath = 'a/env';

/** Puts the port of the test's server in. */
export function withPort<Value>(value: Value, port: number): Value {
  return JSON.parse(JSON.stringify(value).replaceAll('PORT', String(port)));
}

/** A resolver for `names`: every look-up of a name gets its next answer. Names that are not there have no address. */
export function resolveNames(names: NetworkCase['names'] = {}): (host: string) => Promise<readonly string[]> {
  const asked = new Map<string, number>();
  return async (host) => {
    const answers = names[host] ?? [];
    const turn = asked.get(host) ?? 0;
    asked.set(host, turn + 1);
    return answers[Math.min(turn, answers.length - 1)] ?? [];
  };
}
