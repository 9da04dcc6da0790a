import { createHash } from 'node:crypto';
import type { CapabilityTable } from '../border/capability.ts';
import type { Config } from '../config/config-types.ts';
import type { PermissionSet } from '../config/permission-set.ts';
import type { EngineUnit, HostedTool, HostedUnit } from '../tools/hosted/hosted-types.ts';
import { createCallTool, type ToolDeskParts } from './call-tool.ts';
import { type CodeParts, createRunCode } from './code/run-code.ts';
import { createSearchCode } from './code/search-code.ts';
import { createEvalCode } from './eval-code.ts';
import { createExecuteCommand } from './execute-command.ts';
import { createSearchTools } from './search-tools.ts';

/** What built-ins need of the daemon. */
export interface BuiltinParts {
  readonly config: Pick<Config, 'builtins' | 'docker' | 'safeMode'>;
  readonly native: CapabilityTable['native'];
  readonly desk: ToolDeskParts;
  readonly checker: CodeParts['checker'];
}

const version = '1.0.0';

/** Where the names of built-ins belong, whether the config turns them on or not. */
export const builtinPaths = Object.freeze({
  eval_code: 'builtin:eval_code',
  execute_command: 'builtin:execute_command',
  search_tools: 'builtin:search_tools',
  call_tool: 'builtin:call_tool',
  search_code: 'builtin:search_code',
  run_code: 'builtin:run_code',
});

/**
 * The built-ins that are always there and those that the config turns on, each with a name of its own for grants. In safe mode
 * nothing here runs code.
 */
export function createBuiltins({ config, native, desk, checker }: BuiltinParts): ReadonlyArray<HostedUnit | EngineUnit> {
  const { builtins, docker, safeMode } = config;
  const always = [createSearchTools(desk), createCallTool(desk)].map((tool) => describeUnit(tool, {}));
  if (safeMode !== 'off') return always;
  const codeMode = { ...desk, checker, isForAdmins: builtins.codeForAdmins };
  const scripts = [describeUnit(createSearchCode(codeMode), {}), createRunCode(codeMode)];
  const parts = { native, timeoutMs: docker.timeoutMs };
  const code = [createEvalCode(builtins, parts), createExecuteCommand(builtins, parts)];
  return [
    ...always,
    ...scripts,
    ...code.flatMap((tool) => (tool === undefined ? [] : [describeUnit(tool, { read: ['.'], write: ['.'] })])),
  ];
}

function describeUnit(tool: HostedTool, permissions: PermissionSet): HostedUnit {
  const name = `builtin:${tool.name}`;
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
    permissions,
    tools: [tool],
  };
}
