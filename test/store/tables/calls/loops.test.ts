import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { migrate } from '../../../../src/store/migrations.ts';
import { createLoopTable } from '../../../../src/store/tables/calls/loops.ts';

describe('createLoopTable', () => {
  it('lets no loop lose its steps, and no end come to it, by a write that came to its half', () => {
    const database = new DatabaseSync(':memory:');
    migrate(database);
    const loops = createLoopTable(database);
    const kind = { caller: 'ann', purpose: 'chat', model: 'm' };
    loops.put({ id: 'l', ...kind, requestJson: '{}', startedAtMs: 1, endedAtMs: null, endJson: null });
    loops.addStep('l', '{"type":"answer"}');
    const halt = (when: string) => database.exec(`create trigger halt ${when} begin select raise(abort, 'halt'); end`);
    for (const [when, write] of [
      ['before delete on loops', () => loops.remove('l')],
      ['before delete on loop_steps', () => loops.end('l', '{}', 2)],
      ['before update on loops', () => loops.addStep('l', '{}')],
    ] as const) {
      halt(when);
      expect(write).toThrow('halt');
      database.exec('drop trigger halt');
      expect([loops.listOpen().length, loops.stepsOf('l')]).toEqual([1, ['{"type":"answer"}']]);
    }
    loops.end('l', '{}', 2);
    expect([loops.listOpen().length, loops.stepsOf('l')]).toEqual([0, []]);
  });
});
