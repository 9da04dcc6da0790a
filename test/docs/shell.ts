import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';

/** One bash that runs commands one after the other, as somebody who follows a page would. */
export interface Shell {
  /** Runs a command; the output is what a terminal would have shown, both streams. */
  run(command: string): Promise<{ readonly output: string; readonly exitCode: number }>;
  close(): Promise<void>;
}

const commandDeadlineMs = 90_000;

/** Opens a bash in a folder. Aliases work as in a terminal. */
export function openShell(options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv }): Shell {
  const child = spawn('bash', ['--noprofile', '--norc'], { ...options, stdio: ['pipe', 'pipe', 'inherit'] });
  let unread = '';
  let wake = (): void => {};
  let isEnded = false;
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    unread += chunk;
    wake();
  });
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => {
      isEnded = true;
      wake();
      resolve();
    });
  });
  child.stdin.write('exec 2>&1; shopt -s expand_aliases\n');

  return {
    async run(command) {
      const mark = `done-${randomBytes(8).toString('hex')}`;
      child.stdin.write(`${command}\nprintf '\\n${mark} %s\\n' "$?"\n`);
      const pattern = new RegExp(`\\n${mark} (\\d+)\\n`);
      const timer = setTimeout(() => child.kill('SIGKILL'), commandDeadlineMs);
      for (;;) {
        const match = pattern.exec(unread);
        if (match) {
          const output = unread.slice(0, match.index);
          unread = unread.slice(match.index + match[0].length);
          clearTimeout(timer);
          return { output, exitCode: Number(match[1]) };
        }
        if (isEnded) throw new Error(`the shell ended in: ${command}\n${unread}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    async close() {
      child.stdin.end();
      await ended;
    },
  };
}
