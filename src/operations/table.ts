import { createApprovalOperations } from './handlers/access/approvals.ts';
import { createAuditOperations } from './handlers/access/audit.ts';
import { createGrantOperations } from './handlers/access/grants.ts';
import { createKeyOperations } from './handlers/access/keys.ts';
import { createSecretOperations } from './handlers/access/secrets.ts';
import { createContainerOperations } from './handlers/containers.ts';
import { createDaemonOperations } from './handlers/daemon.ts';
import { createEventOperations } from './handlers/events.ts';
import { createExecutionOperations } from './handlers/executions.ts';
import { createHookOperations } from './handlers/hooks.ts';
import { createKvOperations } from './handlers/kv.ts';
import { createLoopOperations } from './handlers/loops.ts';
import { createMcpOperations } from './handlers/mcp.ts';
import { createModelOperations } from './handlers/models.ts';
import { createPluginOperations } from './handlers/plugins/plugins.ts';
import { createRepairOperations } from './handlers/plugins/repairs.ts';
import { createScheduleOperations } from './handlers/schedules.ts';
import { createSkillOperations } from './handlers/skills.ts';
import { createOfferingOperations } from './handlers/tools/offerings.ts';
import { createToolOperations } from './handlers/tools/tools.ts';
import type { Operation } from './operation.ts';
import type { OperationParts } from './operation-parts.ts';
import { redactErrors } from './redact-errors.ts';

/** Everything that the daemon can do: the table that all doors are generated from. */
export function createOperations(parts: OperationParts): readonly Operation[] {
  const operations = [
    ...createPluginOperations(parts),
    ...createToolOperations(parts),
    ...createOfferingOperations(parts),
    ...createExecutionOperations(parts),
    ...createLoopOperations(parts),
    ...createGrantOperations(parts),
    ...createApprovalOperations(parts),
    ...createKeyOperations(parts),
    ...createSecretOperations(parts),
    ...createModelOperations(parts),
    ...createKvOperations(parts),
    ...createScheduleOperations(parts),
    ...createContainerOperations(parts),
    ...createSkillOperations(parts),
    ...createHookOperations(parts),
    ...createRepairOperations(parts),
    ...createMcpOperations(parts),
    ...createEventOperations(parts),
    ...createAuditOperations(parts),
    ...createDaemonOperations(parts),
  ];
  return Object.freeze(operations.map((operation) => redactErrors(operation, parts.secrets.redactor)));
}
