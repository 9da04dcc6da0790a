/** node:stream/consumers: the whole of a stream. */

import { Buffer } from '../buffer/buffer.ts';
import type { Buffer as BufferClass } from '../buffer/buffer-class.ts';

type Source = AsyncIterable<Uint8Array | string>;

export async function buffer(stream: Source): Promise<BufferClass> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
  return Buffer.concat(chunks);
}

export async function text(stream: Source): Promise<string> {
  return (await buffer(stream)).toString();
}

export async function json(stream: Source): Promise<unknown> {
  return JSON.parse(await text(stream));
}

export async function arrayBuffer(stream: Source): Promise<ArrayBuffer> {
  return new Uint8Array(await buffer(stream)).buffer;
}
