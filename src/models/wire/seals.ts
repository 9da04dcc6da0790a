import type { Sealed } from '../../conversation/conversation.ts';

/** Where a seal goes: to the provider, which takes its own only, or to a client, which brings back any. */
export type Direction = 'to-provider' | 'to-client';

const mark = 'hotcell.';

/**
 * A sealed value as text in a place of `format` that is made for its own seals. One of another format travels through clients in the same
 * place, marked with where it came from; `unseal` finds it again.
 */
export function sealAs(format: string, sealed: Sealed | undefined): string | undefined {
  if (sealed === undefined) return undefined;
  if (sealed.format === format) return sealed.value;
  return `${mark}${sealed.isRedacted === true ? 'redacted.' : ''}${sealed.format}.${sealed.value}`;
}

/** What stood in such a place. */
export function unseal(format: string, value: unknown, isRedacted = false): Sealed | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  const [, redacted, from, text] = /^hotcell\.(redacted\.)?([\w-]+)\.(.*)$/s.exec(value) ?? [];
  if (from === undefined || text === undefined) return { format, value, ...(isRedacted && { isRedacted }) };
  return { format: from, value: text, ...(redacted !== undefined && { isRedacted: true }) };
}

/** A sealed value for a provider, which only takes its own. */
export function sealFor(format: string, sealed: Sealed | undefined): string | undefined {
  return sealed?.format === format ? sealed.value : undefined;
}
