import { basename } from 'node:path';
import { omitUndefined } from '../../config/json-object.ts';
import type { GrantDecision } from '../../permissions/decision.ts';
import type { Asking } from '../../permissions/grant-registry.ts';
import { listOfferings, ownedNameOf } from '../../units/offering.ts';
import type { UnitStanding } from '../../units/unit-registry.ts';
import { displayPath } from '../discovery/plugin-roots.ts';
import type { Generation, PluginManifest } from '../generations/generation.ts';
import type { PluginView } from '../plugin-types.ts';
import type { GenerationView } from '../supervisor-types.ts';
import { nameOfPlugin, type PluginRecord } from './plugin-record.ts';

/** A plugin as every door shows it. */
export function viewPlugin(record: PluginRecord, decideGrants: (asking: Asking) => GrantDecision): PluginView {
  const { live, waiting, diagnostic, loadedAtMs, lastReloadMs } = record;
  const asking = findAsking(record);
  const manifest = (live?.generation ?? record.chosen ?? waiting?.generation)?.manifest;
  const climbed = manifest?.climbed;
  const decision = asking && decideGrants(asking);
  return {
    name: nameOfPlugin(record),
    version: manifest?.version ?? '0.0.0',
    path: record.shownPath,
    description: manifest?.description ?? '',
    state: record.lifecycle.state,
    ...omitUndefined({ climbed: climbed && { from: climbed.from, reason: climbed.reason }, shape: manifest?.shape }),
    engine: manifest?.engine ?? (record.source.kind === 'wasm' ? 'extism' : 'quickjs'),
    isolation: manifest?.isolation ?? 'call',
    ...(live && viewLive(live.generation)),
    ...viewBrought(live?.generation.manifest),
    ...(diagnostic ? { diagnostic } : {}),
    warnings: [...(manifest?.warnings ?? []), ...(live ? listSeconds(record, live.generation) : [])],
    permissions: {
      source: (record.escalation ?? findAskingGeneration(record)?.manifest)?.permissionsSource ?? 'declared',
      requested: asking?.manifest.permissions ?? {},
      granted: decision?.granted ?? {},
      pending: decision?.pending ?? {},
      ...(waiting?.because === 'grant' ? { waitingGeneration: waiting.generation.number } : {}),
    },
    ...omitUndefined({ loadedAtMs, lastReloadMs }),
  };
}

/** A plugin as people see it who decide on what it asks for. */
export function describeStanding(record: PluginRecord, decideGrants: (asking: Asking) => GrantDecision): UnitStanding {
  const { name, version, path: shown, state, climbed } = viewPlugin(record, decideGrants);
  const asking = findAsking(record);
  const needsEngine = asking !== undefined && decideGrants(asking).pending.engine !== undefined;
  const reason = record.escalation?.reason ?? (needsEngine ? climbed?.reason : undefined);
  return { name, version, shownPath: shown, state, ...omitUndefined({ asking, reason }) };
}

/** What people decide on: the build that wants another engine, else the generation that waits for a grant, else the one that serves. */
export function findAsking(record: PluginRecord): Asking | undefined {
  return record.escalation ?? findAskingGeneration(record);
}

function findAskingGeneration({ live, waiting, chosen }: PluginRecord): Generation | undefined {
  return waiting?.because === 'grant' ? waiting.generation : (live?.generation ?? chosen ?? waiting?.generation);
}

/** A generation as lists show it. */
export function viewGeneration(generation: Generation, current: Generation | undefined): GenerationView {
  const { number, id, author, contentHash, createdAtMs, manifest } = generation;
  return { number, id, author, version: manifest.version, contentHash, createdAtMs, current: id === current?.id };
}

function viewBrought(manifest: PluginManifest | undefined): Pick<PluginView, 'tools' | 'prompts' | 'resources'> {
  const { tools = [], prompts, resources } = manifest ?? {};
  return {
    tools: tools.map(({ name }) => name),
    ...(prompts && { prompts: prompts.map(({ name }) => name) }),
    ...(resources && { resources: resources.map(({ uri }) => uri) }),
  };
}

/** What of a plugin has a name that belongs to another unit. */
function listSeconds({ path, ownerOf, source }: PluginRecord, { manifest }: Generation): string[] {
  const { tools, version } = manifest;
  const offerings = listOfferings(manifest).flatMap((offering) => {
    const owner = ownerOf(ownedNameOf(offering));
    if (owner === undefined || owner === path) return [];
    const shown = offering.kind === 'prompt' ? `The name of the prompt "${offering.name}"` : `The address ${offering.uri}`;
    const how = `hotcell tool own '${ownedNameOf(offering)}' ${displayPath(source.root, path)}`;
    return [`${shown} belongs to ${basename(owner)}, which had it first; to give it to this plugin: ${how}.`];
  });
  const seconds = tools.flatMap(({ name }) => {
    const owner = ownerOf(name);
    if (owner === undefined || owner === path) return [];
    const shown = displayPath(source.root, path);
    const how = `It is called as ${name}@${version}; to give it the name: hotcell tool own ${name} ${shown}.`;
    return [`The name of the tool "${name}" belongs to ${basename(owner)}, which had it first. ${how}`];
  });
  return [...seconds, ...offerings];
}

function viewLive(generation: Generation): Pick<PluginView, 'generation' | 'author' | 'contentHash'> {
  return { generation: generation.number, author: generation.author, contentHash: generation.contentHash };
}
