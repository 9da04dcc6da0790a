import type { PermissionSet } from '../../config/permission-set.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { GrantUse } from '../../permissions/select-grants.ts';
import type { Generation } from '../../units/generation.ts';
import type { PluginManifest } from '../../units/manifest.ts';

/** A generation as callers hold it. Structurally the PublishedGeneration of the registry. */
export interface Published {
  readonly generation: Generation;
  readonly manifest: PluginManifest;
  /** What is granted to it now, within a call when one is given. */
  readonly granted: (use?: GrantUse) => PermissionSet;
  /** Counts a call in; the returned function counts it out. Throws `plugin-not-ready` after the drain deadline. */
  readonly lease: () => () => void;
}

/** The supervisor's side: callers get `published`, the supervisor retires it. */
export interface Leasable {
  readonly published: Published;
  /** Starts the drain: calls in flight have until the deadline, `onDrained` runs when none is left or when it passes. */
  retire(drainMs: number): void;
}

/** Makes a generation leasable. `onDrained` may run more than once and must not throw. */
export function createLeasable(parts: {
  readonly generation: Generation;
  readonly granted: (use?: GrantUse) => PermissionSet;
  readonly now: () => number;
  readonly onDrained: () => void;
}): Leasable {
  const { generation, granted, now, onDrained } = parts;
  let leases = 0;
  let refusesAfterMs = Number.POSITIVE_INFINITY;
  let deadline: NodeJS.Timeout | undefined;

  function lease(): () => void {
    if (now() > refusesAfterMs) {
      const { name, version } = generation.manifest;
      throw new HotcellError('plugin-not-ready', `Generation ${generation.number} of "${name}@${version}" was replaced.`, {
        fix: 'Call the tool again: the new generation answers.',
      });
    }
    leases += 1;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      leases -= 1;
      if (leases === 0 && refusesAfterMs !== Number.POSITIVE_INFINITY) drained();
    };
  }

  function drained(): void {
    clearTimeout(deadline);
    onDrained();
  }

  return {
    published: { generation, manifest: generation.manifest, granted, lease },
    retire(drainMs) {
      refusesAfterMs = now() + drainMs;
      if (leases === 0) return drained();
      deadline = setTimeout(onDrained, drainMs);
      deadline.unref();
    },
  };
}
