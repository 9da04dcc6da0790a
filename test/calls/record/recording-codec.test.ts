import { describe, expect, it } from 'vitest';
import type { Recording } from '../../../src/border/border.ts';
import { decodeRecording, encodeRecording } from '../../../src/calls/record/recording-codec.ts';

const recording: Recording = {
  seed: 'abc',
  startedAtMs: 5,
  complete: true,
  crossings: [
    { id: 1, op: 'kv.get', payload: '{"key":"a"}', answer: { ok: true, payload: '"é"' } },
    { id: 2, op: 'fetch', payload: '{}', answer: { ok: true, payload: '{}', body: Uint8Array.of(0, 255, 7) } },
    { id: 3, op: 'fetch', payload: '{}', answer: { ok: false, code: 'network-refused', message: 'no' } },
  ],
};

describe('encodeRecording', () => {
  it('comes back the same, small and large', async () => {
    const crossings = Array.from({ length: 500 }, () => recording.crossings).flat();
    for (const whole of [{ ...recording, crossings: [] }, recording, { ...recording, crossings }]) {
      expect(await decodeRecording(await encodeRecording(whole, 1_000_000))).toEqual(whole);
    }
    const { length } = await encodeRecording({ ...recording, crossings }, 1_000_000);
    expect(length).toBeLessThan(10_000);
  });

  it('leaves out what passes the bound, and says so', async () => {
    const cut = await decodeRecording(await encodeRecording(recording, 100));
    expect(cut).toMatchObject({ complete: false, crossings: recording.crossings.slice(0, 1) });
  });
});

describe('decodeRecording', () => {
  it('takes nothing for a recording that is none', async () => {
    const broken = [[], [9, 1], [0, 123], [1, 1, 2, 3], [...Buffer.from('\0{"seed":1}')]];
    for (const bytes of broken) expect(await decodeRecording(Uint8Array.from(bytes))).toBeUndefined();
  });
});
