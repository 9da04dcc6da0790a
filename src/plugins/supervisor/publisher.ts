import { omitUndefined } from '../../config/json-object.ts';
import type { PermissionSet } from '../../config/permission-set.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { TakenName, WantedNames } from '../../names/name-registry.ts';
import { describePermissions } from '../../permissions/decision.ts';
import type { NewsKind, ToolsNews } from '../../tools/tools-news.ts';
import { listOfferings, ownedNameOf } from '../../units/offering.ts';
import type { Generation, PluginManifest } from '../generations/generation.ts';
import { createLeasable } from '../generations/leases.ts';
import type { LifecycleEffect } from '../lifecycle.ts';
import type { Diagnostic } from '../plugin-types.ts';
import { addTransition, type Live, nameOfPlugin, type PluginEvent, type PluginRecord, reduce } from './plugin-record.ts';
import { createInheritance } from './state-handover.ts';
import type { SupervisorRoom } from './supervisor-parts.ts';

/** Why something happened, and how it is told. */
export interface Telling {
  readonly reason: string;
  readonly durationMs?: number;
  /** Nothing changed for anybody: the daemon only found again what it had left. */
  readonly isQuiet?: boolean;
}

/** Events that leave a plugin where it stands. */
export type PluginFact = Extract<PluginEvent, { type: 'restored' | 'located' | 'seen' | 'unpinned' | 'timed' }>;

/** What the publisher works with. */
interface PublisherParts extends SupervisorRoom {
  readonly news: ToolsNews;
  readonly findRecord: (pluginPath: string) => PluginRecord | undefined;
  /** Told when the cells of a generation are forgotten. */
  readonly onDiscard: (generation: Generation) => void;
  /** Told when tool names became free. Must not throw. */
  readonly onNamesFree: () => void;
}

/** The only one who changes records. */
export type Publisher = ReturnType<typeof createPublisher>;

