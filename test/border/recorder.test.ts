import { describe, expect, it } from 'vitest';
import type { BorderCrossing } from '../../src/border/border.ts';
import { Recorder } from '../../src/border/recorder.ts';

const facts = { seed: '1', startedAtMs: 1 };
const crossing = (id: number, answered: number): BorderCrossing => ({
  id,
  op: 'kv.get',
  payload: '{}',
  answer: { ok: true, payload: 'x'.repeat(answered) },
});

describe('Recorder', () => {
  it('leaves out what does not fit into its bound, says so, and takes what still fits, also after the call was put aside', () => {
    const recorder = new Recorder(facts);
    recorder.add(crossing(1, 600_000));
    expect(recorder.recording()).toMatchObject({ complete: true, crossings: [{ id: 1 }] });
    recorder.add(crossing(2, 600_000));
    const later = new Recorder(facts, recorder.keep());
    later.add(crossing(3, 600_000));
    later.add(crossing(4, 100));
    expect(later.recording()).toMatchObject({ complete: false, crossings: [{ id: 1 }, { id: 4 }] });
  });
});
