/** Frames of RFC 6455, as a client writes and reads them. */
import { Buffer } from 'node:buffer';

/** What a frame is. */
export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** A whole message, or a control frame. */
export interface SocketMessage {
  readonly opcode: number;
  readonly payload: Buffer;
}

/** The peer did not keep to the protocol; `code` is what the close frame says. */
export class ProtocolError extends Error {
  readonly code: number;

  constructor(message: string, code = 1002) {
    super(message);
    this.code = code;
  }
}

const maxMessageBytes = 64 * 1024 * 1024;
const maxControlBytes = 125;

/** A message in one masked frame. */
export function encodeMessage(opcode: number, payload: Uint8Array): Buffer {
  const { length } = payload;
  const lengthBytes = length < 126 ? 0 : length < 65_536 ? 2 : 8;
  const frame = Buffer.alloc(2 + lengthBytes + 4 + length);
  frame[0] = 0x80 | opcode;
  frame[1] = 0x80 | (lengthBytes === 0 ? length : lengthBytes === 2 ? 126 : 127);
  if (lengthBytes === 2) frame.writeUInt16BE(length, 2);
  if (lengthBytes === 8) frame.writeBigUInt64BE(BigInt(length), 2);
  const mask = Buffer.from(crypto.getRandomValues(new Uint8Array(4)));
  const maskAt = 2 + lengthBytes;
  mask.copy(frame, maskAt);
  for (let at = 0; at < length; at++) frame[maskAt + 4 + at] = (payload[at] ?? 0) ^ (mask[at & 3] ?? 0);
  return frame;
}

/** Reads messages out of chunks as they come; throws a ProtocolError. */
export function createMessageReader(): (chunk: Uint8Array) => SocketMessage[] {
  let held: Buffer = Buffer.alloc(0);
  let parts: Buffer[] = [];
  let partsOpcode = 0;
  let partsBytes = 0;

  function takeFrame(isFinal: boolean, opcode: number, payload: Buffer): SocketMessage | undefined {
    if (opcode >= opcodes.close) {
      if (!isFinal || payload.length > maxControlBytes) throw new ProtocolError('a control frame is too large');
      return { opcode, payload };
    }
    const isFirst = parts.length === 0;
    if (isFirst !== (opcode !== opcodes.continuation)) throw new ProtocolError('a message is not in order');
    if (isFirst) partsOpcode = opcode;
    partsBytes += payload.length;
    if (partsBytes > maxMessageBytes) throw new ProtocolError('a message is too large', 1009);
    parts.push(payload);
    if (!isFinal) return undefined;
    const whole = Buffer.concat(parts);
    parts = [];
    partsBytes = 0;
    return { opcode: partsOpcode, payload: whole };
  }

  return (chunk) => {
    held = held.length === 0 ? Buffer.from(chunk) : Buffer.concat([held, chunk]);
    const messages: SocketMessage[] = [];
    for (let head = readHead(held); head && held.length >= head.end; head = readHead(held)) {
      const message = takeFrame(head.isFinal, head.opcode, Buffer.from(held.subarray(head.start, head.end)));
      held = held.subarray(head.end);
      if (message) messages.push(message);
    }
    return messages;
  };
}

function readHead(bytes: Buffer): { isFinal: boolean; opcode: number; start: number; end: number } | undefined {
  const [first, second] = bytes;
  if (first === undefined || second === undefined) return undefined;
  const opcode = first & 0x0f;
  const isKnown = opcode <= opcodes.binary || (opcode >= opcodes.close && opcode <= opcodes.pong);
  if ((first & 0x70) !== 0 || (second & 0x80) !== 0 || !isKnown) throw new ProtocolError('a frame is not one of a server');
  const short = second & 0x7f;
  const start = short < 126 ? 2 : short === 126 ? 4 : 10;
  if (bytes.length < start) return undefined;
  const length = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  if (length > maxMessageBytes) throw new ProtocolError('a message is too large', 1009);
  return { isFinal: (first & 0x80) !== 0, opcode, start, end: start + length };
}
