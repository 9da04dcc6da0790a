import type { EventType } from '../events/event-table.ts';

/**
 * From which event of the daemon each comes. `asked` is no event: the call waits for the answer. Nothing stands at those that
 * come with chat: a manifest may name them, and they fire once the daemon publishes such events.
 */
const sources = {
  'daemon:start': 'daemon-start',
  'daemon:stop': 'daemon-stop',
  'tool:before': 'asked',
  'tool:after': 'execution-end',
  'plugin:reload': 'plugin-change',
  'message:received': undefined,
  'message:sent': undefined,
  'session:start': undefined,
  'session:end': undefined,
  'command:new': undefined,
  'command:reset': undefined,
  'command:stop': undefined,
  'agent:bootstrap': undefined,
} as const satisfies Record<string, EventType | 'asked' | undefined>;

/** What a hook can hear of, in the spelling `type:action`. */
export type HookEvent = keyof typeof sources;

/** One event that a hook subscribed to, under the name that its manifest used. */
export interface Subscription {
  readonly event: HookEvent;
  /** What the handler finds in `event.type` and `event.action`. */
  readonly type: string;
  readonly action: string;
}

/** Other names that hooks in the wild use. */
const aliases: Readonly<Record<string, HookEvent>> = {
  'gateway:startup': 'daemon:start',
  'gateway:shutdown': 'daemon:stop',
  'tool:call': 'tool:before',
  'tool:result': 'tool:after',
};

/** Every name that a manifest may use for one event. */
export const hookEventNames: readonly string[] = [...Object.keys(sources), ...Object.keys(aliases)];

/** True for events that fire in this daemon. */
export function fires(event: HookEvent): boolean {
  return sources[event] !== undefined;
}

/** What of the daemon's events hooks hear. */
export const heardEventTypes: readonly EventType[] = Object.values(sources).filter(
  (source): source is Exclude<typeof source, undefined | 'asked'> => source !== undefined && source !== 'asked',
);

/** The hook event that an event of the daemon is; undefined for those that no hook hears. */
export function hookEventOf(type: EventType): HookEvent | undefined {
  for (const [event, source] of Object.entries(sources)) if (source === type && isHookEvent(event)) return event;
  return undefined;
}

/** Reads one name of a manifest: `type:action`, or `type` alone for all of its actions. Undefined for what nobody knows. */
export function parseSubscription(name: string): readonly Subscription[] | undefined {
  const event = Object.hasOwn(aliases, name) ? aliases[name] : isHookEvent(name) ? name : undefined;
  if (event !== undefined) {
    const [type = '', action = ''] = name.split(':');
    return [{ event, type, action }];
  }
  const all = hookEventNames.filter((each) => each.startsWith(`${name}:`)).flatMap((each) => parseSubscription(each) ?? []);
  const firstOfEvent = all.filter((each, index) => all.findIndex((other) => other.event === each.event) === index);
  return firstOfEvent.length === 0 ? undefined : firstOfEvent;
}

function isHookEvent(name: string): name is HookEvent {
  return Object.hasOwn(sources, name);
}
