/** Which plugins were built from which files, and what the files looked like then. */
export type InputUsers = ReturnType<typeof createInputUsers>;

interface Input {
  readonly users: Set<string>;
  signature: string | undefined;
}

/** Creates an empty table. */
export function createInputUsers() {
  const inputsByPath = new Map<string, Input>();
  const pathsByUser = new Map<string, readonly string[]>();

  function remove(pluginPath: string): void {
    for (const path of pathsByUser.get(pluginPath) ?? []) {
      const input = inputsByPath.get(path);
      input?.users.delete(pluginPath);
      if (input?.users.size === 0) inputsByPath.delete(path);
    }
    pathsByUser.delete(pluginPath);
  }

  return {
    /** Replaces the files that a plugin is built from: signature by path, undefined for a file that is not there. */
    set(pluginPath: string, signatures: ReadonlyMap<string, string | undefined>): void {
      remove(pluginPath);
      pathsByUser.set(pluginPath, [...signatures.keys()]);
      for (const [path, signature] of signatures) {
        const input = inputsByPath.get(path) ?? { users: new Set(), signature };
        input.users.add(pluginPath);
        input.signature = signature;
        inputsByPath.set(path, input);
      }
    },
    delete: remove,
    usersOf: (inputPath: string): Iterable<string> => inputsByPath.get(inputPath)?.users ?? [],
    /** All files that any plugin is built from. */
    paths: (): Iterable<string> => inputsByPath.keys(),
    /** The signature that was set last. */
    signatureOf: (inputPath: string) => inputsByPath.get(inputPath)?.signature,
  };
}
