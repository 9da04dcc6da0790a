import { createSlots, type Slots } from './slots.ts';

/** Lets what shares a key happen one after the other, in the order in which it came; what has another key goes ahead. */
export type Turns = ReturnType<typeof createTurns>;

/** Creates the turns. A key is forgotten when nobody is in its turn. */
export function createTurns() {
  const slotsByKey = new Map<string, Slots>();

  async function enter(key: string, signal?: AbortSignal): Promise<() => void> {
    const slots = slotsByKey.get(key) ?? createSlots(1);
    slotsByKey.set(key, slots);
    const forgetIdle = (): void => {
      if (slots.isIdle() && slotsByKey.get(key) === slots) slotsByKey.delete(key);
    };
    try {
      const leave = await slots.enter(signal);
      return () => {
        leave();
        forgetIdle();
      };
    } catch (error) {
      forgetIdle();
      throw error;
    }
  }

  return {
    /** Resolves with what ends the turn; rejects with the signal's reason. */
    enter,
    /** How many wait already; undefined when whoever comes now need not wait. */
    waiting: (key: string): number | undefined => slotsByKey.get(key)?.waiting(),
    /** Runs a task in its turn. One that fails does not hold up the next. */
    async run<Result>(key: string, task: () => Promise<Result>): Promise<Result> {
      const leave = await enter(key);
      try {
        return await task();
      } finally {
        leave();
      }
    },
  };
}
