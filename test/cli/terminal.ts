import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { CliIo } from '../../src/cli/io.ts';
import { runCli } from '../../src/cli/run-cli.ts';
import { sharedTypes, startCheaply } from '../shared-builds.ts';

/** What a command said and answered. */
export interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A folder with a shell in it: commands run in this process, against a daemon that `start` starts, or alone. */
export function openTerminal(files: Readonly<Record<string, string>> = {}) {
  const cwd = mkdtempSync(join(tmpdir(), 'hotcell-cli-'));
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), text);
  };
  for (const [path, text] of Object.entries(files)) write(path, text);

  async function run(argv: readonly string[], options: RunOptions = {}): Promise<Said> {
    let out = '';
    let err = '';
    const code = await runCli(argv, {
      stdout: {
        write: (text) => {
          out += text;
          options.onOut?.(out);
        },
      },
      stderr: {
        write: (text) => {
          err += text;
          options.onErr?.(err);
        },
      },
      readStdin: async () => options.stdin ?? '',
      ask: options.ask,
      env: { NO_COLOR: '1', ...options.env },
      cwd,
      isTTY: options.isTTY ?? false,
      signal: options.signal,
      loadDaemon: async () => ({ startDaemon: startCheaply }),
      schemaReader: sharedTypes.schemaReader,
    });
    return { code, out, err };
  }

  /** Starts a daemon on a free port and resolves when it says that it is ready. */
  async function start(argv: readonly string[] = [], options: RunOptions = {}) {
    const ending = new AbortController();
    const ready = Promise.withResolvers<string>();
    let text = '';
    const ended = run(['start', '--port', '0', ...argv], {
      ...options,
      signal: ending.signal,
      onOut: (out) => {
        text = out;
        if (/http:\/\/127\.0\.0\.1:\d+/.test(out)) ready.resolve(out);
      },
    });
    const first = await Promise.race([ready.promise, ended.then((said) => said.out + said.err)]);
    return {
      first,
      text: () => text,
      stop: () => {
        ending.abort();
        return ended;
      },
    };
  }

  return { cwd, write, run, start, close: () => rmSync(cwd, { recursive: true, force: true }) };
}

interface RunOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly stdin?: string;
  readonly isTTY?: boolean;
  /** What the person at the terminal answers; without it nobody is asked. */
  readonly ask?: CliIo['ask'];
  readonly signal?: AbortSignal;
  readonly onOut?: (out: string) => void;
  readonly onErr?: (out: string) => void;
}

/** What `openTerminal` gives. */
export type Terminal = ReturnType<typeof openTerminal>;

/** Says its arguments again. */
export const echoPlugin = `export default {
  name: 'echo', version: '1.0.0', description: 'Says it again.',
  permissions: {},
  examples: [{ args: { text: 'a' }, expect: { text: 'a', count: 1 } }, { args: { text: 'b', count: 2 } }],
  handler: async ({ text, count = 1 }: { text: string; count?: number }) => ({ text, count }),
};
`;

/** Fails in all the ways that a call can fail. */
export const failsPlugin = `export default {
  name: 'fails', description: 'Fails.', permissions: { net: ['api.example.com'] },
  examples: [{ args: { how: 'fine' }, expect: 'not this' }],
  handler: async ({ how }: { how: string }, context: any) => {
    if (how === 'throw') throw new TypeError('no such luck');
    if (how === 'net') return (await context.fetch('https://api.example.com/')).status;
    return 'done';
  },
};
`;

/** Does not compile. */
export const brokenPlugin = 'export default {\n  name: "broken",\n  handler: () => { return 1 \n';
