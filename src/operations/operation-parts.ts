import type { PluginAuthoring } from '../builtins/authoring.ts';
import type { KeyRing } from '../callers/key-ring.ts';
import type { CallScheduler } from '../calls/call-scheduler.ts';
import type { ExecutionReader, ToolCaller } from '../calls/call-types.ts';
import type { Config } from '../config/config-types.ts';
import type { ConfigState } from '../config/live.ts';
import type { CommandRunner } from '../engines/process/docker/command/command-runner.ts';
import type { ImageBook } from '../engines/process/docker/images/image-book.ts';
import type { EventLog } from '../events/event.ts';
import type { HookRegistry } from '../hooks/hook-registry.ts';
import type { Loops } from '../loop/loops.ts';
import type { McpBook } from '../mcp-servers/mcp-book.ts';
import type { ModelCatalog } from '../models/catalog.ts';
import type { ModelMeter } from '../models/meter.ts';
import type { Upstreams } from '../models/upstream.ts';
import type { NameRegistry } from '../names/name-registry.ts';
import type { Approvals } from '../permissions/approvals/approvals.ts';
import type { GrantQuestions } from '../permissions/approvals/grant-questions.ts';
import type { GrantRegistry } from '../permissions/grant-registry.ts';
import type { PermissionUses } from '../permissions/uses.ts';
import type { PluginSupervisor } from '../plugins/supervisor-types.ts';
import type { HealthChecks } from '../repair/health.ts';
import type { Repairs } from '../repair/repairs.ts';
import type { TryProposal } from '../repair/trial/trial.ts';
import type { Replays } from '../replay/replay-types.ts';
import type { SecretKeeper } from '../secrets/secret-types.ts';
import type { SkillRegistry } from '../skills/skill-registry.ts';
import type { Store } from '../store/store-types.ts';
import type { RegisteredTools } from '../tools/registered/registered-tools.ts';
import type { ToolRegistry } from '../tools/registry.ts';
import type { ToolSettings } from '../tools/settings/tool-settings.ts';
import type { ToolSwitches } from '../tools/settings/tool-switches.ts';
import type { OfferedTools } from '../tools/shown-to-models.ts';
import type { ToolUses } from '../tools/tool-uses.ts';
import type { ToolsNews } from '../tools/tools-news.ts';
import type { UnitRegistry } from '../units/unit-registry.ts';

/** The parts of the daemon that operations are made of. */
export interface OperationParts {
  readonly config: Config;
  /** Where the config file stands to it. */
  readonly configState: () => ConfigState;
  readonly plugins: PluginSupervisor;
  /** Whatever brings tools: plugins, built-ins, scripts of skills. */
  readonly units: UnitRegistry;
  readonly skills: SkillRegistry;
  readonly grants: GrantRegistry;
  readonly approvals: Approvals;
  readonly grantQuestions: GrantQuestions;
  readonly uses: PermissionUses;
  readonly tools: ToolRegistry;
  readonly settings: ToolSettings;
  readonly switches: ToolSwitches;
  readonly news: Pick<ToolsNews, 'note'>;
  readonly toolUses: Pick<ToolUses, 'useOf'>;
  readonly registered: RegisteredTools;
  /** What models are told of. */
  readonly offered: OfferedTools;
  /** Who owns which name. */
  readonly names: NameRegistry;
  readonly caller: ToolCaller;
  readonly executions: ExecutionReader;
  readonly loops: Loops;
  readonly replays: Replays;
  /** Tries changes of plugins; nothing of them is published. */
  readonly tryProposal: TryProposal;
  readonly events: EventLog;
  readonly store: Store;
  readonly keys: KeyRing;
  /** Deletes what the call of a caller without a token left behind. Must not reject. */
  readonly forgetAnonymous: (callerId: string) => Promise<void>;
  readonly secrets: SecretKeeper;
  /** The language models, the way to them, and what they are used for. */
  readonly catalog: ModelCatalog;
  readonly upstreams: Upstreams;
  readonly meter: ModelMeter;
  /** The images in which native commands run. */
  readonly images: ImageBook;
  /** What runs in containers. */
  readonly containers: Pick<CommandRunner, 'listRuns' | 'kill' | 'killAll'>;
  readonly hooks: HookRegistry;
  readonly mcp: McpBook;
  readonly schedules: CallScheduler;
  readonly repairs: Repairs;
  readonly authoring: PluginAuthoring;
  readonly health: Pick<HealthChecks, 'healthOf'>;
  readonly version: string;
  readonly startedAtMs: number;
}
