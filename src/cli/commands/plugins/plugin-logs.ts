import type { Command } from 'commander';
import type { Client } from '../../../client/client.ts';
import { isErrorCode } from '../../../errors/catalog.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import type { EventEnvelope } from '../../../events/event.ts';
import type { EventType } from '../../../events/event-table.ts';
import { eventContracts } from '../../../operations/contracts/events.ts';
import { executionContracts } from '../../../operations/contracts/executions.ts';
import { pluginContracts } from '../../../operations/contracts/plugins.ts';
import { renderDiagnostic } from '../../render/error.ts';
import { renderLogLine } from '../../render/log.ts';
import { type Style, tame } from '../../render/style.ts';
import { formatDuration, formatTime } from '../../render/time-text.ts';
import type { CliSession } from '../../session.ts';
import { addClientCommand } from '../command.ts';

const shownTypes: readonly EventType[] = [
  'plugin-change',
  'plugin-diagnostic',
  'plugin-removed',
  'execution-start',
  'execution-log',
  'execution-end',
];
const lookBackEvents = 1000;
const lookBackCalls = 20;

/** Adds `hotcell plugin logs`: what happened to a plugin and its calls, and with --follow what its handlers log. */
export function registerPluginLogs(plugin: Command, session: CliSession): void {
  addClientCommand(plugin, session, {
    name: 'logs',
    about: 'show what happened to one plugin and what its calls logged',
    arguments: { '<name>': 'name, name@version or path of the plugin' },
    options: { '-f, --follow': 'go on until interrupted' },
    json: 'one JSON object a line',
    run: async ({ name, follow, json }, client) => {
      const isOurs = createPluginFilter(await client.invoke(pluginContracts.get, { name }));
      const print = (event: EventEnvelope): void =>
        session.print(json ? `${JSON.stringify(event)}\n` : renderEvent(event, session.style));
      const { lastSeq } = await client.invoke(eventContracts.list, { limit: 1, after: Number.MAX_SAFE_INTEGER });
      const after = Math.max(0, lastSeq - lookBackEvents);
      const kept = await client.invoke(eventContracts.list, { after, types: [...shownTypes], limit: lookBackEvents });
      const shown = kept.items.filter(isOurs);
      const lately = new Set(shown.filter(isEnd).slice(-lookBackCalls));
      for (const event of shown) {
        if (lately.has(event)) for (const line of await readLog(client, event)) print(line);
        print(event);
      }
      if (follow !== true) return;
      const signal = session.io.signal ?? new AbortController().signal;
      const next = kept.items.at(-1)?.seq ?? lastSeq;
      for await (const event of client.events({ types: shownTypes, after: next, signal })) if (isOurs(event)) print(event);
    },
  });
}

function isEnd(event: EventEnvelope): boolean {
  return event.type === 'execution-end';
}

/** The lines of a call that is over, as its events were; none when its recording is gone. */
async function readLog(client: Client, { subject, caller }: EventEnvelope): Promise<EventEnvelope[]> {
  try {
    const { logs = [] } = await client.invoke(executionContracts.get, { id: subject });
    return logs.map(({ level, text, atMs }) => ({
      seq: 0,
      type: 'execution-log',
      at: atMs,
      caller,
      subject,
      data: { level, text },
    }));
  } catch (error) {
    if (error instanceof HotcellError && error.code === 'execution-unknown') return [];
    throw error;
  }
}

/** Log lines carry only the execution they belong to: starts tell which plugin that is. */
function createPluginFilter(view: { readonly name: string; readonly path: string; readonly tools: readonly string[] }) {
  const toolNames = new Set(view.tools.map((ref) => ref.split('@', 1)[0]));
  const executions = new Set<string>();
  return (event: EventEnvelope): boolean => {
    switch (event.type) {
      case 'plugin-change':
      case 'plugin-diagnostic':
      case 'plugin-removed':
        return event.subject === view.name || event.data.path === view.path;
      case 'execution-start':
        if (toolNames.has(event.data.tool)) executions.add(event.subject);
        return false;
      case 'execution-end':
        executions.delete(event.subject);
        return toolNames.has(event.data.tool);
      default:
        return executions.has(event.subject);
    }
  };
}

function renderEvent(event: EventEnvelope, style: Style): string {
  const time = style.dim(formatTime(event.at));
  switch (event.type) {
    case 'plugin-change':
      return `${time} ${event.data.previousState} -> ${event.data.state}: ${tame(event.data.reason)}\n`;
    case 'plugin-diagnostic':
      return `${time} ${tame(event.data.code)}\n${renderDiagnosticEvent(event.data, style)}`;
    case 'plugin-removed':
      return `${time} removed: ${tame(event.data.reason)}\n`;
    case 'execution-log':
      return `${time} ${renderLogLine(event.data.level, event.data.text, style)}`;
    case 'execution-end': {
      const code = event.data.code === undefined ? '' : ` ${event.data.code}`;
      return `${time} ${event.subject} ${event.data.tool} ${event.data.status}${code} (${formatDuration(event.data.durationMs)})\n`;
    }
    default:
      return `${time} ${event.type}\n`;
  }
}

function renderDiagnosticEvent(data: Extract<EventEnvelope, { type: 'plugin-diagnostic' }>['data'], style: Style): string {
  const { code, path: _path, ...rest } = data;
  return isErrorCode(code) ? renderDiagnostic({ ...rest, code }, style) : `  ${tame(data.message)}\n`;
}
