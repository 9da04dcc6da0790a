/** Which plugins were built from which files. */
export interface InputUsers {
  /** Replaces the files that a plugin is built from. */
  set(pluginPath: string, inputPaths: Iterable<string>): void;
  delete(pluginPath: string): void;
  usersOf(inputPath: string): Iterable<string>;
  /** All files that any plugin is built from. */
  paths(): IteratorObject<string>;
}

/** Creates an empty table. */
export function createInputUsers(): InputUsers {
  const usersByInput = new Map<string, Set<string>>();
  const inputsByUser = new Map<string, readonly string[]>();

  function remove(pluginPath: string): void {
    for (const path of inputsByUser.get(pluginPath) ?? []) {
      const users = usersByInput.get(path);
      users?.delete(pluginPath);
      if (users?.size === 0) usersByInput.delete(path);
    }
    inputsByUser.delete(pluginPath);
  }

  return {
    set(pluginPath, inputPaths) {
      remove(pluginPath);
      const paths = [...inputPaths];
      inputsByUser.set(pluginPath, paths);
      for (const path of paths) {
        const users = usersByInput.get(path);
        if (users) users.add(pluginPath);
        else usersByInput.set(path, new Set([pluginPath]));
      }
    },
    delete: remove,
    usersOf: (inputPath) => usersByInput.get(inputPath) ?? [],
    paths: () => usersByInput.keys(),
  };
}
