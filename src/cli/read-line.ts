import { createInterface } from 'node:readline/promises';

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
