import { HotcellError } from '../../errors/hotcell-error.ts';
import { normalizeHost } from '../../permissions/host-name.ts';

/** Where a URL points, before anything is known of addresses. */
export interface Destination {
  readonly url: URL;
  /** In the spelling of `normalizeHost`. */
  readonly host: string;
  readonly port: number;
}

const maxUrlChars = 16_384;

// The ports that the fetch standard blocks: other protocols listen there and can be fooled by an HTTP request.
const blockedPorts = new Set(
  [
    [1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110, 111, 113],
    [115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556],
    [563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667],
    [6668, 6669, 6679, 6697, 10080],
  ].flat(),
);

/**
 * Reads a URL, relative to `base` when there is one: `http:` or `https:`, no user-info, a host in its one spelling.
 * Throws `network-refused`.
 */
export function parseDestination(text: string, base?: URL): Destination {
  const url = text.length > maxUrlChars ? null : URL.parse(text, base?.href);
  if (url === null)
    throw refuse(
      `fetch needs an absolute URL of at most ${maxUrlChars} characters.`,
      'Pass a URL such as https://api.example.com/v1.',
    );
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw refuse(`fetch does not open ${url.protocol} URLs.`, 'Use an http: or https: URL.');
  }
  if (url.username !== '' || url.password !== '') {
    throw refuse('fetch does not take user-info in a URL.', 'Send it in the authorization header.');
  }
  const host = normalizeHost(url.hostname);
  if (host === undefined)
    throw refuse('fetch cannot read the host of the URL.', 'Pass a URL such as https://api.example.com/v1.');
  // Name with and without trailing dot are one host to DNS; so they are to grants, certificates and the Host header.
  url.hostname = host;
  return { url, host, port: url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port) };
}

/** True for a port that only a grant with that very port opens. */
export function isBlockedPort(port: number): boolean {
  return blockedPorts.has(port);
}

function refuse(message: string, fix: string): HotcellError {
  return new HotcellError('network-refused', message, { fix });
}
