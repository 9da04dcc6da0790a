/** The guest's side in a Deno process: the channel is the open socket of descriptor 3, which needs no permission. */
import './host.ts';
import { createRequire } from 'node:module';
import { Socket } from 'node:net';
import os from 'node:os';
import process from 'node:process';
import { askNow } from '../cell/border.ts';
import { defineGlobal } from '../cell/web/define.ts';
import { createEnvironment } from '../cell/web/environment.ts';
import * as sameEverywhere from '../node/os.ts';
import { replaceDenoConnections } from './deno-connections.ts';
import { reportError, startGuest } from './runner.ts';
import { replaceSockets } from './sockets.ts';
import { WebSocket } from './web-socket.ts';

const channel = new Socket({ fd: 3, readable: true, writable: true });
const take = startGuest({
  send: (bytes) => channel.write(bytes),
  importModule: async (code) => {
    const url = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));
    try {
      return await import(url);
    } finally {
      URL.revokeObjectURL(url);
    }
  },
});
channel.on('data', take);
replaceSockets();
replaceDenoConnections();
// Packages ask for the name of the machine and more, mostly to put it into a header: Deno refuses, here nothing is shown.
for (const [name, value] of Object.entries(sameEverywhere)) {
  if (typeof value === 'function') Object.defineProperty(os, name, { value, writable: true, configurable: true });
}
defineGlobal('WebSocket', WebSocket);
// Without the daemon there is nothing to do: this also ends what a crashed daemon left behind.
channel.on('close', () => process.exit(0));

const scope = globalThis as Record<string, unknown>;
scope.require = createRequire('file:///plugin.js');
Object.defineProperty(process, 'env', { value: createEnvironment(askNow), writable: true, configurable: true });
globalThis.addEventListener('error', (event) => {
  event.preventDefault();
  reportError((event as ErrorEvent).error);
});
globalThis.addEventListener('unhandledrejection', (event) => {
  event.preventDefault();
  reportError((event as PromiseRejectionEvent).reason);
});
