import type { ToolUsers } from '../config/settings/builtin-settings.ts';
import type { OfferingManifest } from '../units/offering.ts';
import type { ToolManifest, ToolMode } from '../units/tool-manifest.ts';
import type { ServedUnit, UnitKind } from '../units/unit.ts';
import { withWellFormedSchemas } from './validation/well-formed.ts';

/** What an operator set for one tool; what is absent is as its unit declares it. */
export interface ToolSetting {
  readonly mode?: ToolMode;
  readonly who?: ToolUsers;
  /** The caller id. */
  readonly setBy: string;
  readonly setAtMs: number;
}

/** One callable thing. */
export interface ToolEntry {
  readonly name: string;
  readonly version: string;
  readonly source: UnitKind;
  /** The name of its unit, for people; what is granted and kept belongs to the path of the unit. */
  readonly plugin: string;
  /** The name of the tool belongs to another unit: this one answers to `name@version` alone. */
  readonly isSecond?: true;
  /** As it is set now. */
  readonly manifest: ToolManifest;
  /** As its unit declares it, and what an operator set; absent where nothing is set. */
  readonly declared?: ToolManifest;
  readonly setting?: ToolSetting;
  readonly served: ServedUnit;
}

/** A prompt or a resource: called like a tool, found by its name or its address. */
export interface OfferingEntry extends ToolEntry {
  readonly offering: OfferingManifest;
}

/** The entry of a prompt or a resource that a unit brings. */
export function makeOfferingEntry(offering: OfferingManifest, served: ServedUnit): OfferingEntry {
  return { ...makeToolEntry(offering.call, served), offering };
}

/** The entry of a tool that a unit brings. */
export function makeToolEntry(declared: ToolManifest, served: ServedUnit): ToolEntry {
  const { kind, manifest: unit } = served.unit;
  const manifest = withWellFormedSchemas(declared);
  return { name: manifest.name, version: unit.version, source: kind, plugin: unit.name, manifest, served };
}
