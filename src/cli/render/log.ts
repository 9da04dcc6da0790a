import type { LogLine } from '../../border/border.ts';
import { type Style, tame } from './style.ts';
import { formatTime } from './time-text.ts';

/** Lines that a handler logged, each with its time. */
export function renderLog(lines: readonly LogLine[], style: Style): string {
  return lines.map(({ level, text, atMs }) => `${style.dim(formatTime(atMs))} ${renderLogLine(level, text, style)}`).join('');
}

/** One line that a handler logged. */
export function renderLogLine(level: string, text: string, style: Style): string {
  const padded = level.padEnd(5);
  const painted = level === 'error' ? style.red(padded) : level === 'warn' ? style.yellow(padded) : style.dim(padded);
  return `${painted} ${tame(text)}\n`;
}
