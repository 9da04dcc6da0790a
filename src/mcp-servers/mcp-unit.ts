import { hash } from 'node:crypto';
import semver from 'semver';
import type { McpServerSetting } from '../config/settings/mcp-settings.ts';
import { globMatches } from '../permissions/matching.ts';
import { cleanUntrustedText } from '../permissions/untrusted-text.ts';
import type { HostedCall, HostedOffering, HostedTool, HostedUnit } from '../tools/hosted/hosted-types.ts';
import type { ServerTool } from './tools/read-tools.ts';

/** The identity of a server, to which grants and names belong; no plugin can have such a name. */
export function nameMcpUnit(server: string): string {
  return `mcp:${server}`;
}

/** The name of a tool in the registry: no tool of ours can have such a name. */
export function nameServerTool(server: string, tool: string): string {
  return `${server}/${tool}`;
}

/** Whether the operator lets a tool of the server join. */
export function isToolAllowed({ allowTools, denyTools = [] }: McpServerSetting, tool: string): boolean {
  if (denyTools.some((glob) => globMatches(glob, tool))) return false;
  return allowTools === undefined || allowTools.some((glob) => globMatches(glob, tool));
}

/** Time of one call when the entry of a server says nothing. */
export const usualTimeoutMs = 60_000;

/** The tools of a server as a unit. */
export function describeMcpUnit(
  server: string,
  {
    setting,
    tools,
    version,
    about,
    offerings,
  }: {
    readonly setting: McpServerSetting;
    readonly tools: readonly ServerTool[];
    /** As the server says it. */
    readonly version: string;
    readonly about: string;
    readonly offerings: readonly HostedOffering[];
  },
  run: (tool: ServerTool, args: unknown, call: HostedCall) => Promise<unknown>,
): HostedUnit {
  const { mode = 'auto', timeoutMs = usualTimeoutMs } = setting;
  return {
    path: nameMcpUnit(server),
    name: nameMcpUnit(server),
    kind: 'mcp',
    version: readVersion(version),
    description: cleanUntrustedText(about, 200),
    author: 'operator',
    contentHash: hash(
      'sha256',
      JSON.stringify([
        mode,
        timeoutMs,
        ...tools.map((tool) => [tool.name, tool.hash]),
        offerings.map(({ manifest }) => manifest),
      ]),
    ),
    permissions: {},
    offerings,
    tools: tools.map(
      (tool): HostedTool => ({
        name: nameServerTool(server, tool.name),
        description: tool.description,
        input: tool.input,
        ...(tool.output === undefined ? {} : { output: tool.output }),
        flags: tool.flags,
        idempotent: tool.idempotent,
        mode,
        timeoutMs,
        tags: ['mcp', server],
        run: (args, call) => run(tool, args, call),
      }),
    ),
  };
}

function readVersion(said: string): string {
  const text = said.slice(0, 64);
  return semver.valid(text) ?? semver.coerce(text)?.version ?? '0.0.0';
}
