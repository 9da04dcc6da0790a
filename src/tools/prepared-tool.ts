import type { Config } from '../config/config-types.ts';
import { holdLimits, type Limits, listRaisedLimits, resolveLimits } from '../config/limits.ts';
import type { PermissionSet } from '../config/permission-set.ts';
import type { ToolManifest } from '../units/tool-manifest.ts';
import type { ToolEntry } from './tool-types.ts';
import { createDefaultFiller, type FillDefaults } from './validation/fill-defaults.ts';
import type { ValidatorCache, ValueValidator } from './validation/validator.ts';

/** What is worked out once for a published tool, so that a call only looks it up. */
export interface PreparedTool {
  readonly limits: Limits;
  readonly input: ValueValidator;
  /** Puts the defaults of the schema into arguments that lack them. */
  readonly fillDefaults: FillDefaults | undefined;
  readonly output: ValueValidator | undefined;
}

interface Prepared {
  readonly tool: PreparedTool;
  /** What it was worked out from; another one makes it worked out again. */
  readonly granted: PermissionSet | undefined;
  readonly limits: Partial<Limits>;
  readonly withoutGrant: Partial<Limits>;
  readonly ofPlugins: Config['pluginLimits'];
}

/** Creates the lookup. What it keeps goes when the registry lets go of the entry. */
export function createToolPreparer(
  config: Pick<Config, 'limits' | 'limitsWithoutGrant' | 'pluginLimits'>,
  validators: ValidatorCache,
  /** What the operator laid down for the plugin of this file. */
  limitsOf?: (unitPath: string) => Partial<Limits> | undefined,
): (entry: ToolEntry) => PreparedTool {
  const preparedByEntry = new WeakMap<ToolEntry, Prepared>();
  return (entry) => {
    const { manifest, served } = entry;
    const ofTool = manifest.timeoutMs === undefined ? {} : { wallMs: manifest.timeoutMs };
    const known = preparedByEntry.get(entry);
    // What the daemon itself brings asks nobody.
    const asks =
      known === undefined
        ? entry.source === 'plugin' && listRaisedLimits(served.unit.manifest.limits, ofTool).length > 0
        : known.granted !== undefined;
    const granted = asks ? served.granted() : undefined;
    const { limits, limitsWithoutGrant: withoutGrant, pluginLimits: ofPlugins } = config;
    if (
      known?.granted === granted &&
      known?.limits === limits &&
      known.withoutGrant === withoutGrant &&
      known.ofPlugins === ofPlugins
    ) {
      return known.tool;
    }
    const hold = (choice: Partial<Limits>) =>
      granted === undefined ? choice : holdLimits(choice, [...listRaisedLimits(withoutGrant), ...(granted.limits ?? [])]);
    const ofConfig = limitsOf?.(served.unit.path);
    const tool = {
      limits: resolveLimits(hold(served.unit.manifest.limits), hold(ofTool), limits, ofConfig),
      ...prepareSchemas(manifest, validators),
    };
    preparedByEntry.set(entry, { tool, granted, limits, withoutGrant, ofPlugins });
    return tool;
  };
}

/** What a schema object of the plugin checks is not checked here: it may take more than its JSON Schema says, and less. */
function prepareSchemas(
  { input, output, checkedByPlugin = [] }: ToolManifest,
  { validatorOf }: ValidatorCache,
): Pick<PreparedTool, 'input' | 'fillDefaults' | 'output'> {
  const isParsed = checkedByPlugin.includes('input');
  return {
    input: isParsed ? acceptsAll : validatorOf(input),
    fillDefaults: isParsed ? undefined : createDefaultFiller(input),
    output: output === undefined || checkedByPlugin.includes('output') ? undefined : validatorOf(output),
  };
}

const acceptsAll: ValueValidator = { findIssues: () => undefined };
