import { describe, expect, it } from 'vitest';
import { fires, heardEventTypes, hookEventNames, hookEventOf, parseSubscription } from '../../src/hooks/hook-events.ts';

describe('parseSubscription', () => {
  it('reads every name that a manifest may use', () => {
    for (const name of hookEventNames) {
      const [type, action] = name.split(':');
      expect(parseSubscription(name)).toMatchObject([{ type, action }]);
    }
  });

  it('takes a type alone for its actions, each event once', () => {
    expect(parseSubscription('daemon')?.map(({ event }) => event)).toEqual(['daemon:start', 'daemon:stop']);
    expect(parseSubscription('gateway')?.map(({ event, action }) => [event, action])).toEqual([
      ['daemon:start', 'startup'],
      ['daemon:stop', 'shutdown'],
    ]);
  });

  it.each(['', ':', 'tool:', 'too', 'toString', '__proto__', 'tool:before:x'])('does not know %j', (name) => {
    expect(parseSubscription(name)).toBeUndefined();
  });
});

describe('hookEventOf', () => {
  it('finds the hook event of every event that hooks hear, and of no other', () => {
    expect(heardEventTypes.map(hookEventOf)).toEqual(['daemon:start', 'daemon:stop', 'tool:after', 'plugin:reload']);
    expect(hookEventOf('execution-start')).toBeUndefined();
    expect([fires('tool:before'), fires('message:sent')]).toEqual([true, false]);
  });
});
