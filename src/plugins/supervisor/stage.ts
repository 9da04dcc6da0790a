import type { PermissionSet } from '../../config/permission-set.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { describePermissions } from '../../permissions/decision.ts';
import type { NameBook, TakenName, WantedNames } from '../../permissions/name-book.ts';
import type { ToolsNews } from '../../tools/tools-news.ts';
import { displayPath } from '../discovery/plugin-roots.ts';
import type { GenerationArchive } from '../generations/archive.ts';
import type { Generation, PluginManifest } from '../generations/generation.ts';
import { createLeasable } from '../generations/leases.ts';
import { type LifecycleEffect, type LifecycleEvent, transition } from '../lifecycle.ts';
import type { Diagnostic } from '../plugin-types.ts';
import type { EscalationRequest } from './builder-types.ts';
import { createInheritance } from './inheritance.ts';
import type { SupervisorParts } from './parts.ts';
import { addTransition, nameOfPlugin, type PluginRecord } from './plugin-record.ts';
import type { PluginRowWriter } from './plugin-rows.ts';

/** Why something happened, and how it is told. */
export interface Telling {
  readonly reason: string;
  readonly durationMs?: number;
  /** Nothing changed for anybody: the daemon only found again what it had left. */
  readonly isQuiet?: boolean;
}

/** Carries out what the lifecycle decides: publishes and withdraws generations, and tells about it. Synchronous. */
export interface Stage {
  /** Takes a plugin through one event; returns what is left to be done: `build` or `forget`. */
  change(record: PluginRecord, event: LifecycleEvent, telling: Telling): readonly LifecycleEffect[];
  /** Publishes a built generation, or keeps it waiting for a grant or for a tool name. */
  offer(record: PluginRecord, generation: Generation, telling: Telling): void;
  /** Notes a failure that counts; with an escalation the plugin waits for a person. */
  fail(record: PluginRecord, diagnostic: Diagnostic, telling: Telling, escalation?: EscalationRequest): void;
  /** Notes the engine that a call asked for: the plugin serves on, and a person is asked. */
  want(record: PluginRecord, escalation: EscalationRequest, reason: string): void;
  /** Decides the grants of a plugin again. */
  regrant(record: PluginRecord, telling: Telling): void;
  /** Whether a generation that waited for a tool name may be offered again. */
  isUnblocked(record: PluginRecord): boolean;
}

/** What the stage works with. */
export interface StageParts
  extends Pick<SupervisorParts, 'config' | 'events' | 'engines' | 'registry' | 'decideGrants' | 'needsGeneration'> {
  readonly archive: GenerationArchive;
  readonly names: NameBook;
  readonly rows: PluginRowWriter;
  readonly news: ToolsNews;
  readonly now: () => number;
  readonly findRecord: (pluginPath: string) => PluginRecord | undefined;
  /** Told when the cells of a generation are forgotten. */
  readonly onDiscard: (generation: Generation) => void;
  /** Told when tool names became free. Must not throw. */
  readonly onNamesFree: () => void;
  readonly onFault: (error: unknown) => void;
}

