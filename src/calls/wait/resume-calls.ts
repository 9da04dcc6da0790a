import { Deadline } from '../../engines/deadline.ts';
import { errorCatalog } from '../../errors/catalog.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { Approvals } from '../../permissions/approvals/approvals.ts';
import type { Store } from '../../store/store-types.ts';
import type { ExecutionRow } from '../../store/tables/calls/executions.ts';
import type { PreparedTool } from '../../tools/prepared-tool.ts';
import { makeToolEntry, type ToolEntry } from '../../tools/tool-types.ts';
import { listOfferings } from '../../units/offering.ts';
import { ActiveCall } from '../active-call.ts';
import { askForApproval, hashArguments } from '../approval.ts';
import type { FindServable, StageParts } from '../call-parts.ts';
import type { CallEnd } from '../record/execution-record.ts';
import type { ExecutionRecords } from '../record/execution-records.ts';
import { type ParkedFacts, readParked } from './parked-facts.ts';

/** What the calls of the last run are built again from. */
export interface ResumeParts extends Pick<StageParts, 'active' | 'now' | 'onFault'> {
  readonly store: Pick<Store, 'executions' | 'parkedCalls'>;
  readonly approvals: Pick<Approvals, 'ask' | 'withdrawOf' | 'waitingExecutions'>;
  readonly records: Pick<ExecutionRecords, 'end'>;
  readonly prepare: (entry: ToolEntry) => PreparedTool;
  readonly findServable: FindServable;
  /** False while plugins are still built: what is not there yet may come. */
  readonly isLast: boolean;
  /** A tool as operators set it. */
  readonly asSet: (entry: ToolEntry) => ToolEntry;
  /** Takes a call in where it was. Must not throw. */
  readonly takeIn: (call: ActiveCall) => void;
}

/**
 * Goes on with the calls that waited for a person when the daemon ended. Those whose plugin, tool or generation is gone end as
 * `interrupted`, and questions that nobody waits for any more are withdrawn.
 */
export function resumeCalls(parts: ResumeParts): void {
  const { approvals, isLast, active } = parts;
  for (const family of readFamilies(parts)) {
    const isThere = ({ row, facts }: KeptCall): boolean =>
      facts === undefined || parts.findServable(row.generation, facts.build) !== undefined;
    if (isLast || family.every(isThere)) resumeFamily(parts, family);
  }
  if (!isLast) return;
  for (const executionId of [...approvals.waitingExecutions()]) if (!active.has(executionId)) approvals.withdrawOf(executionId);
}

/** A call as it was kept. */
interface KeptCall {
  readonly row: ExecutionRow;
  readonly facts: ParkedFacts | undefined;
}

/** What is kept and not taken in yet: calls with those that they made, which go on together; each after the one that made it. */
function readFamilies({ store, active }: ResumeParts): Iterable<readonly KeptCall[]> {
  const kept: KeptCall[] = [];
  for (const { executionId, factsJson } of store.parkedCalls.list()) {
    if (active.has(executionId)) continue;
    const row = store.executions.get(executionId);
    if (row === undefined || row.endedAtMs !== null) store.parkedCalls.remove(executionId);
    else kept.push({ row, facts: readParked(factsJson) });
  }
  kept.sort((a, b) => (a.facts?.parent?.chain.length ?? 0) - (b.facts?.parent?.chain.length ?? 0));
  return Map.groupBy(kept, ({ row, facts }) => facts?.parent?.above?.[0] ?? row.id).values();
}

function resumeFamily(parts: ResumeParts, family: readonly KeptCall[]): void {
  const rebuilt = new Map<string, ActiveCall>();
  for (const { row, facts } of family) {
    try {
      rebuilt.set(row.id, rebuildCall(parts, row, facts, rebuilt));
    } catch (error) {
      if (!(error instanceof HotcellError)) parts.onFault(error, row.id);
      endInterrupted(parts, row, error instanceof HotcellError ? error.message : 'its record could not be read');
    }
  }
  for (const call of rebuilt.values()) parts.takeIn(call);
}

function rebuildCall(
  parts: ResumeParts,
  row: ExecutionRow,
  facts: ParkedFacts | undefined,
  rebuilt: ReadonlyMap<string, ActiveCall>,
): ActiveCall {
  if (facts === undefined) throw gone('what was kept of it cannot be read');
  const above = facts.parent && rebuilt.get(facts.parent.executionId);
  if (facts.parent !== undefined && above === undefined) throw gone('the call that made it does not go on');
  const served = parts.findServable(row.generation, facts.build);
  if (served === undefined) throw gone(`the generation of "${row.plugin}" that it began with is not there any more`);
  const calls = [...served.unit.manifest.tools, ...listOfferings(served.unit.manifest).map(({ call: each }) => each)];
  const manifest = calls.find(({ name }) => name === row.tool);
  if (manifest === undefined) throw gone(`the tool "${row.tool}" is not there any more`);
  // Secrets are taken out of records: such a call cannot be built again.
  if (facts.argumentsHash !== undefined && hashArguments(row.argumentsJson) !== facts.argumentsHash) {
    throw gone('its arguments held a secret, which is not kept');
  }
  const entry = parts.asSet({ ...makeToolEntry(manifest, served), version: row.version });
  const call = new ActiveCall({
    request: {
      ref: `${row.tool}@${row.version}`,
      arguments: JSON.parse(row.argumentsJson),
      caller: facts.caller,
      session: row.session,
      ...(facts.isBuiltinOnly && { isBuiltinOnly: true }),
      ...(facts.isForModel && { isForModel: true }),
      ...(facts.parent && { parent: facts.parent }),
      ...(facts.clientCan && { clientCan: facts.clientCan }),
      ...(facts.timeoutMs !== undefined && { timeoutMs: facts.timeoutMs }),
    },
    entry,
    tool: parts.prepare(entry),
    record: { ...row },
    deadline: new Deadline(facts.leftMs, above?.deadline),
  });
  for (const line of facts.logs) call.log.add(line);
  call.isParked = true;
  call.hasAsked = true;
  if (facts.waitsFor === 'confirm') call.suspended = parts.store.parkedCalls.readBlob(row.id);
  else call.approval = askForApproval(call, parts.approvals);
  if (facts.waitsFor === 'confirm' && call.suspended === undefined) throw gone('its memory was not kept');
  // The call took time before the daemon ended, too.
  call.startedAt = row.startedAtMs === null ? 0 : performance.now() - Math.max(0, parts.now() - row.startedAtMs);
  call.leave = served.lease();
  return call;
}

function endInterrupted({ records, store, approvals, now }: ResumeParts, row: ExecutionRow, reason: string): void {
  const message = `The daemon stopped while this call waited for a person, and it cannot go on: ${reason}.`;
  const end: CallEnd = { status: 'error', error: { code: 'interrupted', message, fix: errorCatalog.interrupted.fix } };
  records.end({ ...row }, end, Math.max(0, now() - (row.startedAtMs ?? row.createdAtMs)), now());
  store.parkedCalls.remove(row.id);
  approvals.withdrawOf(row.id);
}

function gone(reason: string): HotcellError {
  return new HotcellError('interrupted', reason);
}
