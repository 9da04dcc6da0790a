import type { HookItem } from '../../operations/contracts/hooks.ts';
import { cleanUntrustedText } from '../../permissions/untrusted-text.ts';
import type { Style } from './style.ts';
import { renderFacts } from './table.ts';
import { formatTime } from './time-text.ts';

const maxRowChars = 8000;

/** One hook with everything that a person needs to judge it. */
export function renderHook(hook: HookItem, style: Style): string {
  const { approval, waitsFor } = hook;
  const facts: [string, string | undefined][] = [
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
  const shown = facts.map(([label, text]): [string, string | undefined] => [
    label,
    text && cleanUntrustedText(text, maxRowChars),
  ]);
  return `${style.bold(hook.name)}\n${renderFacts(shown, style)}`;
}
