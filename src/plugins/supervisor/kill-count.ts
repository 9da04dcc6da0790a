/** Counts how often the cells of a plugin had to be killed: `limit` kills within `windowMs` are too many. */
export function createKillCount(options: { readonly limit: number; readonly windowMs: number }) {
  const killsByPath = new Map<string, number[]>();
  return {
    /** True when this kill was one too many within the window. */
    note(pluginPath: string, atMs: number): boolean {
      const recent = (killsByPath.get(pluginPath) ?? []).filter((killedAtMs) => killedAtMs > atMs - options.windowMs);
      recent.push(atMs);
      killsByPath.set(pluginPath, recent);
      return recent.length >= options.limit;
    },
    clear: (pluginPath: string) => killsByPath.delete(pluginPath),
  };
}
