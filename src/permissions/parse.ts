import { isHigherEngine } from '../config/engine-names.ts';
import { isObject } from '../config/json-object.ts';
import { readLimitEntry, writeLimitEntry } from '../config/limits.ts';
import { type ListedPermission, type PermissionKey, type PermissionSet, permissionKeys } from '../config/permission-set.ts';
import { suggestNearNames } from '../errors/near-names.ts';
import { parseNetEntry } from './net-grammar.ts';
import { parsePlace } from './path-grammar.ts';

/** What came of reading a permissions block. A refusal is a whole sentence and names the key at fault. */
export type ParsedPermissions =
  | { readonly ok: true; readonly permissions: PermissionSet }
  | { readonly ok: false; readonly message: string; readonly key?: string };

type Item = { readonly ok: true; readonly entry: string } | { readonly ok: false; readonly reason: string };
type Value<Key extends PermissionKey> =
  | { readonly ok: true; readonly value: PermissionSet[Key] }
  | { readonly ok: false; readonly message: string };

const maxEntries = 100;
const maxEntryChars = 1100;
const fullForm = '{ net: ["api.example.com"], env: ["API_KEY"], kv: true }';

const examples: Readonly<Record<ListedPermission, string>> = {
  net: '["api.example.com"]',
  read: '["data"], or ["."] for the whole workspace',
  write: '["data"], or ["."] for the whole workspace',
  env: '["API_KEY"]',
  run: '["ffmpeg"]',
  tools: '["weather", "text_*"]',
  dangerous: '["shell"], or ["*"] for all of its tools',
  engine: '["deno"] or ["docker"]',
  limits: '["memoryBytes:96MiB"]',
};

const parsers: { readonly [Key in PermissionKey]: (value: unknown) => Value<Key> } = {
  net: (value) => parseList('net', value, parseNetEntry),
  read: (value) => parseList('read', value, parsePathEntry),
  write: (value) => parseList('write', value, parsePathEntry),
  env: (value) => parseList('env', value, parseEnvName),
  run: (value) => parseList('run', value, parseCommand),
  tools: (value) => parseList('tools', value, parseToolGlob),
  dangerous: (value) => parseList('dangerous', value, parseToolGlob),
  engine: (value) => parseList('engine', value, parseEngine),
  limits: (value) => parseList('limits', value, parseLimit),
  llm: parseLlm,
  kv: parseKv,
  sharedCell: parseSharedCell,
};

/**
 * Reads the permissions block of a plugin: the same, but that nobody asks to be trusted with what is dangerous, or for another engine.
 */
export function parseRequestedPermissions(value: unknown): ParsedPermissions {
  const key = isObject(value) ? operatorsKeys.find((each) => value[each] !== undefined) : undefined;
  return key === undefined ? parsePermissions(value) : { ok: false, key, message: operatorsOnly[key] };
}

const operatorsKeys = ['dangerous', 'engine', 'limits'] as const;

const operatorsOnly: Readonly<Record<(typeof operatorsKeys)[number], string>> = {
  dangerous:
    'permissions.dangerous cannot be asked for by a plugin: only the operator lets a dangerous tool run without an approval, with hotcell grant NAME dangerous=TOOL.',
  engine:
    "permissions.engine cannot be asked for by a plugin: a plugin names its engine beside its permissions, as in engine: 'deno'.",
  limits:
    'permissions.limits cannot be asked for by itself: a plugin chooses its limits beside its permissions, as in limits: { memoryBytes: 67108864 }, and those above the default are asked for.',
};

/**
 * Reads a permissions block of a manifest or of `grants` in the config. Hosts and paths come out in their one spelling,
 * doubles fall away, and an absent key, `false` or an empty list asks for nothing. Whatever is not understood is refused.
 */
export function parsePermissions(value: unknown): ParsedPermissions {
  if (value === undefined) return { ok: true, permissions: {} };
  if (!isObject(value)) return { ok: false, message: `permissions must be an object such as ${fullForm}; got ${name(value)}.` };
  const unknown = Object.keys(value).filter((key) => !isPermissionKey(key));
  if (unknown.length > 0) return refuseKeys(unknown);
  let permissions: PermissionSet = {};
  for (const [key, raw] of Object.entries(value)) {
    if (!isPermissionKey(key)) continue;
    if (raw === undefined || raw === false) continue;
    const parsed = parsers[key](raw);
    if (!parsed.ok) return { ok: false, key, message: parsed.message };
    if (parsed.value !== undefined) permissions = { ...permissions, [key]: parsed.value };
  }
  return { ok: true, permissions };
}

const maxUnknown = 5;

/** Refuses keys that nobody reads, all at once. */
function refuseKeys(unknown: readonly string[]): Extract<ParsedPermissions, { ok: false }> {
  const told = unknown.slice(0, maxUnknown).map((key) => `no key ${quote(key)}.${suggestNearNames(key, permissionKeys)}`);
  const more = unknown.length > maxUnknown ? ` And ${unknown.length - maxUnknown} more.` : '';
  const message = `permissions has ${told.join(' It has ')}${more} The keys are ${permissionKeys.join(', ')}.`;
  return { ok: false, ...(unknown[0] === undefined ? {} : { key: unknown[0] }), message };
}

