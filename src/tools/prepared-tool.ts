import type { Config } from '../config/config-types.ts';
import { type Limits, resolveLimits } from '../config/limits.ts';
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
  config: Pick<Config, 'limits' | 'pluginLimits'>,
  validators: ValidatorCache,
): (entry: ToolEntry) => PreparedTool {
  const preparedByEntry = new WeakMap<ToolEntry, PreparedTool>();
  return (entry) => {
    const known = preparedByEntry.get(entry);
    if (known !== undefined) return known;
    const { manifest, published, plugin } = entry;
    const ofTool = manifest.timeoutMs === undefined ? undefined : { wallMs: manifest.timeoutMs };
    const ofConfig = Object.hasOwn(config.pluginLimits, plugin) ? config.pluginLimits[plugin] : undefined;
    const prepared = {
      limits: resolveLimits(published.manifest.limits, ofTool, config.limits, ofConfig),
      input: validators.validatorOf(manifest.input),
      output: manifest.output === undefined ? undefined : validators.validatorOf(manifest.output),
    };
    preparedByEntry.set(entry, prepared);
    return prepared;
  };
}
