import type { PluginManifest } from '../../units/manifest.ts';
import { checkSchema } from './validator.ts';

/** Adds to a manifest's warnings what of its schemas is not checked at a call, and why. */
export function addSchemaWarnings(manifest: PluginManifest): PluginManifest {
  const warnings = manifest.tools.flatMap(({ name, input, output }) => [
    ...checkSchema(input).warnings.map((warning) => `${name}, parameters: ${warning}`),
    ...(output ? checkSchema(output).warnings.map((warning) => `${name}, output: ${warning}`) : []),
  ]);
  return warnings.length === 0 ? manifest : { ...manifest, warnings: [...manifest.warnings, ...warnings] };
}
