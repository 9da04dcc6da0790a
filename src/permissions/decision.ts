import { readLimitEntry } from '../config/limits.ts';
import {
  defaultLlmTokens,
  type ListedPermission,
  listedPermissions,
  type PermissionKey,
  type PermissionSet,
} from '../config/permission-set.ts';
import { globMatches, netEntryCovers, pathMatches } from './matching.ts';

/** What an operator allowed beforehand. */
export interface GrantSources {
  /** `grants.<plugin>` of the config. */
  readonly preset?: PermissionSet | undefined;
  /** Grants whatever is requested. */
  readonly grantRequested: boolean;
}

/** What a plugin may do now, and what it asked for in vain. */
export interface GrantDecision {
  readonly granted: PermissionSet;
  readonly pending: PermissionSet;
}

type Kv = NonNullable<PermissionSet['kv']>;

const coversByKey: Readonly<Record<ListedPermission, (granted: string, requested: string) => boolean>> = {
  net: netEntryCovers,
  read: pathMatches,
  write: pathMatches,
  env: (granted, requested) => granted === requested,
  run: (granted, requested) => granted === requested,
  tools: globMatches,
  dangerous: globMatches,
  engine: (granted, requested) => granted === requested,
  limits: limitCovers,
};
const nothing: PermissionSet = Object.freeze({});
const lastByRequest = new WeakMap<PermissionSet, { readonly sources: GrantSources; readonly decision: GrantDecision }>();

/**
 * Decides what is granted of a request. A preset holds even for what was not asked for: an operator may allow a host that
 * a plugin puts together at run time. The same request and sources give the same objects, so matchers are made once.
 */
export function decideGrants(requested: PermissionSet, sources: GrantSources): GrantDecision {
  const { preset = nothing, grantRequested } = sources;
  const last = lastByRequest.get(requested);
  if (last !== undefined && last.sources.preset === sources.preset && last.sources.grantRequested === grantRequested)
    return last.decision;
  const granted = grantRequested ? Object.freeze(joinPermissions(preset, withoutEngine(requested))) : preset;
  const decision = Object.freeze({ granted, pending: Object.freeze(subtractPermissions(requested, granted)) });
  lastByRequest.set(requested, { sources: { preset: sources.preset, grantRequested }, decision });
  return decision;
}

/** The engine is what the daemon asks for, not the plugin: `escalation` of the config decides about it. */
function withoutEngine({ engine: _engine, ...rest }: PermissionSet): PermissionSet {
  return rest;
}

/** What of a request no grant covers. */
export function subtractPermissions(requested: PermissionSet, granted: PermissionSet): PermissionSet {
  let rest: PermissionSet = {};
  for (const key of listedPermissions) {
    const missing = requested[key]?.filter((entry) => !granted[key]?.some((wide) => coversByKey[key](wide, entry)));
    if (missing?.length) rest = { ...rest, [key]: missing };
  }
  if (requested.llm !== undefined && countTokens(requested.llm) > countTokens(granted.llm))
    rest = { ...rest, llm: requested.llm };
  const kv = requested.kv === undefined ? undefined : subtractKv(requested.kv, granted.kv);
  if (kv !== undefined) rest = { ...rest, kv };
  if (requested.sharedCell && !granted.sharedCell) rest = { ...rest, sharedCell: true };
  return rest;
}

function limitCovers(granted: string, requested: string): boolean {
  const [wide, asked] = [readLimitEntry(granted), readLimitEntry(requested)];
  return wide !== undefined && wide.name === asked?.name && wide.value >= asked.value;
}

/** True when a grant covers all of a request. */
export function isCovered(requested: PermissionSet, granted: PermissionSet): boolean {
  return isNothing(subtractPermissions(requested, granted));
}

/** True for a set that asks for nothing. */
export function isNothing(set: PermissionSet): boolean {
  return Object.keys(set).length === 0;
}

/** Everything that either of two sets allows. */
export function joinPermissions(one: PermissionSet, other: PermissionSet): PermissionSet {
  let joined: PermissionSet = { ...other, ...one };
  for (const key of listedPermissions) {
    const entries = new Set([...(one[key] ?? []), ...(other[key] ?? [])]);
    if (entries.size > 0) joined = { ...joined, [key]: [...entries] };
  }
  if (one.llm !== undefined && other.llm !== undefined) {
    joined = { ...joined, llm: countTokens(one.llm) >= countTokens(other.llm) ? one.llm : other.llm };
  }
  if (one.kv !== undefined && other.kv !== undefined) joined = { ...joined, kv: joinKv(one.kv, other.kv) };
  return joined;
}

/**
 * A set as the words of a command: `net=api.example.com read=data llm=20000 kv=shared`, one word an entry, quoted where a
 * shell would read it otherwise. Empty for a set that asks for nothing.
 */
export function describePermissions(set: PermissionSet): string {
  return [
    ...listedPermissions.flatMap((key) => (set[key] ?? []).map((entry) => describeEntry(key, entry))),
    ...(set.llm === undefined ? [] : [set.llm === true ? 'llm' : `llm=${set.llm}`]),
    ...(set.kv === undefined ? [] : describeKv(set.kv)),
    ...(set.sharedCell ? ['sharedCell'] : []),
  ].join(' ');
}

function describeEntry(key: PermissionKey, entry: string): string {
  const word = `${key}=${entry}`;
  return /^[\w=.:/@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

function describeKv(kv: Kv): string[] {
  if (kv === true) return ['kv'];
  const words = [...(kv.quotaBytes === undefined ? [] : [`kv=${kv.quotaBytes}`]), ...(kv.shared ? ['kv=shared'] : [])];
  return words.length === 0 ? ['kv'] : words;
}

function countTokens(llm: PermissionSet['llm']): number {
  return llm === true ? defaultLlmTokens : (llm ?? 0);
}

/** `true` grants the default quota, so a quota of its own is granted only by one that is as large. */
function subtractKv(requested: Kv, granted: PermissionSet['kv']): Kv | undefined {
  if (granted === undefined) return requested;
  const { quotaBytes, shared } = readKv(requested);
  const given = readKv(granted);
  const quotaMissing = quotaBytes !== undefined && quotaBytes > (given.quotaBytes ?? 0);
  const sharedMissing = shared === true && given.shared !== true;
  if (!quotaMissing && !sharedMissing) return undefined;
  return { ...(quotaMissing ? { quotaBytes } : {}), ...(sharedMissing ? { shared } : {}) };
}

function joinKv(one: Kv, other: Kv): Kv {
  const a = readKv(one);
  const b = readKv(other);
  const quotaBytes = Math.max(a.quotaBytes ?? 0, b.quotaBytes ?? 0);
  const shared = a.shared || b.shared;
  if (quotaBytes === 0 && !shared) return true;
  return { ...(quotaBytes > 0 ? { quotaBytes } : {}), ...(shared ? { shared } : {}) };
}

function readKv(kv: Kv): Exclude<Kv, true> {
  return kv === true ? {} : kv;
}