/** Creates what carries out what `reduce` decides, publishes, withdraws and tells about it. Synchronous. */
export function createPublisher(parts: PublisherParts) {
  const { archive, names, rows, news, now, decideGrants } = parts;
  const inheritance = createInheritance();
  /** Generations that serve, and those that calls still wait for or run on: none of them is deleted. */
  const inUse = new Set<string>();

  /** Takes a plugin through one event; returns what is left to be done: `build`. */
  function apply(record: PluginRecord, event: PluginEvent, telling: Telling): readonly LifecycleEffect[] {
    return carryOut(record, event, reduce(record, event), telling);
  }

  function carryOut(
    record: PluginRecord,
    event: PluginEvent,
    { change, effects }: ReturnType<typeof reduce>,
    telling: Telling,
  ): readonly LifecycleEffect[] {
    const from = record.lifecycle.state;
    const outgoing = record.live;
    write(record, change);
    if (effects.includes('withdraw') && outgoing) withdraw(record, outgoing);
    // Another generation is news also where the state is as before, and why it does not come on for who switched it on.
    const isNews = event.type === 'built' || (event.type === 'switched' && event.isWithheld);
    if (record.lifecycle.state !== from || isNews) tell(record, from, telling);
    const { diagnostic } = change;
    if (diagnostic !== undefined || event.type === 'switched') rows.schedule(record);
    const data = diagnostic && { path: record.shownPath, ...diagnostic };
    if (data) parts.events.publish('plugin-diagnostic', { subject: nameOfPlugin(record), data });
    return effects;
  }

  function tell(record: PluginRecord, from: string, { reason, durationMs, isQuiet }: Telling): void {
    if (isQuiet) return;
    const to = record.lifecycle.state;
    const generation = record.live?.generation.number;
    write(record, { transitions: addTransition(record, { atMs: now(), from, to, reason, ...omitUndefined({ generation }) }) });
    rows.schedule(record);
    // That a build has begun is no news: its end is.
    if (to === 'loading') return;
    parts.events.publish('plugin-change', {
      subject: nameOfPlugin(record),
      data: {
        path: record.shownPath,
        state: to,
        previousState: from,
        reason,
        ...omitUndefined({ generation, durationMs, pending: to === 'pending-grant' ? describePending(record) : undefined }),
      },
    });
  }

  /** Moved by the config alone: nobody was asked, so it is told. */
  function tellEscalation(record: PluginRecord, { manifest }: Generation): void {
    if (manifest.climbed === undefined) return;
    const { from, reason } = manifest.climbed;
    const data = { path: record.shownPath, from, to: manifest.engine, reason };
    parts.events.publish('engine-change', { subject: nameOfPlugin(record), data });
  }

  function describePending({ waiting, live, escalation }: PluginRecord): string {
    const asking = escalation ?? (waiting?.because === 'grant' ? waiting.generation : live?.generation);
    return asking === undefined ? '' : describePermissions(decideGrants(asking).pending);
  }

  function withdraw(record: PluginRecord, { generation, leasable }: Live): void {
    parts.registry.withdraw(record.path);
    noteNews(generation.manifest, undefined);
    leasable.retire(parts.config.generations.drainMs);
  }

  /** Publishes a built generation, or keeps it waiting for a grant or for a tool name. */
  function offer(record: PluginRecord, generation: Generation, telling: Telling): void {
    const taken = names.findTaken(record.path, wantedNames(generation.manifest));
    if (taken) return void block(record, generation, taken, telling);
    const pending = isAskingForMore(decideGrants(generation).pending);
    const event = { type: 'built', live: lease(record, generation), pending, atMs: now() } as const;
    const reduced = reduce(record, event);
    if (reduced.effects.length === 0) return;
    const before = record.live;
    const isPublished = reduced.effects.includes('publish');
    const refusal = isPublished ? publish(record, event.live) : undefined;
    if (refusal) return void apply(record, { type: 'refused', diagnostic: refusal }, { ...telling, reason: refusal.message });
    carryOut(record, event, reduced, telling);
    if (isPublished) replace(before, generation);
    keep(record, generation);
    if (!telling.isQuiet) tellEscalation(record, generation);
  }

  function lease(record: PluginRecord, generation: Generation): Live {
    const leasable = createLeasable({
      generation,
      granted: (use) => decideGrants(generation, use).granted,
      onDrained: () => {
        inUse.delete(generation.id);
        letGo(record, generation);
      },
    });
    return { generation, leasable };
  }

  /** Gives the tools of a generation to whoever calls, or says why it cannot. */
  function publish(record: PluginRecord, { generation, leasable }: Live): Diagnostic | undefined {
    for (const path of names.claim(record.path, wantedNames(generation.manifest))) displace(path, record, generation);
    try {
      parts.registry.publish(leasable.served);
      inUse.add(generation.id);
      return undefined;
    } catch (error) {
      if (record.live) names.claim(record.path, wantedNames(record.live.generation.manifest));
      else names.yield(record.path);
      if (!(error instanceof HotcellError)) throw error;
      return { code: error.code, message: error.message, fix: error.fix };
    }
  }

  /** The calls of what served before end on it; names that it alone had are free. */
  function replace(before: Live | undefined, generation: Generation): void {
    const { manifest } = generation;
    const oldKeys = before ? listKeys(before.generation.manifest) : [];
    const newKeys = listKeys(manifest);
    noteNews(before?.generation.manifest, manifest);
    if (before !== undefined && before.generation.contentHash !== generation.contentHash) tellUpdates(manifest);
    before?.leasable.retire(parts.config.generations.drainMs);
    if (oldKeys.some((oldKey) => !newKeys.includes(oldKey))) parts.onNamesFree();
  }

  function noteNews(before: PluginManifest | undefined, after: PluginManifest | undefined): void {
    for (const kind of ['tools', 'prompts', 'resources'] as const) {
      news.note(before ? listNewsKeys(before, kind) : [], after ? listNewsKeys(after, kind) : [], kind);
    }
  }

  /** Another content of the plugin may read as something else. */
  function tellUpdates({ resources = [] }: PluginManifest): void {
    for (const { uri, name, isTemplate } of resources) {
      if (!isTemplate) parts.events.publish('resource-update', { subject: name, data: { uri, name } });
    }
  }

  function letGo(record: PluginRecord, outgoing: Generation): void {
    if (parts.needsGeneration?.(outgoing.id)) return;
    const heir = record.live?.generation;
    // The same code may be current again after a rollback; its cells are still wanted then.
    if (heir?.runner.program.key !== outgoing.runner.program.key && !inheritance.expects(outgoing, heir)) discard(outgoing);
    for (const lapsed of inheritance.takeLapsed(record.path, heir)) discard(lapsed);
  }

  function discard(generation: Generation): void {
    const { engine, program } = generation.runner;
    try {
      parts.onDiscard(generation);
      parts.engines[engine]?.discard({ programKey: program.key });
    } catch (error) {
      parts.onFault(error);
    }
  }

  function displace(path: string, winner: PluginRecord, generation: Generation): void {
    const loser = parts.findRecord(path);
    if (!loser?.live) return;
    if (!names.isThere(path)) return void apply(loser, { type: 'vanished' }, { reason: 'the file was removed' });
    const { manifest } = loser.live.generation;
    const [tool] = listKeys(generation.manifest).filter((key) => listKeys(manifest).includes(key));
    names.yield(path);
    const diagnostic = describeTaken(tool ?? manifest.name, winner.shownPath, loser);
    apply(loser, { type: 'displaced', diagnostic }, { reason: diagnostic.message });
  }

  function block(record: PluginRecord, generation: Generation, { name, owner }: TakenName, telling: Telling): void {
    const diagnostic = describeTaken(name, parts.findRecord(owner)?.shownPath ?? owner, record);
    apply(record, { type: 'blocked', generation, diagnostic }, { ...telling, reason: diagnostic.message });
    keep(record, generation);
  }

  function keep(record: PluginRecord, generation: Generation): void {
    archive.save(generation);
    rows.schedule(record);
    archive.prune(
      record.path,
      parts.config.generations.keep,
      (kept) => inUse.has(kept.id) || isNeeded(record, kept) || parts.needsGeneration?.(kept.id) === true,
    );
  }

  return {
    apply,
    offer,
    /** Notes a fact about a plugin that changes nothing for anybody. */
    note: (record: PluginRecord, fact: PluginFact) => write(record, reduce(record, fact).change),
    /** Decides the grants of a plugin again. */
    regrant(record: PluginRecord, telling: Telling): void {
      const waiting = record.waiting?.because === 'grant' ? record.waiting.generation : undefined;
      if (waiting && !isAskingForMore(decideGrants(waiting).pending)) return void offer(record, waiting, telling);
      if (!record.live) return;
      const pending = isAskingForMore(decideGrants(record.live.generation).pending);
      const isHolding = waiting !== undefined || record.escalation !== undefined;
      apply(record, { type: 'regranted', pending, isHolding }, telling);
    },
    /** Whether a generation that waited for a tool name may be offered again. */
    isUnblocked: ({ path, waiting }: PluginRecord) =>
      waiting?.because === 'duplicate' && names.findTaken(path, wantedNames(waiting.generation.manifest)) === undefined,
  };
}

