/** Lets things that share a name happen one after the other, in the order in which they were asked for. */
export type Turns = <Result>(name: string, run: () => Promise<Result>) => Promise<Result>;

/** Makes the turns. One that fails does not hold up the next. */
export function createTurns(): Turns {
  const lastByName = new Map<string, Promise<unknown>>();
  return (name, run) => {
    const turn = (lastByName.get(name) ?? Promise.resolve()).then(run);
    const settled = turn.then(noop, noop);
    lastByName.set(name, settled);
    void settled.then(() => {
      if (lastByName.get(name) === settled) lastByName.delete(name);
    });
    return turn;
  };
}

function noop(): void {}
