import { StringDecoder } from 'node:string_decoder';

const maxLine = 16_384;
/** A process writes no more than this in its life; console.log does not count, it takes the channel. */
const maxOutputBytes = 64 * 1024 * 1024;

/** Cuts what a process writes into lines of bounded length; `onFlood` is called when it writes without end. */
export function splitLines(onLine: (text: string) => void, onFlood: () => void): (chunk: Buffer) => void {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let total = 0;
  return (chunk) => {
    total += chunk.length;
    if (total > maxOutputBytes) {
      onFlood();
      return;
    }
    const lines = (rest + decoder.write(chunk)).split('\n');
    rest = (lines.pop() ?? '').slice(0, maxLine);
    for (const line of lines) if (line !== '') onLine(line.slice(0, maxLine));
  };
}
