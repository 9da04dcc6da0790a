// A process for crash-recovery.test.ts: writes executions and events without end and says which are acknowledged.
import { writeSync } from 'node:fs';
import { createEventLog } from '../../src/events/event-log.ts';
import { openStore } from '../../src/store/open.ts';
import { endedRow, pendingRow } from './rows.ts';

const dataDir = process.argv[2] ?? '';
const store = openStore({ dataDir });
const events = createEventLog({ store, now: Date.now });
let lastId = 0;
events.subscribe({}, (event) => writeSync(1, `event ${event.seq}\n`));

async function callForEver(): Promise<never> {
  for (;;) {
    const id = `${process.pid}-${String(lastId++).padStart(8, '0')}`;
    store.executions.insert(pendingRow(id));
    await store.committed();
    writeSync(1, `pending ${id}\n`);
    events.publish('execution-end', {
      caller: 'local',
      subject: id,
      data: { tool: 'weather', version: '1.0.0', status: 'success', durationMs: 1 },
    });
    store.executions.update(endedRow(id));
    await store.committedEnds();
    writeSync(1, `ended ${id}\n`);
  }
}

await Promise.all(Array.from({ length: 8 }, callForEver));
