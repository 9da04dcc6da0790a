import type { EventEnvelope } from '../../events/event.ts';
import { renderLogLine } from './log.ts';
import { type Style, tame } from './style.ts';
import { formatDuration, formatTime } from './time-text.ts';

/** A person reads no more in a second, and a terminal must not slow calls down. */
const maxLinesPerSecond = 20;
const maxTextChars = 500;

/** What people at the terminal of a daemon see of calls and of what they log; `readError` says why an execution failed, as far as that is still known. */
export function createLiveCalls(style: Style, readError: (executionId: string) => string | undefined) {
  const toolsByExecution = new Map<string, string>();
  let second = 0;
  let told = 0;
  let passedOver = 0;

  function mayTell(atMs: number): boolean {
    if (Math.floor(atMs / 1000) !== second) {
      second = Math.floor(atMs / 1000);
      told = 0;
    }
    told++;
    if (told <= maxLinesPerSecond) return true;
    passedOver++;
    return false;
  }

  function renderRest(): string {
    const count = passedOver;
    passedOver = 0;
    return count === 0 ? '' : style.dim(`         … and ${count} more lines of calls: hotcell executions\n`);
  }

  function renderLine(event: EventEnvelope): string {
    const time = style.dim(formatTime(event.at).slice(11));
    if (event.type === 'execution-log') {
      const text = event.data.text.split('\n', 1)[0]?.slice(0, maxTextChars) ?? '';
      return `${time} ${style.dim('│')} ${tame(toolsByExecution.get(event.subject) ?? event.subject)} ${renderLogLine(event.data.level, text, style)}`;
    }
    if (event.type === 'execution-refusal') {
      const reason = event.data.message.split('\n', 1)[0]?.slice(0, maxTextChars) ?? '';
      return `${time} ${style.red('✗')} ${tame(event.data.tool)} refused ${tame(reason)}\n`;
    }
    if (event.type !== 'execution-end') return '';
    const { tool, status, durationMs, code } = event.data;
    const took = style.dim(`(${formatDuration(durationMs)})`);
    if (status === 'success') return `${time} ${style.green('→')} ${tame(tool)} ${took}\n`;
    const reason = readError(event.subject)?.split('\n', 1)[0]?.slice(0, maxTextChars) ?? code ?? '';
    return `${time} ${style.red('✗')} ${tame(tool)} ${status} ${took} ${tame(reason)}  ${style.dim(event.subject)}\n`;
  }

  return {
    /** What was passed over since the last line. */
    renderRest,
    /** The line of one event; empty for what is not told. */
    render(event: EventEnvelope): string {
      if (event.type === 'execution-start') toolsByExecution.set(event.subject, event.data.tool);
      const isTold = /^execution-(?:log|end|refusal)$/.test(event.type) && mayTell(event.at);
      const text = isTold ? `${told === 1 ? renderRest() : ''}${renderLine(event)}` : '';
      if (event.type === 'execution-end') toolsByExecution.delete(event.subject);
      return text;
    },
  };
}
