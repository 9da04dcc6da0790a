import type { DatabaseSync } from 'node:sqlite';
import { readNumber, readNumberOrNull, readText, readTextOrNull, type SqlRow } from '../../column-values.ts';
import type { LoopRow, LoopTable } from '../../loop-types.ts';
import { writeNow } from '../../sqlite-error.ts';

/** Creates the table of loops. */
export function createLoopTable(database: DatabaseSync): LoopTable {
  const put = database.prepare(
    `insert into loops (id, caller, purpose, model, request, started_at, ended_at, ending, bytes)
     values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, octet_length(?5) + coalesce(octet_length(?8), 0))`,
  );
  const addStep = database.prepare(
    `insert into loop_steps (loop_id, number, step)
     select id, (select coalesce(max(number), 0) + 1 from loop_steps where loop_id = ?1), ?2 from loops where id = ?1`,
  );
  const weigh = database.prepare('update loops set bytes = bytes + octet_length(?2) where id = ?1');
  const steps = database.prepare('select step from loop_steps where loop_id = ? order by number');
  const end = database.prepare(
    "update loops set request = '', ending = ?2, ended_at = ?3, bytes = octet_length(?2) where id = ?1 and ended_at is null",
  );
  const removeSteps = database.prepare('delete from loop_steps where loop_id = ?');
  const get = database.prepare('select * from loops where id = ?');
  const list = database.prepare('select * from loops where ?1 is null or caller = ?1 order by started_at desc, id desc limit ?2');
  const listOpen = database.prepare('select * from loops where ended_at is null order by started_at, id');
  const remove = database.prepare('delete from loops where id = ?');
  const bytes = database.prepare('select coalesce(sum(bytes), 0) as bytes from loops where ?1 is null or caller = ?1');
  const prune = database.prepare('delete from loops where ended_at < ?');
  const removeOldest = database.prepare(
    `delete from loops where id = (
       select id from loops where ended_at is not null and (?1 is null or caller = ?1) order by ended_at, id limit 1)`,
  );

  return {
    put: (row) =>
      void writeNow(() =>
        put.run(row.id, row.caller, row.purpose, row.model, row.requestJson, row.startedAtMs, row.endedAtMs, row.endJson),
      ),
    addStep: (id, stepJson) =>
      writeNow(() => {
        addStep.run(id, stepJson);
        weigh.run(id, stepJson);
      }),
    stepsOf: (id) => steps.all(id).map((row) => readText(row, 'step')),
    end: (id, endJson, endedAtMs) =>
      writeNow(() => {
        end.run(id, endJson, endedAtMs);
        removeSteps.run(id);
      }),
    get(id) {
      const row = get.get(id);
      return row && readLoop(row);
    },
    list: ({ caller, limit }) => list.all(caller ?? null, limit).map(readLoop),
    listOpen: () => listOpen.all().map(readLoop),
    remove: (id) =>
      writeNow(() => {
        removeSteps.run(id);
        remove.run(id);
      }),
    bytes: (caller) => Number(bytes.get(caller ?? null)?.bytes ?? 0),
    prune: (endedBeforeMs) => void writeNow(() => prune.run(endedBeforeMs)),
    removeOldestEnded: (caller) => writeNow(() => removeOldest.run(caller ?? null)).changes === 1,
  };
}

function readLoop(row: SqlRow): LoopRow {
  return {
    id: readText(row, 'id'),
    caller: readText(row, 'caller'),
    purpose: readText(row, 'purpose'),
    model: readText(row, 'model'),
    requestJson: readText(row, 'request'),
    startedAtMs: readNumber(row, 'started_at'),
    endedAtMs: readNumberOrNull(row, 'ended_at'),
    endJson: readTextOrNull(row, 'ending'),
  };
}
