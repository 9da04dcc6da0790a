import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { HotcellError } from '../errors/hotcell-error.ts';

/** An error of ours in the words of the protocol. */
export function toProtocolError(error: HotcellError): ProtocolError {
  const code = error.status >= 500 ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams;
  return new ProtocolError(code, `${error.message} ${error.fix}`, { code: error.code, ...error.facts });
}
