// node:stream, as its users' edition for other platforms has it, which leaves out the streams of the web.
const stream = require('readable-stream/lib/stream.js');

const { Duplex, Readable, Writable } = stream;

Readable.fromWeb = (readable, options) => Readable.from(readable, { objectMode: false, ...options });
Readable.toWeb = (readable) =>
  globalThis.ReadableStream.from(
    readable.map((chunk) => (typeof chunk === 'string' ? chunk : toPlainBytes(chunk)), { highWaterMark: 1 }),
  );
Writable.fromWeb = (writable, options) => {
  const writer = writable.getWriter();
  const settle = (promise, done) => promise.then(() => done(), done);
  return new Writable({
    ...options,
    write: (chunk, _encoding, done) => settle(writer.write(chunk), done),
    final: (done) => settle(writer.close(), done),
    destroy: (error, done) => settle(error ? writer.abort(error) : Promise.resolve(), () => done(error)),
  });
};
Writable.toWeb = (writable) =>
  new globalThis.WritableStream({
    start: (controller) => writable.on('error', (error) => controller.error(error)),
    write: (chunk) => new Promise((resolve, reject) => writable.write(chunk, (error) => (error ? reject(error) : resolve()))),
    close: () => new Promise((resolve) => writable.end(resolve)),
    abort: (reason) => void writable.destroy(reason),
  });
Duplex.fromWeb = ({ readable, writable }, options) =>
  Duplex.from({ readable: Readable.fromWeb(readable, options), writable: Writable.fromWeb(writable, options) });
Duplex.toWeb = (duplex) => ({ readable: Readable.toWeb(duplex), writable: Writable.toWeb(duplex) });

function toPlainBytes(chunk) {
  return ArrayBuffer.isView(chunk) ? new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength) : chunk;
}

module.exports = stream;
