import type { PluginState } from './plugin-types.ts';

/** Where a plugin stands: its state, and whether one of its generations is published, with or without all it asked for. */
export interface Lifecycle {
  readonly state: PluginState;
  readonly serving: 'nothing' | 'whole' | 'limited';
}

/** What can happen to a plugin. */
export type LifecycleEvent =
  /** Content that was not judged yet lies in the folder. */
  | { readonly type: 'found' }
  /** A generation is ready to serve; `pending` says that it asks for more than is granted. */
  | { readonly type: 'built'; readonly pending: boolean }
  /** The content does not build, load or fit beside the others. */
  | { readonly type: 'failed' }
  /** The content is not built before a person lets it have another engine. */
  | { readonly type: 'held' }
  /** The content is again that of the published generation. */
  | { readonly type: 'reverted' }
  /** Another plugin took the names of its tools. */
  | { readonly type: 'displaced' }
  /** `isHolding` says that a newer generation still waits for its grant. */
  | { readonly type: 'regranted'; readonly pending: boolean; readonly isHolding?: boolean }
  | { readonly type: 'vanished' }
  | { readonly type: 'disabled' }
  | { readonly type: 'enabled' }
  | { readonly type: 'quarantined' };

/** What the supervisor has to carry out, in order. `hold` keeps a built generation until it is granted. */
export type LifecycleEffect = 'build' | 'publish' | 'hold' | 'withdraw';

/** The next state and what it takes to get there. */
export interface Transition {
  readonly next: Lifecycle;
  readonly effects: readonly LifecycleEffect[];
}

/** A plugin that nobody has seen yet. */
export const absent: Lifecycle = Object.freeze({ state: 'absent', serving: 'nothing' });

/** The one place that decides what a plugin becomes. Pure: the same lifecycle and event give the same transition. */
export function transition(now: Lifecycle, event: LifecycleEvent): Transition {
  switch (event.type) {
    case 'found':
      if (now.state === 'disabled') return stay(now);
      return now.serving === 'nothing' ? become('loading', 'nothing', ['build']) : { next: now, effects: ['build'] };
    case 'built':
      if (isSwitchedOff(now)) return stay(now);
      if (!event.pending) return become('ready', 'whole', ['publish']);
      // An older generation that has all it asked for is worth more than a newer one that would be denied.
      return now.serving === 'whole'
        ? become('pending-grant', 'whole', ['hold'])
        : become('pending-grant', 'limited', ['publish']);
    case 'failed':
      if (isSwitchedOff(now)) return stay(now);
      return now.serving === 'nothing' ? become('failed', 'nothing', []) : become('degraded', now.serving, []);
    case 'held':
      return isSwitchedOff(now) ? stay(now) : become('pending-grant', now.serving, []);
    case 'reverted':
      return now.serving === 'nothing' ? stay(now) : become(stateOfServing(now.serving), now.serving, []);
    case 'displaced':
      return now.serving === 'nothing' ? stay(now) : become('failed', 'nothing', ['withdraw']);
    case 'regranted': {
      if (now.serving === 'nothing') return stay(now);
      const serving = event.pending ? 'limited' : 'whole';
      const state = event.isHolding === true ? 'pending-grant' : stateOfServing(serving);
      return become(now.state === 'degraded' ? 'degraded' : state, serving, []);
    }
    case 'vanished':
      return become('absent', 'nothing', withdrawal(now));
    case 'disabled':
      return become('disabled', 'nothing', withdrawal(now));
    case 'enabled':
      return now.state === 'disabled' || now.state === 'quarantined' ? become('loading', 'nothing', ['build']) : stay(now);
    case 'quarantined':
      return isSwitchedOff(now) ? stay(now) : become('quarantined', 'nothing', withdrawal(now));
  }
}

/** False for a plugin that an operator or the daemon took out of service, or whose file is gone. */
export function mayServe(state: PluginState): boolean {
  return state !== 'disabled' && state !== 'quarantined' && state !== 'absent';
}

function stay(now: Lifecycle): Transition {
  return { next: now, effects: [] };
}

function become(state: PluginState, serving: Lifecycle['serving'], effects: readonly LifecycleEffect[]): Transition {
  return { next: { state, serving }, effects };
}

/** States in which a late result of a build must not bring the plugin back. */
function isSwitchedOff(now: Lifecycle): boolean {
  return !mayServe(now.state);
}

function stateOfServing(serving: 'whole' | 'limited'): PluginState {
  return serving === 'whole' ? 'ready' : 'pending-grant';
}

function withdrawal(now: Lifecycle): LifecycleEffect[] {
  return now.serving === 'nothing' ? [] : ['withdraw'];
}
