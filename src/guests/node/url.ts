/** node:url: the global classes, file URLs, and the old parse, format and resolve. */
import type { URL as UrlClass } from '../cell/web/url/url.ts';
import type { URLSearchParams as ParamsClass } from '../cell/web/url/url-search-params.ts';
import { nodeError, wrongType } from './node-error.ts';
import { parse as parseQuery, stringify } from './querystring.ts';

type UrlParts = Record<
  'href' | 'protocol' | 'username' | 'password' | 'host' | 'hostname' | 'port' | 'pathname' | 'search' | 'hash',
  string
>;

export const URL: typeof UrlClass = Reflect.get(globalThis, 'URL');
export const URLSearchParams: typeof ParamsClass = Reflect.get(globalThis, 'URLSearchParams');

const slashedProtocols = /^(https?|ftp|gopher|wss?|file):$/;

/** What the old `url.parse` returns. */
export interface ParsedUrl {
  protocol: string | null;
  slashes: boolean | null;
  auth: string | null;
  host: string | null;
  port: string | null;
  hostname: string | null;
  hash: string | null;
  search: string | null;
  query: string | Record<string, unknown> | null;
  pathname: string | null;
  path: string | null;
  href: string;
}

export function parse(url: string, asObject = false, slashesDenoteHost = false): ParsedUrl {
  if (typeof url !== 'string') throw wrongType('url', 'of type string', url);
  const [, protocol, rest = ''] = /^([a-z][a-z\d+.-]*:)?(.*)$/is.exec(url.trim()) ?? [];
  const scheme = protocol?.toLowerCase() ?? '';
  const isWeb = slashedProtocols.test(scheme);
  const slashes = scheme !== 'javascript:' && rest.startsWith('//') && (scheme !== '' || slashesDenoteHost);
  // `mailto:a@b.c` has a host without slashes; `http:x` and `/x` have none.
  const hasHost = slashes || (scheme !== '' && !isWeb && scheme !== 'javascript:');
  const [, authority, pathname, search, hash] =
    /^([^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(slashes ? rest.slice(2) : hasHost ? rest : `/${rest}`) ?? [];
  const pieces = { scheme, slashes, isWeb, search, hash };
  return describeUrl(
    hasHost ? { ...pieces, authority, pathname } : { ...pieces, authority: undefined, pathname: pathname?.slice(1) },
    asObject,
  );
}

/** A URL cut at its marks. */
interface Pieces {
  readonly scheme: string;
  readonly slashes: boolean;
  readonly isWeb: boolean;
  readonly authority: string | undefined;
  readonly pathname: string | undefined;
  readonly search: string | undefined;
  readonly hash: string | undefined;
}

function describeUrl({ scheme, slashes, isWeb, authority, pathname, search, hash }: Pieces, asObject: boolean): ParsedUrl {
  const at = authority?.lastIndexOf('@') ?? -1;
  const [, hostname, port] = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/.exec((authority ?? '').slice(at + 1).toLowerCase()) ?? [];
  const path = pathname || (isWeb && slashes ? '/' : '');
  const parsed: ParsedUrl = {
    protocol: scheme || null,
    slashes: slashes ? true : null,
    auth: authority !== undefined && at >= 0 ? decodeURIComponent(authority.slice(0, at)) : null,
    host: hostname === undefined || authority === undefined ? null : `${hostname}${port ? `:${port}` : ''}`,
    port: port || null,
    hostname: authority === undefined ? null : (hostname?.replace(/^\[|\]$/g, '') ?? null),
    hash: hash ?? null,
    search: search ?? (asObject ? '' : null),
    query: asObject ? parseQuery(search?.slice(1) ?? '') : (search?.slice(1) ?? null),
    pathname: path || null,
    path: path || search ? `${path}${search ?? ''}` : null,
    href: '',
  };
  parsed.href = format(parsed);
  return parsed;
}

export function format(url: string | object, options: { auth?: boolean; fragment?: boolean; search?: boolean } = {}): string {
  if (typeof url === 'string') return parse(url).href;
  if (url instanceof URL) return formatUrl(url, options);
  const { protocol, slashes, auth, host, hostname, port, pathname, search, query, hash } = url as Partial<ParsedUrl>;
  const scheme = protocol ? (protocol.endsWith(':') ? protocol : `${protocol}:`) : '';
  const place =
    host ?? (hostname ? `${hostname.includes(':') ? `[${hostname}]` : hostname}${port ? `:${port}` : ''}` : undefined);
  const isWeb = slashedProtocols.test(scheme);
  const prefix = place !== undefined && (slashes || isWeb || scheme === '') ? '//' : '';
  const user = auth ? `${encodeURIComponent(auth).replace(/%3A/i, ':')}@` : '';
  const path = (pathname ?? '').replace(/[?#]/g, encodeURIComponent);
  const queryText =
    search ?? (typeof query === 'object' && query !== null && Object.keys(query).length > 0 ? `?${stringify(query)}` : '');
  const authority = place === undefined || place === null ? (slashes ? '//' : '') : `${prefix}${user}${place}`;
  const joint = authority !== '' && path !== '' && !path.startsWith('/') ? '/' : '';
  return `${scheme}${authority}${joint}${path}${mark('?', queryText)}${mark('#', hash ?? '')}`;
}

export function resolve(from: string, to: string): string {
  const base = new URL(from, 'resolve://');
  const resolved = new URL(to, base.href);
  const { protocol, pathname, search, hash } = resolved as unknown as UrlParts;
  return protocol === 'resolve:' ? `${pathname}${search}${hash}` : resolved.href;
}

export function fileURLToPath(url: unknown): string {
  const { protocol, hostname, pathname } = new URL(typeof url === 'string' ? url : String(url)) as unknown as UrlParts;
  if (protocol !== 'file:') throw nodeError(TypeError, 'ERR_INVALID_URL_SCHEME', 'The URL must be of scheme file');
  if (hostname !== '') throw nodeError(TypeError, 'ERR_INVALID_FILE_URL_HOST', 'File URL host must be "localhost" or empty');
  if (/%2f/i.test(pathname))
    throw nodeError(TypeError, 'ERR_INVALID_FILE_URL_PATH', 'File URL path must not include encoded / characters');
  return decodeURIComponent(pathname);
}

export function pathToFileURL(path: string): UrlClass {
  const absolute = path.startsWith('/') ? path : `/${path}`;
  return new URL(`file://${encodeURI(absolute).replace(/[?#\\]/g, encodeURIComponent)}`);
}

export function domainToASCII(domain: string): string {
  const url = URL.parse(`http://${domain}`);
  return url ? (url as unknown as UrlParts).hostname : '';
}

export function urlToHttpOptions(url: UrlClass): Record<string, unknown> {
  const { protocol, hostname, hash, search, pathname, href, port, username, password } = url as unknown as UrlParts;
  return {
    protocol,
    hostname: hostname.replace(/^\[|\]$/g, ''),
    hash,
    search,
    pathname,
    path: `${pathname}${search}`,
    href,
    ...(port === '' ? {} : { port: Number(port) }),
    ...(username || password ? { auth: `${decodeURIComponent(username)}:${decodeURIComponent(password)}` } : {}),
  };
}

function formatUrl(
  url: UrlClass,
  { auth = true, fragment = true, search = true }: { auth?: boolean; fragment?: boolean; search?: boolean },
): string {
  const copy = new URL(url.href) as unknown as UrlParts;
  if (!auth) Object.assign(copy, { username: '', password: '' });
  if (!fragment) copy.hash = '';
  if (!search) copy.search = '';
  return copy.href;
}

function mark(sign: string, text: string): string {
  return text === '' || text.startsWith(sign) ? text : `${sign}${text}`;
}
