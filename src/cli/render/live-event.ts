import { basename } from 'node:path';
import type { EventEnvelope } from '../../events/event.ts';
import { quoteQuestion } from './approval.ts';
import { placeOf } from './error.ts';
import { paintState } from './plugin.ts';
import { type Style, tame } from './style.ts';
import { formatDuration, formatTime } from './time-text.ts';

/** What a person at the terminal of a daemon sees of an event: one line a reload, the frame of what broke, else nothing. */
export function renderLiveEvent(event: EventEnvelope, style: Style): string {
  const time = style.dim(formatTime(event.at).slice(11));
  const subject = style.bold(tame(event.subject));
  switch (event.type) {
    case 'plugin-change': {
      const { state, generation, durationMs, reason } = event.data;
      if (state === 'loading') return '';
      const mark =
        state === 'ready' ? style.green('✓') : /failed|degraded|quarantined/.test(state) ? style.red('✗') : style.yellow('○');
      const number = generation === undefined ? '' : ` generation ${generation}`;
      const took = durationMs === undefined ? '' : ` ${style.dim(`(${formatDuration(durationMs)})`)}`;
      // The reason of these is a diagnostic, which follows with its frame.
      // What it waits for is a question, which follows with all that is asked and the command that answers it.
      const why = /^(?:failed|degraded|pending-grant)$/.test(state) ? '' : ` ${style.dim(tame(reason))}`;
      return `${time} ${mark} ${subject} ${paintState(state, style)}${number}${took}${why}\n`;
    }
    case 'plugin-diagnostic': {
      const { data } = event;
      // It is asked as a question.
      if (data.code === 'engine-pending') return '';
      const place = placeOf(data);
      const frame = data.codeFrame === undefined ? '' : `${indent(style.dim(tame(data.codeFrame)))}\n`;
      return `${time} ${style.red('✗')} ${subject} ${place === undefined ? '' : `${style.cyan(tame(place))} `}${tame(data.message)}\n${frame}${indent(`${style.green('Fix:')} ${tame(data.fix)}`)}\n`;
    }
    case 'grant-change': {
      const { action, permissions, by } = event.data;
      return `${time} ${style.dim('·')} ${subject} ${action}: ${tame(permissions)} ${style.dim(`by ${tame(by)}`)}\n`;
    }
    case 'engine-change': {
      const { from, to, reason, tool } = event.data;
      const what = tool === undefined ? subject : `${subject} ${tame(tool)}`;
      return `${time} ${style.yellow('↑')} ${what} runs on ${tame(to)} instead of ${tame(from)} ${style.dim(tame(reason))}\n`;
    }
    case 'approval-request': {
      const { kind, question, approval, tool } = event.data;
      const asks = quoteQuestion({ question, saidBy: kind === 'confirm' || kind === 'ask' ? 'plugin' : 'hotcell' });
      const of = tool === undefined ? '' : ` ${tame(tool)}`;
      // Of permissions there is one open question for each plugin, so its name says enough.
      const which = kind === 'grant' ? event.subject : approval;
      return `${time} ${style.yellow('?')} ${subject}${of} ${asks}  ${style.dim('Answer it:')} hotcell approve ${tame(which)}\n`;
    }
    case 'approval-answer': {
      const { approval, status, by } = event.data;
      // What closed it is said by itself: a grant, an edit, a removal.
      if (status === 'withdrawn') return '';
      return `${time} ${style.dim('·')} ${subject} ${tame(approval)} ${status} ${style.dim(`by ${tame(by)}`)}\n`;
    }
    case 'plugin-removed':
      return `${time} ${style.dim('-')} ${subject} removed: ${tame(event.data.reason)}\n`;
    case 'hook-change':
      return renderHookChange(event, `${time} ${style.dim('·')} hook ${subject}`, style);
    case 'hook-refusal':
    case 'hook-problem':
      return `${time} ${style.yellow('!')} hook ${subject} ${tame(event.data.message)}\n`;
    case 'config-change':
      return `${time} ${renderConfigChange(event.data, style)}\n`;
    case 'watch-problem':
      return `${time} ${style.yellow('!')} ${tame(event.data.message)}\n`;
    default:
      return '';
  }
}

/** What is to be said of a plugin besides its state. */
export function renderWarnings(warnings: readonly string[], style: Style): string {
  return warnings.map((warning) => `${indent(`${style.yellow('!')} ${tame(warning)}`)}\n`).join('');
}

/** Which keys of an edited config file are in force, and which wait. */
function renderConfigChange(
  { path, applied, restart, problem }: Extract<EventEnvelope, { type: 'config-change' }>['data'],
  style: Style,
): string {
  const file = style.bold(tame(basename(path)));
  if (problem !== undefined) return `${style.red('✗')} ${file} ${tame(problem)} ${style.dim('The values from before stay.')}`;
  const taken = applied.length === 0 ? [] : [`applied: ${applied.join(', ')}`];
  const waiting = restart.length === 0 ? [] : [style.yellow(`after a restart: ${restart.join(', ')}`)];
  const said = [...taken, ...waiting].join('; ');
  return `${style.dim('·')} ${file} ${said === '' ? style.dim('was read; nothing that is in force differs') : said}`;
}

function renderHookChange(event: Extract<EventEnvelope, { type: 'hook-change' }>, head: string, style: Style): string {
  const { state, reason } = event.data;
  // The question whether it may run follows by itself.
  if (state === 'new') return '';
  const paint = state === 'active' ? style.green : style.yellow;
  return `${head} ${paint(state)} ${style.dim(tame(reason))}\n`;
}

function indent(text: string): string {
  return text
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n');
}
