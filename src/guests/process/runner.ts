/** What a guest process does with the messages of the daemon; how bytes and modules come in is the runtime's business. */
import './host.ts';
import { Buffer } from 'node:buffer';
import { createConverter } from '../cell/convert-result.ts';
import { endCall, enter, load, runHook, settle } from '../cell/core.ts';
import { provideConverter } from '../cell/result.ts';
import { reportError } from '../cell/warnings.ts';
import { console } from '../cell/web/console/console.ts';
import { defineGlobal } from '../cell/web/define.ts';
import { fetch } from './fetch.ts';
import { createFrameReader } from './frames.ts';
import { connectHost, limitTelling, send, setLoading, setView } from './host.ts';
import { endStreams, takeStreamMessage } from './host-stream.ts';
import type { HostMessage } from './protocol.ts';
import { forgetTimers, trackTimers } from './timers.ts';

/** What differs between runtimes. */
export interface Runtime {
  readonly send: (bytes: Uint8Array) => void;
  /** Evaluates the text of an ES module and resolves with its namespace. */
  readonly importModule: (code: string) => Promise<unknown>;
}

const strictDecoder = new TextDecoder('utf-8', { fatal: true });
const convert = createConverter({
  toBase64: (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64'),
  readText(bytes) {
    try {
      return strictDecoder.decode(bytes);
    } catch {
      return undefined;
    }
  },
});

// The daemon is trusted: its frames have no bound here.
const bounds = { headerBytes: 0xffffffff, textBytes: 0xffffffff, bodyBytes: 0xffffffff };

/** Installs the globals of plugins and says that it is ready. Returns what is to be called with every chunk of the channel. */
export function startGuest(runtime: Runtime): (chunk: Uint8Array) => void {
  connectHost(runtime.send);
  delete (globalThis as { host?: unknown }).host;
  defineGlobal('console', console);
  defineGlobal('fetch', fetch);
  defineGlobal('global', globalThis);
  trackTimers();
  provideConverter(
    () => convert,
    [ReadableStream, Blob, Response, Headers, URLSearchParams, FormData, Buffer].map(({ prototype }) => prototype),
  );
  const read = createFrameReader(bounds);
  send({ t: 'ready' });
  return (chunk) => {
    for (const { header, text, body } of read(chunk)) take(header as HostMessage, text, body);
  };

  function take(message: HostMessage, text: string, body: Uint8Array | undefined): void {
    switch (message.t) {
      case 'load':
        setLoading(true);
        runtime.importModule(text).then(
          (namespace) => {
            (globalThis as { __hotcellExports?: unknown }).__hotcellExports = namespace;
            load(message.fileBase);
          },
          (error: unknown) => throwLoad(error),
        );
        return;
      case 'call':
        endCall();
        endStreams();
        forgetTimers();
        send({ t: 'ready' });
        setLoading(false);
        setView(message.view);
        limitTelling(message.logLines);
        if (message.hook === undefined) enter(text, JSON.stringify(message.facts), message.facts.handler);
        else runHook(message.hook, text, JSON.stringify(message.facts));
        return;
      case 'answer':
        if (message.view) setView(message.view);
        settle(message.id, message.ok, text, body?.buffer as ArrayBuffer | undefined);
        return;
      default:
        takeStreamMessage(message, text, body);
    }
  }
}

function throwLoad(error: unknown): void {
  const { name, message, stack } =
    error instanceof Error ? error : { name: undefined, message: sayThrown(error), stack: undefined };
  send({ t: 'throw' }, JSON.stringify({ name, message: String(message).slice(0, 4000), stack: String(stack).slice(0, 8000) }));
}

/** What is no Error may say something all the same, such as { code: 42 }. */
function sayThrown(thrown: unknown): string {
  try {
    return (typeof thrown === 'object' ? JSON.stringify(thrown) : undefined) ?? String(thrown);
  } catch {
    return 'A value that cannot be read was thrown.';
  }
}

export { reportError };
