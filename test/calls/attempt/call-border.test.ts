import { describe, expect, it, onTestFinished } from 'vitest';
import { ann, openHouse } from '../../tools/calling-house.ts';

describe('the uses of permissions that a call has noted', () => {
  it('are bounded, and none hides behind uses of another permission or behind refusals', async () => {
    const noted: Record<string, number> = {};
    const house = await openHouse({
      answer: async (_request, user) => {
        for (let n = 0; n < 150; n++) {
          user.noteUse('read', `file-${n}`, true);
          user.noteUse(`made-up-${n}`, 'x', false);
        }
        for (let n = 0; n < 3; n++) user.noteUse('net', 'api.example.com:443', true);
        return { ok: true, payload: 'null' };
      },
      parts: {
        noteUse: (_served, { permission, allowed }) => {
          const kind = allowed ? permission : 'refused';
          noted[kind] = (noted[kind] ?? 0) + 1;
        },
      },
    });
    onTestFinished(() => house.close());
    await house.publish('reads', '{ handler: async (args, context) => context.kv.get("x") }');
    await house.caller.call({ ref: 'reads', arguments: {}, caller: ann });
    expect(noted).toEqual({ read: 100, refused: 100, net: 1 });
  });
});
