import { HotcellError } from '../errors/hotcell-error.ts';
import { hostMatches } from '../permissions/matching.ts';
import { describeBinding } from './binding.ts';
import { listPlaceholdersInBytes } from './placeholders.ts';
import type { ResolvedSecret, SecretRegistry } from './secret-types.ts';

/** A request that is about to be sent, with placeholders in it or not. */
export interface SecretBearer {
  readonly executionId: string;
  readonly url: URL;
  readonly host: string;
  readonly port: number;
  /** The connection is TLS, or does not leave the machine. */
  readonly isPrivate: boolean;
  /** Names in lower case. */
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>;
  readonly body: Uint8Array | undefined;
  /** Whether the plugin may use the secret of that name now. */
  readonly mayUse: (name: string) => boolean;
}

/** The request as it is sent, and whose values are in it. */
export interface SubstitutedRequest {
  readonly url: URL;
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>;
  readonly used: readonly string[];
}

type Book = Pick<SecretRegistry, 'findIn'>;
type Spot = { readonly header: string } | { readonly query: string } | { readonly elsewhere: string };

/**
 * Puts the values in the place of placeholders, each in exactly the header or query parameter that it is bound to. Throws
 * `secret-misplaced` when a placeholder stands anywhere else, in whatever part of the request.
 */
export function substituteSecrets(book: Book, bearer: SecretBearer): SubstitutedRequest {
  const used = new Set<string>();
  const fill = (text: string, spot: Spot): string => {
    let filled = text;
    for (const { placeholder, secret } of book.findIn(bearer.executionId, text)) {
      const { name, value } = admit(secret, bearer, spot);
      used.add(name);
      filled = filled.replaceAll(placeholder, () => value);
    }
    return filled;
  };
  const { url, headers, body } = bearer;
  const { search } = url;
  const sentUrl = fillQuery(url, fill);
  fill(url.href.replace(search, ''), { elsewhere: 'the path of the URL' });
  const sentHeaders = headers.map(([name, value]): readonly [string, string] => {
    fill(name, { elsewhere: 'the name of a header' });
    return [name, fillHeader(value, (text) => fill(text, { header: name }))];
  });
  if (body !== undefined) fill(listPlaceholdersInBytes(body).join(' '), { elsewhere: 'the body' });
  return { url: sentUrl, headers: sentHeaders, used: [...used] };
}

/** Only the values that hold a placeholder are written anew: the rest of the query stays as the guest wrote it. */
function fillQuery(url: URL, fill: (text: string, spot: Spot) => string): URL {
  if (url.search === '') return url;
  const pieces = url.search.slice(1).split('&');
  const filled = pieces.map((piece) => {
    const [[key = '', value = ''] = []] = new URLSearchParams(piece);
    fill(key, { elsewhere: 'the name of a query parameter' });
    const sent = fill(value, { query: key });
    return sent === value ? piece : `${piece.split('=', 1)[0]}=${encodeURIComponent(sent)}`;
  });
  if (filled.every((piece, index) => piece === pieces[index])) return url;
  const sent = new URL(url);
  sent.search = filled.join('&');
  return sent;
}

/** `Basic` carries user and password in base64: it is decoded, filled and encoded again. */
function fillHeader(value: string, fill: (text: string) => string): string {
  const [, scheme, encoded] = /^(basic +)([A-Za-z0-9+/]+={0,2})$/i.exec(value) ?? [];
  if (scheme === undefined || encoded === undefined) return fill(value);
  const decoded = Buffer.from(encoded, 'base64').toString('utf8');
  const filled = fill(decoded);
  return filled === decoded ? value : `${scheme}${Buffer.from(filled, 'utf8').toString('base64')}`;
}

function admit(secret: ResolvedSecret | undefined, bearer: SecretBearer, spot: Spot): ResolvedSecret {
  const place = describeSpot(spot);
  if (secret === undefined) {
    throw new HotcellError('secret-misplaced', `The placeholder in ${place} stands for no secret of this call.`, {
      fix: 'Read the name with context.env.get in the very call that uses it; hotcell secret list shows what there is.',
    });
  }
  const { name, binding } = secret;
  if (!bearer.mayUse(name)) {
    throw refuse(secret, `The secret ${name} is not granted to this plugin any more.`);
  }
  const isInPlace = ('header' in spot && spot.header === binding.header) || ('query' in spot && spot.query === binding.query);
  if (!isInPlace) throw refuse(secret, `The secret ${name} stands in ${place}.`);
  if (!binding.hosts.some((entry) => hostMatches(entry, bearer.host, bearer.port))) {
    throw refuse(secret, `The secret ${name} is not meant for ${bearer.host}:${bearer.port}.`);
  }
  if (!bearer.isPrivate) {
    throw refuse(
      secret,
      `The secret ${name} is sent over TLS or to this machine only, not over ${bearer.url.protocol} to ${bearer.host}.`,
    );
  }
  return secret;
}

function describeSpot(spot: Spot): string {
  if ('header' in spot) return `the header ${spot.header}`;
  return 'query' in spot ? `the query parameter ${JSON.stringify(spot.query.slice(0, 100))}` : spot.elsewhere;
}

function refuse({ name, binding }: ResolvedSecret, sentence: string): HotcellError {
  return new HotcellError('secret-misplaced', `${sentence} Nothing was sent. It is bound to ${describeBinding(binding)}.`, {
    facts: { secret: name },
  });
}
