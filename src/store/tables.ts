import type { DatabaseSync } from 'node:sqlite';
import { createApprovalTable } from './tables/access/approvals.ts';
import { createAuditTable } from './tables/access/audit.ts';
import { createGrantTable, createPermissionUseTable } from './tables/access/grants.ts';
import { createHookApprovalTable } from './tables/access/hook-approvals.ts';
import { createKeyTable } from './tables/access/keys.ts';
import { createMcpLoginTable, createMcpPinTable } from './tables/access/mcp-approvals.ts';
import { createSecretTable } from './tables/access/secrets.ts';
import { createExecutionTable, executions } from './tables/calls/executions.ts';
import { createIdempotencyTable } from './tables/calls/idempotency.ts';
import { createLoopTable } from './tables/calls/loops.ts';
import { createParkedCallTable } from './tables/calls/parked-calls.ts';
import { createRecordingTable } from './tables/calls/recordings.ts';
import { createScheduleTable } from './tables/calls/schedules.ts';
import { createEventTable, events } from './tables/events.ts';
import { createKeptAnswerTable } from './tables/kept-answers.ts';
import { createModelUsageTable } from './tables/model-usage.ts';
import { createModelUseTable } from './tables/model-uses.ts';
import { createNameTable } from './tables/names.ts';
import { createGenerationTable } from './tables/plugins/generations.ts';
import { createKvTable } from './tables/plugins/kv.ts';
import { createPluginTable, createWrittenFileTable } from './tables/plugins/plugins.ts';
import { createRepairTable } from './tables/plugins/repairs.ts';
import { createRegisteredToolTable, createToolSettingTable, createToolSwitchTable, createToolUseTable } from './tables/tools.ts';
import type { WriteQueue } from './write-queue.ts';

export type Tables = ReturnType<typeof createTables>;

/** The tables whose rows the journal keeps until the next transaction. */
export const journaled = [executions, events];

/** Creates all tables of a database. */
export function createTables(database: DatabaseSync, queue: WriteQueue) {
  return {
    executions: createExecutionTable(database, queue),
    recordings: createRecordingTable(database, queue),
    idempotency: createIdempotencyTable(database),
    events: createEventTable(database, queue),
    generations: createGenerationTable(database),
    plugins: createPluginTable(database),
    keys: createKeyTable(database, queue),
    kv: createKvTable(database),
    grants: createGrantTable(database),
    names: createNameTable(database),
    permissionUses: createPermissionUseTable(database, queue),
    audit: createAuditTable(database, queue),
    modelUsage: createModelUsageTable(database),
    modelUses: createModelUseTable(database, queue),
    approvals: createApprovalTable(database),
    parkedCalls: createParkedCallTable(database, queue),
    secrets: createSecretTable(database),
    hookApprovals: createHookApprovalTable(database),
    mcpPins: createMcpPinTable(database),
    mcpLogins: createMcpLoginTable(database),
    writtenFiles: createWrittenFileTable(database),
    toolSettings: createToolSettingTable(database),
    toolSwitches: createToolSwitchTable(database),
    toolUses: createToolUseTable(database, queue),
    registeredTools: createRegisteredToolTable(database),
    schedules: createScheduleTable(database),
    keptAnswers: createKeptAnswerTable(database),
    repairs: createRepairTable(database),
    loops: createLoopTable(database),
  };
}
