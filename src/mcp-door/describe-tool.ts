import type { Tool } from '@modelcontextprotocol/server';
import type { ToolView } from '../operations/contracts/tools.ts';

/** A tool as MCP clients see it. */
export function describeTool({ name, description, input, output, flags, idempotent, usage }: ToolView, legalName: string): Tool {
  const has = (flag: string): boolean => flags.includes(flag);
  const readsOnly = has('isResearch') && !has('isSideEffect') && !has('isDangerous');
  return {
    name: legalName,
    ...(legalName === name ? {} : { title: name }),
    description: usage === undefined || description.includes(usage) ? description : `${description}\n${usage}`,
    inputSchema: { ...input, type: 'object' },
    ...(output === undefined ? {} : { outputSchema: output }),
    annotations: {
      ...(readsOnly ? { readOnlyHint: true } : {}),
      ...(has('isSideEffect') || has('isDangerous') ? { readOnlyHint: false } : {}),
      ...(has('isDangerous') ? { destructiveHint: true } : {}),
      ...(idempotent ? { idempotentHint: true } : {}),
      ...(has('isResearch') ? { openWorldHint: true } : {}),
    },
  };
}
