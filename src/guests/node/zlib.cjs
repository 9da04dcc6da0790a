// node:zlib: the host packs and unpacks, within its bounds. The streams collect what they are given and work at the end.
const { askBytes } = require('./ask-host.ts');
const { nodeError } = require('./node-error.ts');

const { Buffer } = globalThis;
const kinds = [
  'gzip',
  'gunzip',
  'deflate',
  'inflate',
  'deflateRaw',
  'inflateRaw',
  'brotliCompress',
  'brotliDecompress',
  'zstdCompress',
  'zstdDecompress',
  'unzip',
];
const BROTLI_QUALITY = 1;
const ZSTD_LEVEL = 100;

function work(kind, data, options) {
  const bytes = typeof data === 'string' ? Buffer.from(data) : ArrayBuffer.isView(data) ? view(data) : new Uint8Array(data);
  const request = {
    kind,
    level: options?.params?.[ZSTD_LEVEL] ?? options?.level,
    quality: options?.params?.[BROTLI_QUALITY],
    maxOutputBytes: options?.maxOutputLength,
  };
  try {
    return Buffer.from(askBytes('zlib', JSON.stringify(request), bytes));
  } catch (error) {
    throw nodeError(Error, /larger than/.test(error.message) ? 'ERR_BUFFER_TOO_LARGE' : 'Z_DATA_ERROR', error.message);
  }
}

function view(data) {
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}

const collected = new WeakMap();

/** A class that packages may extend. It becomes a stream when the first one is made: few of those that load `zlib` make any. */
function makeClass(name, kind) {
  const unpacks = /^(?:gun|in|un|brotliDe|zstdDe)/.test(kind);
  const Class = {
    [name]: function (options) {
      const { Transform } = require('node:stream');
      if (!(Class.prototype instanceof Transform)) Object.setPrototypeOf(Class.prototype, Transform.prototype);
      const stream = Reflect.construct(Transform, [options], new.target ?? Class);
      collected.set(stream, { chunks: [], options });
      return stream;
    },
  }[name];
  Object.assign(Class.prototype, {
    _transform(chunk, _encoding, done) {
      collected.get(this).chunks.push(chunk);
      done();
    },
    _flush(done) {
      const { chunks, options } = collected.get(this);
      try {
        done(null, chunks.length === 0 && unpacks ? undefined : work(kind, Buffer.concat(chunks), options));
      } catch (error) {
        done(error);
      }
    },
    flush(_kind, done = _kind) {
      if (typeof done === 'function') queueMicrotask(done);
    },
    close(done) {
      if (typeof done === 'function') this.once('close', done);
      this.destroy();
    },
  });
  return Class;
}

for (const kind of kinds) {
  const name = kind[0].toUpperCase() + kind.slice(1);
  exports[`${kind}Sync`] = (data, options) => work(kind, data, options);
  exports[kind] = (data, options, callback = options) => {
    queueMicrotask(() => {
      let result;
      try {
        result = work(kind, data, typeof options === 'function' ? {} : options);
      } catch (error) {
        return callback(error);
      }
      callback(null, result);
    });
  };
  const Class = makeClass(name, kind);
  exports[name] = Class;
  exports[`create${name}`] = (options) => new Class(options);
}

/** The checksum of gzip and zip, four bytes of a text or bytes after those of `value`. */
exports.crc32 = (data, value = 0) => {
  crcTable ??= Int32Array.from({ length: 256 }, (_, byte) => {
    let rest = byte;
    for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
    return rest;
  });
  let crc = ~value;
  for (const byte of typeof data === 'string' ? Buffer.from(data) : view(data)) crc = (crc >>> 8) ^ crcTable[(crc ^ byte) & 0xff];
  return ~crc >>> 0;
};

let crcTable;

exports.constants = {
  Z_NO_FLUSH: 0,
  Z_PARTIAL_FLUSH: 1,
  Z_SYNC_FLUSH: 2,
  Z_FULL_FLUSH: 3,
  Z_FINISH: 4,
  Z_BLOCK: 5,
  Z_OK: 0,
  Z_STREAM_END: 1,
  Z_BUF_ERROR: -5,
  Z_DATA_ERROR: -3,
  Z_NO_COMPRESSION: 0,
  Z_BEST_SPEED: 1,
  Z_BEST_COMPRESSION: 9,
  Z_DEFAULT_COMPRESSION: -1,
  Z_DEFAULT_STRATEGY: 0,
  Z_MIN_WINDOWBITS: 8,
  Z_MAX_WINDOWBITS: 15,
  Z_DEFAULT_WINDOWBITS: 15,
  Z_MIN_CHUNK: 64,
  Z_DEFAULT_CHUNK: 16_384,
  Z_DEFAULT_MEMLEVEL: 8,
  Z_DEFAULT_LEVEL: -1,
  BROTLI_OPERATION_PROCESS: 0,
  BROTLI_OPERATION_FLUSH: 1,
  BROTLI_OPERATION_FINISH: 2,
  BROTLI_PARAM_MODE: 0,
  BROTLI_PARAM_QUALITY: BROTLI_QUALITY,
  BROTLI_PARAM_SIZE_HINT: 5,
  BROTLI_MIN_QUALITY: 0,
  BROTLI_MAX_QUALITY: 11,
  BROTLI_DEFAULT_QUALITY: 11,
  ZSTD_c_compressionLevel: ZSTD_LEVEL,
  ZSTD_CLEVEL_DEFAULT: 3,
};
Object.assign(exports, exports.constants);
