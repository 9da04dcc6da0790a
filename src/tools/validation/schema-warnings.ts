import type { ToolManifest } from '../../units/tool-manifest.ts';
import { checkSchema } from './validator.ts';

/** What of the schemas of tools is not checked at a call, and why. */
export function listSchemaWarnings(tools: readonly ToolManifest[]): string[] {
  return tools.flatMap(({ name, input, output }) => [
    ...checkSchema(input).warnings.map((warning) => `${name}, parameters: ${warning}`),
    ...(output ? checkSchema(output).warnings.map((warning) => `${name}, output: ${warning}`) : []),
  ]);
}
