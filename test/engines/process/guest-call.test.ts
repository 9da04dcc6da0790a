import { describe, expect, it } from 'vitest';
import type { BorderHost } from '../../../src/border/border.ts';
import { type Limits, resolveLimits } from '../../../src/config/limits.ts';
import { GuestTurn } from '../../../src/engines/process/guest-call.ts';
import { type GuestHeader, GuestMisbehaved, type HostMessage } from '../../../src/guests/process/protocol.ts';

/** A turn whose host never answers; what goes to the guest stands in `sent`. */
function openTurn(limits: Partial<Limits> = {}) {
  const sent: (HostMessage & { readonly text: string })[] = [];
  const lines: string[] = [];
  const told: string[] = [];
  const host: BorderHost = {
    answer: () => new Promise(() => {}),
    view: () => ({ config: {}, env: {}, denied: {} }),
    log: (line) => void lines.push(line.text),
    progress: ({ message = '' }) => void told.push(message),
  };
  const send = (message: HostMessage, text = '') => void sent.push({ ...message, text });
  const turn = new GuestTurn({ limits: resolveLimits(limits), host, send });
  const take = (header: GuestHeader, text = '') => turn.take({ header, text });
  return { take, sent, lines, told, codes: () => sent.map(({ text }) => JSON.parse(text).code) };
}

describe('GuestTurn', () => {
  it('ends a guest that asks twice under one number: the second answer would be taken for the first', () => {
    const { take } = openTurn();
    take({ t: 'ask', id: 1, op: 'kv.get' });
    expect(() => take({ t: 'ask', id: 1, op: 'kv.get' })).toThrow(GuestMisbehaved);
  });

  it('answers no more questions than the call may ask, nor more at once', () => {
    const many = openTurn({ hostCalls: 2 });
    for (let id = 1; id <= 3; id++) many.take({ t: 'ask', id, op: 'kv.get' });
    expect(many.codes()).toEqual(['host-calls-exceeded']);
    const atOnce = openTurn({ pendingHostCalls: 2 });
    for (let id = 1; id <= 3; id++) atOnce.take({ t: 'ask', id, op: 'kv.get' });
    expect(atOnce.codes()).toEqual(['pending-host-calls-exceeded']);
  });

  it('bounds what the questions that wait hold together', () => {
    const { take, codes } = openTurn();
    for (let id = 1; id <= 3; id++) take({ t: 'ask', id, op: 'kv.set' }, 'x'.repeat(3_000_000));
    expect(codes()).toEqual(['pending-host-calls-exceeded']);
  });

  it('cuts lines that a guest did not cut itself, and hears of progress as often as of lines', () => {
    const { take, lines, told } = openTurn({ logLines: 3 });
    take({ t: 'log' }, JSON.stringify({ level: 'info', text: 'x'.repeat(30_000) }));
    for (let done = 0; done < 5; done++) take({ t: 'progress' }, JSON.stringify({ done, message: 'm'.repeat(900) }));
    expect(lines).toEqual(['x'.repeat(16_384)]);
    expect(told).toEqual(Array.from({ length: 3 }, () => 'm'.repeat(500)));
  });

  it('ends a guest that sends messages without end, or longer than any that a guest of ours sends', () => {
    const { take } = openTurn({ hostCalls: 1, logLines: 1 });
    expect(() => {
      for (let sent = 0; sent < 2000; sent++) take({ t: 'cancel', id: 1 });
    }).toThrow(GuestMisbehaved);
    expect(() => openTurn().take({ t: 'log' }, 'x'.repeat(200_000))).toThrow(GuestMisbehaved);
    expect(() => openTurn().take({ t: 'throw' }, 'x'.repeat(200_000))).toThrow(GuestMisbehaved);
  });
});
