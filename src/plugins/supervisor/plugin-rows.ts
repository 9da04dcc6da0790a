import { Type } from 'typebox';
import { Value } from 'typebox/value';
import type { PluginRow, PluginTable } from '../../store/tables/plugins/plugins.ts';
import { type TransitionRecord, transitionRecord } from '../supervisor-types.ts';
import { nameOfPlugin, type PluginRecord } from './plugin-record.ts';
import { formatPin } from './rollback-pin.ts';

const transitionsSchema = Type.Array(transitionRecord);

/** Writes what is to be remembered of plugins, after the turn in which it changed. */
export type PluginRowWriter = ReturnType<typeof createPluginRowWriter>;

/** Creates the writer. What cannot be written is told once a turn and tried again with the next change. */
export function createPluginRowWriter(table: PluginTable, onProblem: (message: string) => void) {
  const changed = new Set<PluginRecord>();
  let scheduled: NodeJS.Immediate | undefined;

  function flush(): void {
    clearImmediate(scheduled);
    scheduled = undefined;
    const records = [...changed];
    changed.clear();
    try {
      for (const record of records) table.upsert(toRow(record));
    } catch (error) {
      onProblem(`The state of plugins could not be saved: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  return {
    schedule(record: PluginRecord): void {
      changed.add(record);
      scheduled ??= setImmediate(flush);
    },
    forget(record: PluginRecord): void {
      changed.delete(record);
      table.delete(record.path);
    },
    flush,
  };
}

/** The transitions that a row remembers; none when they cannot be read. */
export function readTransitions(row: PluginRow): TransitionRecord[] {
  try {
    return Value.Parse(transitionsSchema, JSON.parse(row.transitionsJson));
  } catch {
    return [];
  }
}

function toRow(record: PluginRecord): PluginRow {
  return {
    path: record.path,
    name: nameOfPlugin(record),
    state: record.lifecycle.state,
    enabled: record.enabled,
    currentGeneration: (record.live?.generation ?? record.chosen)?.id ?? null,
    pinnedAwayFrom: record.pinnedAwayFrom ? formatPin(record.pinnedAwayFrom) : null,
    diagnosticJson: record.diagnostic ? JSON.stringify(record.diagnostic) : null,
    transitionsJson: JSON.stringify(record.transitions),
  };
}
