/** What the sandbox's built-ins of Node are without: it is there, and refused by name when it is used. */

/** A built-in, and a sentence that says what to use instead; without one the sandbox has it, and lacks members of it. */
export interface Lacking {
  readonly name: string;
  readonly instead?: string;
}

const noteLack: ((builtin: string) => void) | undefined = Reflect.get(globalThis, Symbol.for('hotcell.noteLack'));

/** Gives a shim the functions of the built-in that it does not have. */
export function completeShim(shim: object, lacking: Lacking, functions: readonly string[]): object {
  for (const member of functions) {
    if (member in shim) continue;
    const value = refuseMember(lacking, member);
    Object.defineProperty(shim, member, { value, writable: true, enumerable: true, configurable: true });
  }
  return shim;
}

/** A function, or a class to build others upon, whose use is refused. */
export function refuseMember(lacking: Lacking, member: string): () => never {
  const refused = function (this: unknown): never {
    throw refusal(lacking, member);
  };
  return Object.defineProperty(refused, 'name', { value: member, configurable: true });
}

/** The error of a use. */
export function refusal({ name, instead }: Lacking, member: string): Error {
  noteLack?.(name);
  const reason =
    instead === undefined
      ? `the sandbox has the Node built-in "${name}" without it. The engines deno and docker have it: write engine: 'deno' in the plugin.`
      : `the sandbox has no Node built-in "${name}". ${instead}`;
  const message = `${name}.${member} is refused: ${reason}`;
  return Object.assign(new Error(message), { name: 'BuiltinRefused' });
}
