import { HotcellError } from '../../errors/hotcell-error.ts';
import { acceptedCodings } from './content-coding.ts';

/** Headers in order; a name may come more than once. */
export type HeaderList = ReadonlyArray<readonly [name: string, value: string]>;

/** One request on its way, whatever hop it is. */
export interface OutgoingRequest {
  readonly method: string;
  readonly headers: HeaderList;
  readonly body: Uint8Array | undefined;
}

const maxHeaders = 128;
const maxHeaderBytes = 64 * 1024;
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// Latin-1 without control characters; the tab is allowed (RFC 9110, 5.5).
const fieldValue = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

// These headers frame the message or speak to the next hop: the connection is the daemon's, and may serve other calls.
const refused = new Set(
  'host connection content-length transfer-encoding upgrade te trailer keep-alive expect cookie2 http2-settings'.split(' '),
);

/**
 * Checks the headers of a guest and completes them: names in lower case, no line breaks, nothing that frames the message.
 * Throws `network-refused` and names the header.
 */
export function checkRequestHeaders(headers: HeaderList): HeaderList {
  if (headers.length > maxHeaders) throw refuse(`fetch takes at most ${maxHeaders} headers; got ${headers.length}.`);
  let bytes = 0;
  const checked = headers.map(([name, value]): readonly [string, string] => {
    const lower = name.toLowerCase();
    if (name.length > 256 || !token.test(name)) throw refuse(`${JSON.stringify(name.slice(0, 60))} is no name of a header.`);
    if (refused.has(lower) || lower.startsWith('proxy-'))
      throw refuse(`The header ${lower} cannot be set: the daemon writes it.`);
    const trimmed = value.replace(/^[\t ]+|[\t ]+$/g, '');
    if (!fieldValue.test(trimmed)) throw refuse(`The value of the header ${lower} holds a character that no header may hold.`);
    bytes += name.length + trimmed.length + 4;
    return [lower, trimmed];
  });
  if (bytes > maxHeaderBytes) throw refuse(`The headers of a request may have at most ${maxHeaderBytes} bytes.`);
  return addDefaults(checked);
}

function addDefaults(headers: HeaderList): HeaderList {
  const names = new Set(headers.map(([name]) => name));
  const defaults: HeaderList = [
    ['accept', '*/*'],
    ['accept-encoding', acceptedCodings],
    ['user-agent', 'hotcell'],
  ];
  return [...headers, ...defaults.filter(([name]) => !names.has(name))];
}

function refuse(message: string): HotcellError {
  return new HotcellError('network-refused', message, { fix: 'Leave the header out or correct it.' });
}
