import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { runCli } from '../../src/cli/run-cli.ts';
import { sharedTypes, startCheaply } from '../shared-builds.ts';

/**
 * The program `hotcell` of a shell, run in the process of the tests: a Node of its own costs a command ten times what it does.
 * A script hands over environment, folder, input and words; what comes back are lines "1 TEXT", "2 TEXT" and at last "exit CODE".
 */
export async function writeQuickCommand(path: string): Promise<{ close(): void }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    void answer(socket);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  writeFileSync(path, script((server.address() as AddressInfo).port), { mode: 0o755 });
  return {
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** The input of the shell itself is a socket and holds the commands that come next: it is not read. */
function script(port: number): string {
  return `#!/bin/bash
exec 3<>/dev/tcp/127.0.0.1/${port}
{ env -0; printf '\\0%s\\0' "$PWD"; [ -S /dev/stdin ] || base64 -w 0; printf '\\0'; printf '%s\\0' "$#" "$@"; } >&3
while read -r kind text; do
  case $kind in
    exit) exit "$text" ;;
    *) printf %b "$text" >&"$kind" ;;
  esac
done <&3
exit 70
`;
}

async function answer(socket: Socket): Promise<void> {
  const gone = new AbortController();
  socket.on('error', () => {}).on('close', () => gone.abort());
  const asked = await readAsked(socket);
  const speak = (stream: number) => ({ write: (text: string) => socket.write(`${stream} ${escapeForShell(text)}\n`) });
  const exitCode = await runCli(asked.words, {
    stdout: speak(1),
    stderr: speak(2),
    readStdin: async () => asked.input,
    env: asked.env,
    cwd: asked.cwd,
    isTTY: false,
    signal: gone.signal,
    loadDaemon: async () => ({ startDaemon: startCheaply }),
    schemaReader: sharedTypes.schemaReader,
  });
  socket.end(`exit ${exitCode}\n`);
}

async function readAsked(socket: Socket) {
  let text = '';
  socket.setEncoding('utf8');
  return new Promise<{ env: NodeJS.ProcessEnv; cwd: string; input: string; words: string[] }>((resolve) => {
    socket.on('data', (chunk: string) => {
      text += chunk;
      const fields = text.split('\0').slice(0, -1);
      const endOfEnv = fields.indexOf('');
      const [cwd, input, count, ...words] = endOfEnv === -1 ? [] : fields.slice(endOfEnv + 1);
      if (cwd === undefined || input === undefined || words.length !== Number(count)) return;
      const env = fields.slice(0, endOfEnv).map((entry) => /^([^=]*)=(.*)$/s.exec(entry)?.slice(1) ?? []);
      resolve({ env: Object.fromEntries(env), cwd, input: Buffer.from(input, 'base64').toString(), words });
    });
  });
}

/** As the %b of printf reads it, without a space or the end of a line. */
function escapeForShell(text: string): string {
  return text.replace(/[\\\s]/g, (letter) =>
    [...Buffer.from(letter)].map((byte) => `\\0${byte.toString(8).padStart(3, '0')}`).join(''),
  );
}
