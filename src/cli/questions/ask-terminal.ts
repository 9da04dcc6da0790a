import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

/** Asks for one line on the terminal of this process; undefined when the signal or the end of the input came first. */
export async function readLine(question: string, signal: AbortSignal): Promise<string | undefined> {
  if (signal.aborted) return undefined;
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // The terminal is in raw mode meanwhile, so that the key would end nothing but the question.
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  const ended = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)));
  try {
    return await Promise.race([lines.question(question, { signal }), ended]);
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  } finally {
    lines.close();
  }
}

/** Asks a person on a terminal for one line that is not shown. Rejects when the person breaks off. */
export async function askHidden(question: string): Promise<string> {
  // Readline echoes what is typed to its output: this one shows nothing.
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: process.stdin, output: silent, terminal: true, historySize: 0 });
  const broken = new AbortController();
  reader.once('SIGINT', () => broken.abort());
  process.stderr.write(question);
  try {
    return await reader.question('', { signal: broken.signal });
  } finally {
    process.stderr.write('\n');
    reader.close();
  }
}
