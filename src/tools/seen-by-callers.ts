import type { Caller } from '../callers/caller.ts';
import { isAnothers } from '../names/tool-owners.ts';
import { globMatches } from '../permissions/matching.ts';
import type { ToolManifest } from '../units/tool-manifest.ts';
import type { OfferingEntry, ToolEntry } from './tool-types.ts';

/**
 * Whether a caller may know of tools with this name. Who has no list knows of all; a name in a list means the tool of the unit that
 * had it when the list was made, where `owner` says who has it now.
 */
export function seesToolName({ tools, toolOwners }: Pick<Caller, 'tools' | 'toolOwners'>, name: string, owner?: string): boolean {
  if (tools === undefined) return true;
  return tools.some((glob) => globMatches(glob, name) && !(glob === name && isAnothers(toolOwners, name, owner)));
}

/**
 * Whether a caller may know of this tool. An anonymous caller never gets what is marked isDangerous or isElevated, needs a person,
 * or keeps one cell for all callers, whatever the list says.
 */
export function seesTool(caller: Caller, entry: ToolEntry): boolean {
  const { codeRule } = entry.manifest;
  if (codeRule !== undefined)
    return caller.isAnonymous !== true && (caller.code === true || (codeRule.isForAdmins && caller.role === 'admin'));
  // A list names tools of the units that own the names.
  if (caller.tools !== undefined && entry.isSecond) return false;
  if (!seesToolName(caller, entry.name, entry.served.unit.path)) return false;
  return caller.isAnonymous !== true || isForAnonymous(entry);
}

/** Whether a caller may know of a prompt or a resource: lists of keys mean it by the name that people know. */
export function seesOffering(caller: Caller, entry: OfferingEntry): boolean {
  return seesTool(caller, { ...entry, name: entry.offering.name });
}

/** Whether a call of this tool from within other tools, by this caller, would be let in. */
export function isOpenTo(caller: Caller, entry: ToolEntry): boolean {
  const { mode, flags } = entry.manifest;
  return mode !== 'off' && !entry.isSecond && (caller.role === 'admin' || !flags.isElevated) && seesTool(caller, entry);
}

function isForAnonymous({ manifest, served }: ToolEntry): boolean {
  const { isDangerous, isElevated } = manifest.flags;
  return !isDangerous && !isElevated && !asksPerson(manifest) && served.unit.manifest.isolation !== 'plugin';
}

function asksPerson({ who = 'model' }: ToolManifest): boolean {
  return who !== 'model';
}
