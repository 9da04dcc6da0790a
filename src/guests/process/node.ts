/**
 * The guest's side in a Node process of a container: the channel is a connection to the first process of the container, which
 * passes it on. Standard output and error stay the plugin's own, and that of the programs that it starts.
 */
import './host.ts';
import { rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import process from 'node:process';
import { askNow } from '../cell/border.ts';
import { createEnvironment } from '../cell/web/environment.ts';
import { reportError, startGuest } from './runner.ts';

const [port = '0', moduleFile = ''] = process.argv.slice(2);
const channel = connect(Number(port), '127.0.0.1');
const take = startGuest({
  send: (bytes) => channel.write(bytes),
  importModule: async (code) => {
    await writeFile(moduleFile, code);
    try {
      return await import(`file://${moduleFile}`);
    } finally {
      await rm(moduleFile, { force: true });
    }
  },
});
channel.setNoDelay(true);
channel.on('data', take);
// Without the daemon there is nothing to do.
channel.on('error', () => process.exit(0));
channel.on('close', () => process.exit(0));

// Finds the packages that the image has in /node_modules.
(globalThis as Record<string, unknown>).require = createRequire(`file://${moduleFile}`);
Object.defineProperty(process, 'env', {
  value: createEnvironment(askNow, { ...process.env }),
  writable: true,
  configurable: true,
});
process.on('uncaughtException', reportError);
process.on('unhandledRejection', reportError);
