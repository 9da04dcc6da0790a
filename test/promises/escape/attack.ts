/** One attempt of a plugin to get out of its cell, or to harm the host or a neighbour from inside. */
export interface Attack {
  readonly name: string;
  /** Statements at the top of the module, before anything is described. */
  readonly top?: string;
  /** The plugin as a whole, where a handler is not enough. */
  readonly plugin?: string;
  /** Body of an async handler; what it returns is the evidence. */
  readonly body?: string;
  /** The evidence of a harmless end: the output of the call. */
  readonly gives?: unknown;
  /** Codes of the errors that the call may end with; with `gives` absent it must end with one of them. */
  readonly fails?: readonly string[];
  /** The plugin must not load, with one of these codes. */
  readonly loadFails?: readonly string[];
  /** The plugin broke its own image: what its next call gives is its own affair, but it must end. */
  readonly harmsItself?: boolean;
}

/** Says whether a call was left alone: run in the next call of the attacked plugin and in a neighbour. */
export const soundness = `[
  typeof globalThis.stolen, typeof ({}).polluted, [3, 1, 2].sort().map((x) => x * 2).join(), JSON.stringify({ a: [1] }),
  typeof process, typeof require, typeof host, Object.keys(globalThis).filter((name) => /leak|stolen|hotcell/i.test(name)).length,
  new URL('http://a.example/b').pathname, await Promise.resolve(5)
]`;

/** What \`soundness\` is in a sandbox that nobody touched. */
export const soundEvidence = ['undefined', 'undefined', '2,4,6', '{"a":[1]}', 'object', 'undefined', 'undefined', 0, '/b', 5];

/** The text of an attack's plugin object. */
export function pluginOf({ plugin, body = 'return 0' }: Attack): string {
  return (
    plugin ??
    `{ description: 'attack', handler: async (args, context) => { if (args.probe) return ${soundness}; const ask = globalThis[Symbol.for('hotcell.askNow')]; ${body} } }`
  );
}
