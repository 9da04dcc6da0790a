import type { LogLine } from '../../border/border.ts';
import { CallMeter } from '../../border/call-meter.ts';
import type { Limits } from '../../config/limits.ts';

const maxLineChars = 4000;

/** Makes log lines of what the command of one call writes: standard error as `warn`, all else as `info`, within the limits of a log. */
export function createOutputLog(
  log: (line: LogLine) => void,
  limits: Pick<Limits, 'logLines' | 'logBytes'>,
  now: () => number = Date.now,
) {
  const streams = { stdout: createStream('info'), stderr: createStream('warn') };
  const meter = new CallMeter({ ...limits, hostCalls: 0, pendingHostCalls: 0, pendingHostBytes: 0, progress: 0 });

  function write(level: LogLine['level'], text: string): void {
    const line = meter.log(() => ({ level, text, atMs: now() }));
    if (line !== undefined) log(line);
  }

  function createStream(level: LogLine['level']) {
    const decoder = new TextDecoder();
    let rest = '';
    return {
      add(text: string): void {
        const parts = (rest + text).split('\n');
        rest = parts.pop() ?? '';
        for (const part of parts) write(level, part.replace(/\r$/, '').slice(0, maxLineChars));
        // A line without end is logged in pieces: it is not kept until it has one.
        for (; rest.length > maxLineChars; rest = rest.slice(maxLineChars)) write(level, rest.slice(0, maxLineChars));
      },
      decode: (chunk: Uint8Array) => decoder.decode(chunk, { stream: true }),
      end(): void {
        const last = rest + decoder.decode();
        rest = '';
        if (last !== '') write(level, last);
      },
    };
  }

  return {
    add(stream: 'stdout' | 'stderr', chunk: Uint8Array): void {
      streams[stream].add(streams[stream].decode(chunk));
    },
    /** Logs what has no end of line. */
    end(): void {
      streams.stdout.end();
      streams.stderr.end();
    },
    /** Lines logged so far. */
    get lines(): number {
      return meter.logLines;
    },
  };
}
