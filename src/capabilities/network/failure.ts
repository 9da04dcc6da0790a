import { HotcellError } from '../../errors/hotcell-error.ts';
import { readErrorCode } from '../../errors/system-error.ts';

/** Why one fetch ended early. */
export interface FetchWait {
  readonly call: AbortSignal;
  readonly deadline: AbortSignal;
  readonly timeoutMs: number;
}

const sentencesByCode: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refused the connection',
  ECONNRESET: 'closed the connection',
  UND_ERR_SOCKET: 'closed the connection',
  EPIPE: 'closed the connection',
  EHOSTUNREACH: 'cannot be reached from here',
  ENETUNREACH: 'cannot be reached from here',
  ETIMEDOUT: 'did not answer in time',
  UND_ERR_CONNECT_TIMEOUT: 'did not answer in time',
  UND_ERR_HEADERS_TIMEOUT: 'did not answer in time',
  UND_ERR_BODY_TIMEOUT: 'did not answer in time',
  UND_ERR_HEADERS_OVERFLOW: 'sent too many headers',
  Z_DATA_ERROR: 'sent a body that cannot be decoded',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'has a certificate that nobody vouches for',
  SELF_SIGNED_CERT_IN_CHAIN: 'has a certificate that nobody vouches for',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'has a certificate that nobody vouches for',
  CERT_HAS_EXPIRED: 'has a certificate that has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'has a certificate for another name',
};

/** The error that a guest gets when a request failed: a sentence of ours, never the text of a library. */
export function describeFailure(error: unknown, where: string, wait: FetchWait): HotcellError {
  if (error instanceof HotcellError) return error;
  if (wait.call.aborted)
    return new HotcellError('cancelled', `The request to ${where} was cancelled with its call.`, { cause: error });
  if (wait.deadline.aborted) {
    return new HotcellError('network-failed', `${where} did not answer in full within ${wait.timeoutMs} ms.`, {
      cause: error,
      fix: 'Try again, or raise network.timeoutMs in the config.',
    });
  }
  const said = readErrorCode(error) ?? '';
  const code = /^[A-Z0-9_]{1,64}$/.test(said) ? said : 'UNKNOWN';
  const sentence = sentencesByCode[code] ?? `could not be talked to (${code})`;
  return new HotcellError('network-failed', `${where} ${sentence}.`, { cause: error });
}
