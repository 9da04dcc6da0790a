import { createHash } from 'node:crypto';
import type { CapabilityTable } from '../border/capability.ts';
import type { Config } from '../config/config-types.ts';
import type { HostedTool, HostedUnit } from '../tools/hosted/hosted-types.ts';
import { createEvalCode } from './eval-code.ts';
import { createExecuteCommand } from './execute-command.ts';

/** What built-ins need of the daemon. */
export interface BuiltinParts {
  readonly config: Pick<Config, 'builtins' | 'docker' | 'safeMode'>;
  readonly native: CapabilityTable['native'];
}

const version = '1.0.0';

/** Where the names of built-ins belong, whether the config turns them on or not. */
export const builtinPaths = Object.freeze({ eval_code: 'builtin:eval_code', execute_command: 'builtin:execute_command' });

/** The built-ins that the config turns on, each with a name of its own for grants. In safe mode nothing here runs code. */
export function createBuiltins({ config, native }: BuiltinParts): readonly HostedUnit[] {
  const { builtins, docker, safeMode } = config;
  if (safeMode !== 'off') return [];
  const parts = { native, timeoutMs: docker.timeoutMs };
  const tools = [createEvalCode(builtins, parts), createExecuteCommand(builtins, parts)];
  return tools.flatMap((tool) => (tool === undefined ? [] : [describeUnit(tool)]));
}

function describeUnit(tool: HostedTool): HostedUnit {
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
    permissions: { read: ['.'], write: ['.'] },
    tools: [tool],
  };
}