function write(record: { -readonly [Field in keyof PluginRecord]: PluginRecord[Field] }, change: Partial<PluginRecord>): void {
  Object.assign(record, change);
}

function isNeeded(record: PluginRecord, generation: Generation): boolean {
  const wanted = [record.live?.generation.id, record.chosen?.id, record.waiting?.generation.id];
  return wanted.includes(generation.id) || generation.contentHash === record.pinnedAwayFrom?.contentHash;
}

/** Limits that are not granted are held at the default, and nothing else of the plugin waits for them. */
function isAskingForMore({ limits: _limits, ...pending }: PermissionSet): boolean {
  return Object.keys(pending).length > 0;
}

function describeTaken(name: string, owner: string, record: PluginRecord): Diagnostic {
  const second = record.shownPath;
  const [prefix, what = name.includes('@') ? 'tool' : 'name'] = /^(prompt|resource):/.exec(name) ?? [''];
  const shown = name.slice(prefix.length);
  const message =
    owner === second
      ? `The tool "${name}" is defined twice in ${second}.`
      : `The ${what} "${shown}" of ${second} belongs to ${owner}, which had it first.`;
  const change = what === 'resource' ? 'address' : 'name';
  const fix = what === 'name' ? `Give ${second} another name.` : `Give one of the two another ${change} or version.`;
  return { code: 'tool-duplicate', message, file: record.source.name, fix };
}

/** The names that a plugin wants for itself and for what it brings. */
function wantedNames(manifest: PluginManifest): WantedNames {
  return { name: manifest.name, version: manifest.version, tools: listNames(manifest) };
}

function listNames(manifest: PluginManifest): string[] {
  return [...manifest.tools.map((tool) => tool.name), ...listOfferings(manifest).map(ownedNameOf)];
}

/** What a plugin brings, as `name@version`. */
function listKeys(manifest: PluginManifest): string[] {
  return listNames(manifest).map((name) => `${name}@${manifest.version}`);
}

/** The same of one kind, by the names that people know. */
function listNewsKeys(manifest: PluginManifest, kind: NewsKind): string[] {
  return (manifest[kind] ?? []).map(({ name }) => `${name}@${manifest.version}`);
}
