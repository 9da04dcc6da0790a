/** All engines; what each of them is, says its folder in `engines`. */
export const engineNames = ['quickjs', 'extism', 'deno', 'docker'] as const;

/** Those of TypeScript and JavaScript, lowest first: a plugin moves to one above its own. A `.wasm` module has no other engine. */
export const scriptEngineNames = ['quickjs', 'deno', 'docker'] as const satisfies readonly (typeof engineNames)[number][];

/** Whether a name is one of the engines to which a plugin can move: above the lowest. */
export function isHigherEngine(name: unknown): name is Exclude<(typeof scriptEngineNames)[number], 'quickjs'> {
  return scriptEngineNames.slice(1).some((each) => each === name);
}
