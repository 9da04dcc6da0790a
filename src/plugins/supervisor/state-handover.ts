import type { Generation } from '../generations/generation.ts';

/** Older cells than these were not called over many reloads. */
const maxWaiting = 8;

/**
 * Generations whose session and plugin cells may still hold state for a newer one. A cell hands its state on when it is next
 * called, so its program is let go later than that of other generations.
 */
export function createInheritance() {
  const waitingByPath = new Map<string, Map<string, Generation>>();

  return {
    /** Whether the cells of an outgoing generation are still wanted; then it is kept in mind. */
    expects(outgoing: Generation, heir: Generation | undefined): boolean {
      if (!heir?.manifest.hooks.onReload || !outgoing.manifest.hooks.onReload) return false;
      const waiting = waitingByPath.get(outgoing.path) ?? new Map<string, Generation>();
      waitingByPath.set(outgoing.path, waiting.set(outgoing.runner.program.key, outgoing));
      return true;
    },
    /** The generations that nobody will inherit from any more: all of a plugin that is gone, else the ones beyond the bound. */
    takeLapsed(pluginPath: string, heir: Generation | undefined): Generation[] {
      const waiting = waitingByPath.get(pluginPath);
      if (!waiting) return [];
      // After a rollback an older generation may be the current one again.
      if (heir) waiting.delete(heir.runner.program.key);
      const isEnded = !heir?.manifest.hooks.onReload;
      const lapsed = [...waiting.values()].slice(0, isEnded ? undefined : Math.max(0, waiting.size - maxWaiting));
      for (const generation of lapsed) waiting.delete(generation.runner.program.key);
      if (waiting.size === 0) waitingByPath.delete(pluginPath);
      return lapsed;
    },
  };
}
