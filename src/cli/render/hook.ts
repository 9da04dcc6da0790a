import type { HookItem } from '../../operations/contracts/hooks.ts';
import { cleanUntrustedText } from '../../permissions/untrusted-text.ts';
import type { Style } from './style.ts';
import { renderTable } from './table.ts';
import { formatTime } from './time-text.ts';

const maxRowChars = 8000;

/** Hooks as a table. */
export function renderHooks(hooks: readonly HookItem[], style: Style, width: number | undefined): string {
  const columns = [
    { head: 'HOOK', text: (row: HookItem) => row.name, paint: style.bold },
    { head: 'STATE', text: (row: HookItem) => row.state },
    { head: 'EVENTS', text: (row: HookItem) => row.events.join(' ') || '-' },
    { head: 'ABOUT', text: (row: HookItem) => cleanUntrustedText(row.problem ?? row.description) },
  ];
  return renderTable(hooks, columns, width);
}

/** One hook with everything that a person needs to judge it. */
export function renderHook(hook: HookItem, style: Style): string {
  const { approval, waitsFor } = hook;
  const rows: ReadonlyArray<readonly [string, string | undefined]> = [
    ['state', hook.state],
    ['problem', hook.problem],
    ['about', hook.description],
    ['events', hook.events.join(' ') || undefined],
    ['not yet', waitsFor.length === 0 ? undefined : `${waitsFor.join(' ')} (this daemon has no such events yet)`],
    ['calls of', hook.tools.length === 0 ? undefined : hook.tools.join(' ')],
    ['engine', hook.image === undefined ? hook.engine : `${hook.engine} in ${hook.image}`],
    ['asks for', hook.permissions || 'nothing'],
    ['files', hook.files.map(({ path, bytes }) => `${path} (${bytes} bytes)`).join(', ')],
    ['hash', hook.contentHash],
    ['approved', approval && `${formatTime(approval.atMs)} by ${approval.by}, for ${approval.contentHash.slice(0, 12)}…`],
  ];
  const known = rows.flatMap(([name, text]) => (text === undefined || text === '' ? [] : [[name, text] as const]));
  const lines = known.map(([name, text]) => `  ${style.dim(name.padEnd(8))}  ${cleanUntrustedText(text, maxRowChars)}\n`);
  return `${style.bold(hook.name)}\n${lines.join('')}`;
}
