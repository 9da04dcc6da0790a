import { seesTool } from '../../tools/seen-by-callers.ts';
import { daemonContracts } from '../contracts/daemon.ts';
import { runDoctor } from '../doctor/run-doctor.ts';
import { implement, type Operation } from '../operation.ts';
import type { OperationParts } from '../operation-parts.ts';
import { hideConfigValues } from './config.ts';

/** How the daemon does, and what it works with. */
export function createDaemonOperations(parts: OperationParts): Operation[] {
  const { config, configState, store, catalog } = parts;
  // The clock may be set while the daemon runs.
  const startedAt = performance.now();
  return [
    implement(daemonContracts.status, (_input, { caller }) => {
      const plugins: Record<string, number> = {};
      // What plugins there are, and what others are doing, is not a caller's business.
      const isAdmin = caller.role === 'admin';
      if (isAdmin) for (const { state } of parts.plugins.list()) plugins[state] = (plugins[state] ?? 0) + 1;
      const countOwn = (status: string) => parts.store.executions.count({ caller: caller.id, status });
      return {
        version: parts.version,
        startedAtMs: parts.startedAtMs,
        uptimeMs: Math.round(performance.now() - startedAt),
        plugins,
        tools: parts.tools.list().filter((entry) => seesTool(caller, entry)).length,
        calls: isAdmin ? parts.caller.load() : { pending: countOwn('pending'), running: countOwn('running') },
        ...(isAdmin && {
          node: process.versions.node,
          lastEventSeq: parts.events.lastSeq(),
          openQuestions: parts.approvals.count({ status: 'open' }),
          config: parts.configState(),
          repairs: parts.repairs.facts(),
        }),
      };
    }),
    implement(daemonContracts.config, () => ({ config: hideConfigValues(config) })),
    implement(daemonContracts.doctor, () =>
      runDoctor({ config, isServing: true, configState: configState(), store, providers: catalog.providers() }),
    ),
  ];
}
