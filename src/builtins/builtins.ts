import { createHash } from 'node:crypto';
import type { CapabilityTable } from '../border/capability.ts';
import type { Config } from '../config/config-types.ts';
import { limitTable } from '../config/limits.ts';
import { type BuiltinSettings, type OptionalBuiltin, optionalBuiltins } from '../config/settings/builtin-settings.ts';
import type { EngineUnit, HostedTool, HostedUnit } from '../tools/hosted/hosted-types.ts';
import { createAuthoringTool, type PluginAuthoring } from './authoring.ts';
import { createBrowserTool } from './browser/browser.ts';
import type { Browsers } from './browser/browsers.ts';
import { createCallTool, type MetaToolParts } from './call-tool.ts';
import { type CodeParts, createRunCode } from './code/run-code.ts';
import { createFileRead, createFileWrite } from './file-tools.ts';
import { createEvalCode, createExecuteCommand } from './native/native-tools.ts';
import { createScheduleTask, type ScheduleToolParts } from './schedule-task.ts';
import { createSearchCode, createSearchTools } from './search-tools.ts';
import { createHttpRequest } from './web/http-request.ts';
import { createPageReader, createWebFetch } from './web/web-fetch.ts';
import { createWebSearch, type WebSearchParts } from './web/web-search.ts';

/** What built-ins need of the daemon. */
export interface BuiltinParts extends Pick<WebSearchParts, 'readKey'> {
  readonly config: Pick<Config, 'builtins' | 'docker' | 'files' | 'safeMode' | 'search'>;
  readonly native: CapabilityTable['native'];
  readonly answer: CapabilityTable['answer'];
  readonly metaTools: MetaToolParts;
  readonly checker: CodeParts['checker'];
  readonly browsers: Pick<Browsers, 'use'>;
  readonly authoring: () => PluginAuthoring;
  readonly schedules: ScheduleToolParts['schedules'];
}

/** What a built-in may ask for, and have where it is not the usual. */
type Needs = Partial<Pick<HostedUnit, 'permissions' | 'limits'>>;

const version = '1.0.0';
const spareBytes = 64 * 1024;
const maxPageMs = 10_000;
const always = ['search_tools', 'call_tool', 'search_code', 'run_code', 'eval_code', 'execute_command'];

/** Other words by which models ask for built-ins that they were not told of. */
export const builtinAliases: ReadonlyMap<string, OptionalBuiltin> = new Map(
  optionalBuiltins.map((name) => [`omniroute_${name}`, name]),
);

/** Where the names of built-ins belong. Those that only a list of the config turns on leave their names to plugins where they are off. */
export function listBuiltinPaths({ tools }: Pick<BuiltinSettings, 'tools'>): Readonly<Record<string, string>> {
  return Object.freeze(Object.fromEntries([...always, ...tools].map((name) => [name, pathOf(name)])));
}

/**
 * The built-ins that are always there and those that the config turns on, each with a name of its own for grants. In safe mode
 * nothing here runs code, changes files or reaches the network.
 */
export function createBuiltins(parts: BuiltinParts): ReadonlyArray<HostedUnit | EngineUnit> {
  const { builtins, docker, safeMode } = parts.config;
  const finders = [createSearchTools(parts.metaTools), createCallTool(parts.metaTools)].map((tool) => describeUnit(tool));
  if (safeMode !== 'off') return finders;
  const codeMode = { ...parts.metaTools, checker: parts.checker, isForAdmins: builtins.codeForAdmins };
  const scripts = [describeUnit(createSearchCode(codeMode)), createRunCode(codeMode)];
  const native = { native: parts.native, timeoutMs: docker.timeoutMs };
  const code = [createEvalCode(builtins, native), createExecuteCommand(builtins, native)];
  return [
    ...finders,
    ...scripts,
    ...code.flatMap((tool) => (tool === undefined ? [] : [describeUnit(tool, { permissions: { read: ['.'], write: ['.'] } })])),
    ...builtins.tools.map((name) => createOptional(name, parts)),
  ];
}

function createOptional(
  name: OptionalBuiltin,
  { config, answer, readKey, browsers, metaTools, schedules, authoring }: BuiltinParts,
): HostedUnit {
  const { builtins, files, search } = config;
  const http = { answer, settings: builtins };
  switch (name) {
    case 'file_read':
      return describeUnit(createFileRead({ answer, who: builtins.who }), {
        permissions: { read: ['.'] },
        limits: { outputBytes: asJson(files.maxFileBytes) },
      });
    case 'file_write':
      return describeUnit(createFileWrite({ answer, who: builtins.who }), {
        permissions: { write: ['.'] },
        limits: { argumentBytes: asJson(files.maxFileBytes) },
      });
    case 'http_request':
      return describeUnit(createHttpRequest(http), {
        limits: { outputBytes: asJson(builtins.maxHttpResponseBytes) },
      });
    case 'web_fetch':
      return describeUnit(createWebFetch({ ...http, readPage: createPageReader({ maxMs: maxPageMs }) }));
    case 'web_search':
      return describeUnit(createWebSearch({ answer, who: builtins.who, search, readKey, now: Date.now }));
    case 'schedule_task':
      return describeUnit(createScheduleTask({ ...metaTools, schedules, who: builtins.who.schedule_task, now: Date.now }));
    case 'create_custom_skill':
    case 'tweak_skill':
    case 'self_repair_skill':
      return describeUnit(createAuthoringTool(name, authoring, builtins.who[name]));
    case 'browser':
      return describeUnit(createBrowserTool({ browsers, settings: builtins }), {
        limits: { outputBytes: limitTable.outputBytes.max },
      });
  }
}

/** One byte of a text may take six in JSON; never less than usual. */
function asJson(bytes: number): number {
  return Math.max(limitTable.outputBytes.default, 6 * bytes + spareBytes);
}

function pathOf(name: string): string {
  return `builtin:${name}`;
}

function describeUnit(tool: HostedTool, needs: Needs = {}): HostedUnit {
  const name = pathOf(tool.name);
  return {
    path: name,
    name,
    kind: 'builtin',
    version,
    description: tool.description,
    author: 'operator',
    contentHash: createHash('sha256')
      .update(JSON.stringify([name, version, tool.input]))
      .digest('hex'),
    permissions: {},
    ...needs,
    tools: [tool],
  };
}
