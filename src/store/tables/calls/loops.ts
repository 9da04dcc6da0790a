import type { DatabaseSync } from 'node:sqlite';
import { writeNow } from '../../sqlite-error.ts';
import { column, defineTable, type RowOf, readText, writeTogether } from '../../table.ts';

const loops = defineTable('loops', {
  id: column.text('id'),
  caller: column.text('caller'),
  purpose: column.text('purpose'),
  model: column.text('model'),
  /** What it was started with; empty once it has ended. */
  requestJson: column.text('request'),
  startedAtMs: column.number('started_at'),
  endedAtMs: column.numberOrNull('ended_at'),
  endJson: column.textOrNull('ending'),
});

/** One loop of a model and its tools, as it is kept. */
export type LoopRow = RowOf<typeof loops>;
export type LoopTable = ReturnType<typeof createLoopTable>;

/**
 * Creates the table of loops and their steps. Everything is written at once: what a step tells of happens after it. A loop without its
 * steps would begin anew, so the two come and go together.
 */
export function createLoopTable(database: DatabaseSync) {
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
  const byId = loops.prepareSelect(database, 'where id = ?');
  const newest = loops.prepareSelect(database, 'where ?1 is null or caller = ?1 order by started_at desc, id desc limit ?2');
  const open = loops.prepareSelect(database, 'where ended_at is null order by started_at, id');
  const remove = database.prepare('delete from loops where id = ?');
  const bytes = database.prepare('select coalesce(sum(bytes), 0) as bytes from loops where ?1 is null or caller = ?1');
  const prune = database.prepare('delete from loops where ended_at < ?');
  const removeOldest = database.prepare(
    `delete from loops where id = (
       select id from loops where ended_at is not null and (?1 is null or caller = ?1) order by ended_at, id limit 1)`,
  );

  return {
    put: (row: LoopRow): void => void writeNow(() => put.run(...loops.valuesOf(row))),
    addStep: (id: string, stepJson: string): void =>
      writeTogether(database, () => {
        addStep.run(id, stepJson);
        weigh.run(id, stepJson);
      }),
    /** Oldest first, as JSON. */
    stepsOf: (id: string): string[] => steps.all(id).map((row) => readText(row, 'step')),
    /** Puts the end in the place of the request and the steps. */
    end: (id: string, endJson: string, endedAtMs: number): void =>
      writeTogether(database, () => {
        end.run(id, endJson, endedAtMs);
        removeSteps.run(id);
      }),
    get: (id: string) => byId.first(id),
    /** Newest first; with a caller only its own. */
    list: ({ caller, limit }: { readonly caller?: string; readonly limit: number }) => newest.all(caller ?? null, limit),
    /** Loops without an end, oldest first. */
    listOpen: () => open.all(),
    remove: (id: string): void =>
      writeTogether(database, () => {
        removeSteps.run(id);
        remove.run(id);
      }),
    /** Bytes of one caller's loops, or of all. */
    bytes: (caller?: string) => Number(bytes.get(caller ?? null)?.bytes ?? 0),
    /** Removes those that ended before. */
    prune: (endedBeforeMs: number): void => void writeNow(() => prune.run(endedBeforeMs)),
    /** Removes the loop that ended first, of one caller or of all; false when none is left. */
    removeOldestEnded: (caller?: string): boolean => writeNow(() => removeOldest.run(caller ?? null)).changes === 1,
  };
}
