// node:stream/web: the globals.
for (const name of [
  'ReadableStream',
  'WritableStream',
  'TransformStream',
  'TextDecoderStream',
  'TextEncoderStream',
  'CompressionStream',
  'DecompressionStream',
])
  Object.defineProperty(exports, name, { enumerable: true, get: () => globalThis[name] });
