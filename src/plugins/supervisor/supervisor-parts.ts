import type { Config } from '../../config/config-types.ts';
import type { Engine, EngineName } from '../../engines/engine.ts';
import type { EventLog } from '../../events/event.ts';
import type { NameRegistry } from '../../names/name-registry.ts';
import type { GrantDecision } from '../../permissions/decision.ts';
import type { Asking } from '../../permissions/grant-registry.ts';
import type { GrantUse } from '../../permissions/select-grants.ts';
import type { Store } from '../../store/store-types.ts';
import type { ToolRegistry } from '../../tools/registry.ts';
import type { LoadPolicy } from '../discovery/load-policy.ts';
import type { PluginRoot } from '../discovery/plugin-roots.ts';
import type { GenerationArchive } from '../generations/archive.ts';
import type { Maker } from '../generations/generation-rows.ts';
import type { InputUsers } from '../watch/input-users.ts';
import type { PluginBuilder } from './build/builder-types.ts';
import type { PluginRowWriter } from './plugin-rows.ts';
import type { WrittenFiles } from './written-files.ts';

/** Everything that the supervisor works with. */
export interface SupervisorParts {
  readonly config: Pick<Config, 'pluginDirs' | 'wasmDirs' | 'sharedDirs' | 'dataDir' | 'generations' | 'watch'> & LoadPolicy;
  readonly store: Pick<Store, 'generations' | 'plugins' | 'writtenFiles'>;
  readonly events: Pick<EventLog, 'publish'>;
  readonly builder: PluginBuilder;
  /** Engines by name, to forget the cells of replaced generations. */
  readonly engines: Partial<Record<EngineName, Pick<Engine, 'discard'>>>;
  /** Where the tools of published generations go. */
  readonly registry: Pick<ToolRegistry, 'publish' | 'withdraw'>;
  /** Who owns which name of a plugin or a tool. */
  readonly names: NameRegistry;
  /** What of its request a generation is granted now, within a call when one is given; asked on every use of a permission. */
  readonly decideGrants: (asking: Asking, use?: GrantUse) => GrantDecision;
  /** True while a call that waits for a person began with this generation: it is kept, and so are its cells. */
  readonly needsGeneration?: (generationId: string) => boolean;
  /** Told at the start, as soon as what the last run left serves again. Must not throw. */
  readonly onRestored?: () => void;
  /** Told when a plugin is gone for good. Must not throw. */
  readonly onForgotten?: (pluginPath: string) => void;
  /** What makes bundles and manifests now. */
  readonly madeBy: Maker;
  readonly now?: () => number;
  /** Told of faults of the daemon itself. Must not throw. */
  readonly onFault?: (error: unknown) => void;
}

/** What the parts of the supervisor share. */
export interface SupervisorRoom extends SupervisorParts {
  readonly roots: readonly PluginRoot[];
  readonly users: InputUsers;
  readonly archive: GenerationArchive;
  readonly rows: PluginRowWriter;
  readonly written: WrittenFiles;
  readonly now: () => number;
  readonly onFault: (error: unknown) => void;
}
