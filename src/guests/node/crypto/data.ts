/** What all of node:crypto does with the data that it is given and gives. */
import { Buffer } from '../buffer/buffer.ts';
import type { Buffer as BufferClass } from '../buffer/buffer-class.ts';
import { encodeBytes } from '../buffer/byte-encodings.ts';
import { wrongType } from '../node-error.ts';

export type Data = string | ArrayBuffer | ArrayBufferView;
export type Callback<Value> = (error: unknown, value?: Value) => void;

/** A copy: what is collected must not change when its owner writes on. */
export function toBytes(data: unknown, encoding?: string, name = 'data'): Uint8Array {
  if (typeof data === 'string') return encodeBytes(data, encoding);
  if (data instanceof ArrayBuffer) return new Uint8Array(data.slice(0));
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength).slice();
  throw wrongType(name, 'of type string or an instance of Buffer, TypedArray, DataView or KeyObject', data);
}

export function base64(data: unknown): string {
  return Buffer.from(toBytes(data)).toString('base64');
}

/** Bytes, or their text where an encoding is asked for. */
export function give(bytes: BufferClass, encoding?: string): BufferClass | string {
  return encoding === undefined || encoding === 'buffer' ? bytes : bytes.toString(encoding);
}

/** Calls back with what is made, one turn later. */
export function later<Value>(make: () => Value, callback: Callback<Value>): undefined {
  Promise.resolve().then(() => {
    let value: Value;
    try {
      value = make();
    } catch (error) {
      callback(error);
      return;
    }
    callback(null, value);
  });
}
