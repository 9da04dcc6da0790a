import type { CliIo } from './io.ts';
import { runCli } from './run-cli.ts';

const samePressMs = 500;

/** Runs the command line of this process; `loadDaemon` brings the composition root, which nothing below it may import. */
export async function runProcess(loadDaemon: CliIo['loadDaemon']): Promise<void> {
  const interrupt = new AbortController();
  let askedAtMs: number | undefined;
  const end = (): void => {
    // Somebody who asks twice does not want to wait; one press may arrive several times through a chain of parents.
    if (askedAtMs !== undefined && performance.now() - askedAtMs > samePressMs) process.exit(130);
    askedAtMs ??= performance.now();
    interrupt.abort();
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, end);
  // A reader such as `head` may leave early; that is no fault.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
  });
  process.exitCode = await runCli(process.argv.slice(2), {
    stdout: process.stdout,
    stderr: process.stderr,
    readStdin: readStdin,
    // To look at standard input opens it, which most commands do without.
    get ask() {
      if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) return undefined;
      return async (question: string, signal: AbortSignal) =>
        (await import('./questions/ask-terminal.ts')).readLine(question, signal);
    },
    get askHidden() {
      if (process.stdin.isTTY !== true) return undefined;
      return async (question: string) => (await import('./questions/ask-terminal.ts')).askHidden(question);
    },
    env: process.env,
    cwd: process.cwd(),
    isTTY: process.stdout.isTTY === true,
    columns: process.stdout.columns,
    signal: interrupt.signal,
    loadDaemon,
  });
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.off(name, end);
}

async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}
