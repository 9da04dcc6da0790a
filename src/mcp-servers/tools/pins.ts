import { hash } from 'node:crypto';
import type { McpPinRow } from '../../store/mcp-types.ts';
import { canonicalJson } from '../../tools/canonical-json.ts';
import type { ServerTool } from './read-tools.ts';

/** What became of the tools of a server, compared with what was approved. */
export interface PinDecision {
  /** Exactly what was approved: they serve. */
  readonly served: readonly ServerTool[];
  /** Nobody approved these. */
  readonly added: readonly ServerTool[];
  /** They are not what was approved: `before` is that, as JSON. */
  readonly changed: ReadonlyArray<{ readonly tool: ServerTool; readonly before: string }>;
}

/** The pin of the command line of a server. */
export const commandItem = 'command';

/** The pin that lets prompts and resources join: of these, people and programs pick what they read themselves. */
export const offeringsItem = 'offerings';

/** The pin of a tool. */
export function itemOfTool(name: string): string {
  return `tool:${name}`;
}

/** Decides which tools serve: only what is exactly what was approved ever does. */
export function decidePins(
  tools: readonly ServerTool[],
  pins: readonly Pick<McpPinRow, 'item' | 'hash' | 'definitionJson'>[],
): PinDecision {
  const pinByItem = new Map(pins.map((pin) => [pin.item, pin]));
  const served: ServerTool[] = [];
  const added: ServerTool[] = [];
  const changed: Array<PinDecision['changed'][number]> = [];
  for (const tool of tools) {
    const pin = pinByItem.get(itemOfTool(tool.name));
    if (pin === undefined) added.push(tool);
    else if (pin.hash === tool.hash) served.push(tool);
    else changed.push({ tool, before: pin.definitionJson });
  }
  return { served, added, changed };
}

/** SHA-256 (hex) of the tools that an operator is asked about. */
export function hashAsked({ added, changed }: Pick<PinDecision, 'added' | 'changed'>, withOfferings = false): string {
  const others = withOfferings ? [offeringsItem] : [];
  const asked = [...added, ...changed.map(({ tool }) => tool)].map(({ name, hash: each }) => `${name}\n${each}`).sort();
  return hash('sha256', canonicalJson([...asked, ...others]));
}

/** The members of a definition that are others than before: `description: {before, now}`. */
export function compareDefinitions(before: string, now: string): Readonly<Record<string, { before: unknown; now: unknown }>> {
  const old = readMembers(before);
  const next = readMembers(now);
  const names = [...new Set([...Object.keys(old), ...Object.keys(next)])].sort();
  const different = names.filter((name) => canonicalJson(old[name]) !== canonicalJson(next[name]));
  return Object.fromEntries(different.map((name) => [name, { before: old[name] ?? null, now: next[name] ?? null }]));
}

/** What people are shown of a definition: its members by name. */
export function readMembers(definitionJson: string): Readonly<Record<string, unknown>> {
  const members: unknown = JSON.parse(definitionJson);
  return typeof members === 'object' && members !== null ? Object.fromEntries(Object.entries(members)) : {};
}
