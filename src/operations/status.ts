import { daemonContracts } from './contracts/daemon.ts';
import { implement, type Operation } from './operation.ts';
import type { OperationParts } from './parts.ts';

/** How the daemon does. */
export function createStatusOperations(parts: OperationParts): Operation[] {
  return [
    implement(daemonContracts.status, () => {
      const plugins: Record<string, number> = {};
      for (const { state } of parts.plugins.list()) plugins[state] = (plugins[state] ?? 0) + 1;
      return {
        version: parts.version,
        node: process.versions.node,
        startedAtMs: parts.startedAtMs,
        uptimeMs: Date.now() - parts.startedAtMs,
        plugins,
        tools: parts.tools.list().length,
        calls: { ...parts.caller.load() },
        lastEventSeq: parts.events.lastSeq(),
      };
    }),
  ];
}