/** Creates the stage. */
export function createStage(parts: StageParts): Stage {
  const { archive, names, rows, news, now, decideGrants } = parts;
  const inheritance = createInheritance();

  function change(record: PluginRecord, event: LifecycleEvent, telling: Telling): readonly LifecycleEffect[] {
    const { next, effects } = transition(record.lifecycle, event);
    const from = record.lifecycle.state;
    record.lifecycle = next;
    if (effects.includes('withdraw')) withdraw(record);
    if (next.state !== from) tell(record, from, telling);
    return effects;
  }

  function tell(record: PluginRecord, from: string, { reason, durationMs, isQuiet }: Telling): void {
    if (isQuiet) return;
    const to = record.lifecycle.state;
    const generation = record.live?.generation.number;
    const numbered = generation === undefined ? {} : { generation };
    addTransition(record, { atMs: now(), from, to, reason, ...numbered });
    rows.schedule(record);
    // That a build has begun is no news: its end is.
    if (to === 'loading') return;
    parts.events.publish('plugin-change', {
      subject: nameOfPlugin(record),
      data: {
        path: shownPath(record),
        state: to,
        previousState: from,
        reason,
        ...numbered,
        ...(durationMs === undefined ? {} : { durationMs }),
        ...(to === 'pending-grant' ? { pending: describePending(record) } : {}),
      },
    });
  }

  /** Moved by the config alone: nobody was asked, so it is told. */
  function tellClimb(record: PluginRecord, { manifest }: Generation): void {
    if (manifest.climbed === undefined) return;
    const { from, reason } = manifest.climbed;
    const data = { path: shownPath(record), from, to: manifest.engine, reason };
    parts.events.publish('engine-change', { subject: nameOfPlugin(record), data });
  }

  function describePending({ waiting, live, escalation }: PluginRecord): string {
    const asking = escalation ?? (waiting?.because === 'grant' ? waiting.generation : live?.generation);
    return asking === undefined ? '' : describePermissions(decideGrants(asking).pending);
  }

  function withdraw(record: PluginRecord): void {
    const live = record.live;
    if (!live) return;
    parts.registry.withdraw(record.path);
    record.live = undefined;
    news.note(listToolKeys(live.generation.manifest), []);
    live.leasable.retire(parts.config.generations.drainMs);
  }

  function offer(record: PluginRecord, generation: Generation, telling: Telling): void {
    const taken = names.findTaken(record.path, wantedNames(generation.manifest));
    if (taken) {
      block(record, generation, taken, telling);
      return;
    }
    const pending = isAskingForMore(decideGrants(generation).pending);
    const from = record.lifecycle.state;
    const { next, effects } = transition(record.lifecycle, { type: 'built', pending });
    if (effects.includes('hold')) {
      record.waiting = { generation, because: 'grant' };
    } else if (effects.includes('publish')) {
      const refusal = publish(record, generation);
      if (refusal) {
        fail(record, refusal, telling);
        return;
      }
      record.waiting = undefined;
    } else {
      return;
    }
    record.lifecycle = next;
    record.diagnostic = undefined;
    record.escalation = undefined;
    keep(record, generation);
    tell(record, from, telling);
    if (!telling.isQuiet) tellClimb(record, generation);
  }

  function publish(record: PluginRecord, generation: Generation): Diagnostic | undefined {
    const before = record.live;
    const leasable = createLeasable({
      generation,
      granted: (use) => decideGrants(generation, use).granted,
      onDrained: () => letGo(record, generation),
    });
    for (const path of names.claim(record.path, wantedNames(generation.manifest))) displace(path, record, generation);
    try {
      parts.registry.publish(leasable.served);
    } catch (error) {
      if (before) names.claim(record.path, wantedNames(before.generation.manifest));
      else names.yield(record.path);
      if (!(error instanceof HotcellError)) throw error;
      return { code: error.code, message: error.message, fix: error.fix };
    }
    record.live = { generation, leasable };
    record.chosen = generation;
    record.loadedAtMs = now();
    const oldKeys = before ? listToolKeys(before.generation.manifest) : [];
    const newKeys = listToolKeys(generation.manifest);
    news.note(oldKeys, newKeys);
    before?.leasable.retire(parts.config.generations.drainMs);
    if (oldKeys.some((oldKey) => !newKeys.includes(oldKey))) parts.onNamesFree();
    return undefined;
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
    if (!names.isThere(path)) return void change(loser, { type: 'vanished' }, { reason: 'the file was removed' });
    const { manifest } = loser.live.generation;
    const [tool] = listToolKeys(generation.manifest).filter((key) => listToolKeys(manifest).includes(key));
    loser.waiting = { generation: loser.live.generation, because: 'duplicate' };
    names.yield(path);
    const diagnostic = describeTaken(tool ?? manifest.name, shownPath(winner), loser);
    loser.diagnostic = diagnostic;
    change(loser, { type: 'displaced' }, { reason: diagnostic.message });
    tellDiagnostic(loser, diagnostic);
  }

  function block(record: PluginRecord, generation: Generation, { name, owner }: TakenName, telling: Telling): void {
    record.waiting = { generation, because: 'duplicate' };
    keep(record, generation);
    fail(record, describeTaken(name, shownOwner(owner), record), telling);
  }

  function keep(record: PluginRecord, generation: Generation): void {
    archive.save(generation);
    rows.schedule(record);
    archive.prune(
      record.path,
      parts.config.generations.keep,
      (kept) => isNeeded(record, kept) || parts.needsGeneration?.(kept.id) === true,
    );
  }

  function shownOwner(path: string): string {
    const record = parts.findRecord(path);
    return record ? shownPath(record) : path;
  }

  function fail(record: PluginRecord, diagnostic: Diagnostic, telling: Telling, escalation?: EscalationRequest): void {
    record.diagnostic = diagnostic;
    record.escalation = escalation;
    change(record, { type: escalation ? 'held' : 'failed' }, { ...telling, reason: diagnostic.message });
    rows.schedule(record);
    tellDiagnostic(record, diagnostic);
  }

  function tellDiagnostic(record: PluginRecord, diagnostic: Diagnostic): void {
    parts.events.publish('plugin-diagnostic', {
      subject: nameOfPlugin(record),
      data: { path: shownPath(record), ...diagnostic },
    });
  }

  return {
    change,
    offer,
    fail,
    want(record, escalation, reason) {
      record.escalation = escalation;
      change(record, { type: 'held' }, { reason });
    },
    regrant(record, telling) {
      const waiting = record.waiting?.because === 'grant' ? record.waiting.generation : undefined;
      if (waiting && !isAskingForMore(decideGrants(waiting).pending)) return offer(record, waiting, telling);
      if (!record.live) return;
      const pending = isAskingForMore(decideGrants(record.live.generation).pending);
      change(
        record,
        { type: 'regranted', pending, isHolding: waiting !== undefined || record.escalation !== undefined },
        telling,
      );
    },
    isUnblocked: ({ path, waiting }) =>
      waiting?.because === 'duplicate' && names.findTaken(path, wantedNames(waiting.generation.manifest)) === undefined,
  };
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
  const second = shownPath(record);
  const what = name.includes('@') ? 'tool' : 'name';
  const message =
    owner === second
      ? `The tool "${name}" is defined twice in ${second}.`
      : `The ${what} "${name}" of ${second} belongs to ${owner}, which had it first.`;
  const fix = what === 'tool' ? 'Give one of the two another name or version.' : `Give ${second} another name.`;
  return { code: 'tool-duplicate', message, file: record.source.name, fix };
}

/** The path of a plugin as people read it. */
export function shownPath(record: PluginRecord): string {
  return displayPath(record.source.root, record.path);
}

/** The names that a plugin wants for itself and its tools. */
function wantedNames({ name, version, tools }: PluginManifest): WantedNames {
  return { name, version, tools: tools.map((tool) => tool.name) };
}

/** The tools of a manifest as `name@version`. */
function listToolKeys({ version, tools }: PluginManifest): string[] {
  return tools.map((tool) => `${tool.name}@${version}`);
}
