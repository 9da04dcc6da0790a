import { hash } from 'node:crypto';
import { nestsDeeper } from '../config/read/json-nesting.ts';
import type { McpPinRow } from '../store/tables/access/mcp-approvals.ts';
import { canonicalJson } from '../tools/canonical-json.ts';

/** A tool, a prompt or a resource as a server describes it: what an operator approves. */
export interface Pinned {
  readonly kind: 'tool' | 'prompt' | 'resource';
  /** The pin that it has. */
  readonly item: string;
  /** SHA-256 (hex) of the definition. */
  readonly hash: string;
  /** Everything that is shown to models and people or decides about calls, as canonical JSON. */
  readonly definitionJson: string;
}

/** What became of that which a server lists, compared with what was approved. */
export interface PinDecision<Each extends Pinned = Pinned> {
  /** Exactly what was approved: it serves. */
  readonly served: readonly Each[];
  /** Nobody approved these. */
  readonly added: readonly Each[];
  /** They are not what was approved: `before` is that, as JSON. */
  readonly changed: ReadonlyArray<{ readonly now: Each; readonly before: string }>;
}

/** The pin of the command line of a server. */
export const commandItem = 'command';

const maxDefinitionChars = 128 * 1024;
const maxDefinitionDepth = 200;

/** The pin of a definition; the reason, as the end of a sentence, where it is more than a person could be asked about. */
export function pinDefinition<Kind extends Pinned['kind']>(
  kind: Kind,
  name: string,
  definition: object,
): (Pinned & { readonly kind: Kind }) | string {
  const definitionJson = writeDefinition(definition);
  if (definitionJson === undefined)
    return `has a definition of more than ${maxDefinitionChars} characters, or one nested too deep`;
  return { kind, item: `${kind}:${name}`, hash: hash('sha256', definitionJson), definitionJson };
}

function writeDefinition(definition: object): string | undefined {
  try {
    const json = canonicalJson(definition);
    return json.length <= maxDefinitionChars && !nestsDeeper(json, maxDefinitionDepth) ? json : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Decides what serves: only what is exactly what was approved ever does. */
export function decidePins<Each extends Pinned>(
  listed: readonly Each[],
  pins: readonly Pick<McpPinRow, 'item' | 'hash' | 'definitionJson'>[],
): PinDecision<Each> {
  const pinByItem = new Map(pins.map((pin) => [pin.item, pin]));
  const served: Each[] = [];
  const added: Each[] = [];
  const changed: Array<{ now: Each; before: string }> = [];
  for (const each of listed) {
    const pin = pinByItem.get(each.item);
    if (pin === undefined) added.push(each);
    else if (pin.hash === each.hash) served.push(each);
    else changed.push({ now: each, before: pin.definitionJson });
  }
  return { served, added, changed };
}

/** What an operator is asked about. */
export function listAsked<Each extends Pinned>({ added, changed }: Pick<PinDecision<Each>, 'added' | 'changed'>): Each[] {
  return [...added, ...changed.map(({ now }) => now)];
}

/** SHA-256 (hex) of what an operator is asked about. */
export function hashAsked(decision: Pick<PinDecision, 'added' | 'changed'>): string {
  const asked = listAsked(decision).map(({ item, hash: each }) => `${item}\n${each}`);
  return hash('sha256', asked.sort().join('\n'));
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

const maxListChars = 4 * 1024 * 1024;
const maxProblems = 20;

/** What of a list can serve: the first of each, as long as there is not too much of it; `all` names what is too large then. */
export function createPinnedList<Each extends Pinned>(all: string) {
  const problems: string[] = [];
  const taken = new Map<string, Each>();
  let chars = 0;

  function findFault({ item, definitionJson }: Each): string | undefined {
    if (taken.has(item)) return 'is listed twice; the first one counts';
    const isFull = chars + definitionJson.length > maxListChars;
    return isFull ? `is one too many: ${all} of a server together are too large` : undefined;
  }

  return {
    problems,
    taken,
    /** Takes one, or notes the end of a sentence that says why it cannot serve. */
    take(what: string, read: Each | string): void {
      const fault = typeof read === 'string' ? read : findFault(read);
      if (fault === undefined && typeof read !== 'string') {
        chars += read.definitionJson.length;
        taken.set(read.item, read);
      } else if (problems.length < maxProblems) problems.push(`The ${what} ${fault}.`);
    },
  };
}
