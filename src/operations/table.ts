import { createApprovalOperations } from './approvals.ts';
import { createAuditOperations } from './audit.ts';
import { createConfigOperations } from './config.ts';
import { createContainerOperations } from './containers.ts';
import { createDoctorOperations } from './doctor.ts';
import { createEventOperations } from './events.ts';
import { createExecutionOperations } from './executions.ts';
import { createGrantOperations } from './grants.ts';
import { createHookOperations } from './hooks.ts';
import { createImageOperations } from './images.ts';
import { createKeyOperations } from './keys.ts';
import { createKvOperations } from './kv.ts';
import { createModelOperations } from './models.ts';
import type { Operation } from './operation.ts';
import type { OperationParts } from './parts.ts';
import { createPluginOperations } from './plugins.ts';
import { redactErrors } from './redact-errors.ts';
import { createSecretOperations } from './secrets.ts';
import { createSkillOperations } from './skills.ts';
import { createStatusOperations } from './status.ts';
import { createToolOperations } from './tools.ts';

/** Everything that the daemon can do: the table that all doors are generated from. */
export function createOperations(parts: OperationParts): readonly Operation[] {
  const operations = [
    ...createPluginOperations(parts),
    ...createToolOperations(parts),
    ...createExecutionOperations(parts),
    ...createGrantOperations(parts),
    ...createApprovalOperations(parts),
    ...createKeyOperations(parts),
    ...createSecretOperations(parts),
    ...createModelOperations(parts),
    ...createKvOperations(parts),
    ...createImageOperations(parts),
    ...createContainerOperations(parts),
    ...createSkillOperations(parts),
    ...createHookOperations(parts),
    ...createEventOperations(parts),
    ...createAuditOperations(parts),
    ...createConfigOperations(parts),
    ...createDoctorOperations(parts),
    ...createStatusOperations(parts),
  ];
  return Object.freeze(operations.map((operation) => redactErrors(operation, parts.secrets.redactor)));
}
