import type { ToolManifest } from '../units/tool-manifest.ts';
import type { ServedUnit, UnitKind } from '../units/unit.ts';

/** One callable thing. */
export interface ToolEntry {
  readonly name: string;
  readonly version: string;
  readonly source: UnitKind;
  /** The name of its unit, for people; what is granted and kept belongs to the path of the unit. */
  readonly plugin: string;
  /** Its name belongs to another unit: it answers to `name@version` alone. */
  readonly isSecond?: true;
  readonly manifest: ToolManifest;
  readonly served: ServedUnit;
}

/** The entry of a tool that a unit brings. */
export function makeToolEntry(manifest: ToolManifest, served: ServedUnit): ToolEntry {
  const { kind, manifest: unit } = served.unit;
  return { name: manifest.name, version: unit.version, source: kind, plugin: unit.name, manifest, served };
}
