import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { readServerSentEvents } from '../../src/client/answer-reader.ts';

async function read(pieces: readonly string[]) {
  const events = [];
  for await (const event of readServerSentEvents(Readable.from(pieces))) events.push(event);
  return events;
}

describe('readServerSentEvents', () => {
  it('reads events cut anywhere, with every line end and every way to write their data', async () => {
    const text =
      ': hello\n\nevent: accepted\ndata: {"id":1}\n\nid: 4\r\ndata:[2,\r\ndata:3]\r\n\r\nevent: nothing\n\ndata: "cut off"';
    const events = [
      { event: 'accepted', data: { id: 1 } },
      { event: 'message', data: [2, 3] },
    ];
    expect(await read([text])).toEqual(events);
    expect(await read([...text])).toEqual(events);
  });

  it('reads a large answer that comes in very small pieces', async () => {
    const data = 'x'.repeat(400_000);
    expect(await read([...`event: answer\ndata: "${data}"\n\n`])).toEqual([{ event: 'answer', data }]);
  });
});