function isPermissionKey(key: string): key is PermissionKey {
  return Object.hasOwn(parsers, key);
}

function parseList(key: ListedPermission, value: unknown, parseItem: (text: string) => Item): Value<ListedPermission> {
  if (value === true) return fail(`permissions.${key} takes a list, not true: name what is needed, such as ${examples[key]}.`);
  if (!Array.isArray(value)) return fail(`permissions.${key} must be a list such as ${examples[key]}; got ${name(value)}.`);
  if (value.length > maxEntries) return fail(`permissions.${key} may have at most ${maxEntries} entries; got ${value.length}.`);
  const entries = new Set<string>();
  for (const item of value) {
    if (typeof item !== 'string') return fail(`permissions.${key} must hold text such as ${examples[key]}; got ${name(item)}.`);
    if (item.length > maxEntryChars) return fail(`permissions.${key} has an entry of more than ${maxEntryChars} characters.`);
    const parsed = parseItem(item);
    if (!parsed.ok) return fail(`permissions.${key}: ${quote(item)} ${parsed.reason}.`);
    entries.add(parsed.entry);
  }
  return { ok: true, value: entries.size === 0 ? undefined : [...entries] };
}

function parsePathEntry(text: string): Item {
  if (text.includes('*')) return { ok: false, reason: 'holds "*"; a folder covers everything in it' };
  const parsed = parsePlace(text);
  return parsed.ok ? { ok: true, entry: parsed.path } : parsed;
}

function parseEnvName(text: string): Item {
  if (/^HOTCELL_/i.test(text)) return { ok: false, reason: 'belongs to the daemon and is never handed out' };
  if (/^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/.test(text)) return { ok: true, entry: text };
  return { ok: false, reason: 'is no name; write it as API_KEY, one name an entry' };
}

function parseCommand(text: string): Item {
  if (/^[A-Za-z0-9_][A-Za-z0-9._+-]{0,63}$/.test(text)) return { ok: true, entry: text };
  return { ok: false, reason: 'is no command name; write it as ffmpeg, without path and arguments' };
}

function parseToolGlob(text: string): Item {
  if (/^[A-Za-z0-9_.*/-]{1,256}$/.test(text)) return { ok: true, entry: text };
  return { ok: false, reason: 'is no tool name; write it as weather, text_* or server/tool, without a version' };
}

function parseEngine(text: string): Item {
  if (isHigherEngine(text)) return { ok: true, entry: text };
  return { ok: false, reason: 'is no engine that a plugin could move to; write deno or docker' };
}

function parseLimit(text: string): Item {
  const limit = readLimitEntry(text);
  if (limit !== undefined) return { ok: true, entry: writeLimitEntry(limit.name, limit.value) };
  return {
    ok: false,
    reason: 'is no limit; write it as memoryBytes:96MiB or wallMs:60000, up to the upper bound in hotcell docs limits',
  };
}

function parseLlm(value: unknown): Value<'llm'> {
  if (value === true) return { ok: true, value };
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return { ok: true, value };
  return fail(`permissions.llm must be true or a whole number of tokens above 0, such as 20000; got ${name(value)}.`);
}

function parseKv(value: unknown): Value<'kv'> {
  if (value === true) return { ok: true, value };
  if (!isObject(value)) return fail(`permissions.kv must be true or { quotaBytes, shared }; got ${name(value)}.`);
  const unknownKey = Object.keys(value).find((key) => key !== 'quotaBytes' && key !== 'shared');
  if (unknownKey !== undefined) {
    return fail(`permissions.kv has no key ${quote(unknownKey)}.${suggestNearNames(unknownKey, ['quotaBytes', 'shared'])}`);
  }
  const { quotaBytes, shared } = value;
  if (shared !== undefined && typeof shared !== 'boolean')
    return fail(`permissions.kv.shared must be true or false; got ${name(shared)}.`);
  if (quotaBytes === undefined) return { ok: true, value: shared ? { shared } : true };
  if (typeof quotaBytes !== 'number' || !Number.isSafeInteger(quotaBytes) || quotaBytes <= 0) {
    return fail(`permissions.kv.quotaBytes must be a whole number of bytes above 0; got ${name(quotaBytes)}.`);
  }
  return { ok: true, value: shared ? { quotaBytes, shared } : { quotaBytes } };
}

function parseSharedCell(value: unknown): Value<'sharedCell'> {
  return value === true ? { ok: true, value } : fail(`permissions.sharedCell must be true or left out; got ${name(value)}.`);
}

function fail(message: string): { readonly ok: false; readonly message: string } {
  return { ok: false, message };
}

/** What came, for a sentence: bounded, since it was written by a stranger. */
function name(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return quote(value);
  return typeof value === 'object' && value !== null ? 'an object' : String(value).slice(0, 40);
}

function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
