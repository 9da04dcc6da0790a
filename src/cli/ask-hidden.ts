import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

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
