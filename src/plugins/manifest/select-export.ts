import { isObject } from '../../config/json-object.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { suggestNearNames } from '../../errors/near-names.ts';
import { describeManifestValue, isFunctionMark, type ManifestNode } from './manifest-fields.ts';

/** The object that describes the plugin. In a namespace, unknown names that are near no key are exports for others. */
export interface SelectedExport {
  readonly node: ManifestNode;
  readonly warnings: readonly string[];
}

const rightForm = 'Write: export default { name, description, handler }.';

/**
 * Chooses among default and named exports, in the order in which the sandbox looks for handlers: the default export, the
 * export named like the file, the first exported object with a handler, and last the named exports themselves.
 * Throws `export-missing` or `manifest-invalid`.
 */
export function selectExport(exported: unknown, fileBase: string, knownKeys: readonly string[]): SelectedExport {
  const main = isObject(exported) ? exported.default : undefined;
  const named = isObject(exported) && isObject(exported.named) ? exported.named : {};
  if (isFunctionMark(main)) {
    throw new HotcellError('export-missing', 'The default export is a bare function, but a plugin is an object with a handler.', {
      fix: 'Write: export default { name, description, handler: async (args, context) => … }.',
    });
  }
  if (isObject(main)) return { node: { path: '', data: main }, warnings: [] };
  if (main !== undefined && main !== null) {
    throw new HotcellError('export-missing', `The default export must be an object, but is ${describeManifestValue(main)}.`, {
      fix: rightForm,
    });
  }
  const byName = named[fileBase];
  const holder = isObject(byName) && !isFunctionMark(byName) ? byName : Object.values(named).find(hasHandler);
  if (isObject(holder)) return { node: { path: '', data: holder }, warnings: [] };
  if ('handler' in named || ['tools', 'prompts', 'resources'].some((key) => isObject(named[key])))
    return selectNamespace(named, knownKeys);
  const names = Object.keys(named).slice(0, 10);
  const what =
    names.length === 0 ? 'The module exports nothing' : `The module exports ${names.join(', ')}, and no default export`;
  throw new HotcellError('export-missing', `${what}; expected a default export with a handler.`, { fix: rightForm });
}

/** Named exports as a manifest: a module may export other things too, but not what looks like a misspelt key. */
function selectNamespace(named: Readonly<Record<string, unknown>>, knownKeys: readonly string[]): SelectedExport {
  const data: Record<string, unknown> = {};
  const warnings: string[] = [];
  for (const [key, value] of Object.entries(named)) {
    if (knownKeys.includes(key) || (!isFunctionMark(value) && suggestNearNames(key, knownKeys) !== '')) data[key] = value;
    else if (!isFunctionMark(value)) warnings.push(`Export "${key}" is no key of a plugin, and is left out.`);
  }
  return { node: { path: '', data }, warnings };
}

function hasHandler(value: unknown): boolean {
  return isObject(value) && isFunctionMark(value.handler);
}
