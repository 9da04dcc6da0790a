import type { Config } from '../config/config-types.ts';
import { holdLimits, type Limits, listRaisedLimits, resolveLimits } from '../config/limits.ts';
import type { PermissionSet } from '../config/permission-set.ts';
import type { ToolEntry } from './tool-types.ts';
import type { ValidatorCache, ValueValidator } from './validation/validator.ts';

/** What is worked out once for a published tool, so that a call only looks it up. */
export interface PreparedTool {
  readonly limits: Limits;
  readonly input: ValueValidator;
  readonly output: ValueValidator | undefined;
}

/** Creates the lookup. What it keeps goes when the registry lets go of the entry. */
export function createToolPreparer(
  config: Pick<Config, 'limits' | 'pluginLimits' | 'limitsWithoutGrant'>,
  validators: ValidatorCache,
): (entry: ToolEntry) => PreparedTool {
  const free = listRaisedLimits(config.limitsWithoutGrant);
  const preparedByEntry = new WeakMap<ToolEntry, { readonly tool: PreparedTool; readonly granted: PermissionSet | undefined }>();
  return (entry) => {
    const { manifest, published, plugin } = entry;
    const ofTool = manifest.timeoutMs === undefined ? {} : { wallMs: manifest.timeoutMs };
    const known = preparedByEntry.get(entry);
    // What the daemon itself brings asks nobody.
    const asks =
      known === undefined
        ? entry.source === 'plugin' && listRaisedLimits(published.manifest.limits, ofTool).length > 0
        : known.granted !== undefined;
    const granted = asks ? published.granted() : undefined;
    if (known !== undefined && known.granted === granted) return known.tool;
    const hold = (choice: Partial<Limits>) =>
      granted === undefined ? choice : holdLimits(choice, [...free, ...(granted.limits ?? [])]);
    const ofConfig = Object.hasOwn(config.pluginLimits, plugin) ? config.pluginLimits[plugin] : undefined;
    const tool = {
      limits: resolveLimits(hold(published.manifest.limits), hold(ofTool), config.limits, ofConfig),
      input: validators.validatorOf(manifest.input),
      output: manifest.output === undefined ? undefined : validators.validatorOf(manifest.output),
    };
    preparedByEntry.set(entry, { tool, granted });
    return tool;
  };
}
