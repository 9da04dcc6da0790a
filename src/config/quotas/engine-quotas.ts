import { defaultSettings as defaults } from '../schema.ts';
import {
  browserBounds,
  MIB,
  type PlaceBounds,
  type Quota,
  sharePlaces,
  shareQueue,
  shareWaiting,
  spareExtismThreads,
} from './quota.ts';

const { queue, workers, docker } = defaults;
const processMeans =
  'the next call waits for its turn, callers and then plugins in turn; admins have the reserve beyond the bound in all';
const placeTests = ['concurrency/engine-places.test.ts', 'promises/engines/places.test.ts'];
/** A caller has one browser, and one of them is for admins. */
const browserPlaces: PlaceBounds = { perCaller: 1, perPlugin: 3, inAll: 3, reserve: 1 };

/** Places of calls that an engine runs. */
function enginePlaces(holds: string, inAll: number, settings?: readonly string[]) {
  const places = { holds, unit: 'places', ...sharePlaces(inAll), atBound: processMeans, tests: placeTests } as const;
  return settings === undefined ? places : { ...places, settings };
}

/** Places of those that stand aside meanwhile. */
function engineAside(calls: string, inAll: number) {
  const holds = `${calls} that wait for a person, a model or another tool`;
  const atBound =
    'the question or the call of a tool is refused with `queue-full`; admins have the reserve beyond the bound in all';
  return { holds, unit: 'places', ...sharePlaces(inAll), atBound, tests: placeTests } as const;
}

/** What callers hold of what runs their calls. */
export const engineQuotas = {
  'cells.memory': {
    holds: 'memory of calls that wait and of kept cells',
    unit: 'bytes',
    ...shareWaiting(defaults.waiting.maxMemoryBytes),
    atBound: 'the memory is put on the disk',
    settings: ['waiting.maxMemoryBytes'],
    tests: ['engines/quickjs/suspend/waiting-memory.test.ts'],
  },
  'cells.stored': {
    holds: 'the same on the disk',
    unit: 'bytes',
    ...shareWaiting(defaults.waiting.maxStoredBytes),
    atBound: 'a call that begins to wait ends with `waiting-memory-exceeded`, a kept cell is lost',
    settings: ['waiting.maxStoredBytes'],
    tests: ['engines/quickjs/suspend/waiting-memory.test.ts'],
  },
  'queue.waiting': {
    holds: 'calls that wait for their turn',
    unit: 'calls',
    ...shareQueue(queue.maxPending),
    perCaller: queue.maxPendingPerCaller,
    atBound: 'a new call is refused with `queue-full`; admins have the reserve beyond the bound in all',
    settings: ['queue.maxPending', 'queue.maxPendingPerCaller'],
    tests: ['tools/limits-of-queue.test.ts'],
  },
  'queue.running': {
    holds: 'calls that run, those that wait for something else included',
    unit: 'calls',
    ...shareQueue(queue.maxRunning),
    atBound: processMeans,
    settings: ['queue.maxRunning'],
    tests: ['tools/limits-of-queue.test.ts', 'tools/fairness.test.ts'],
  },
  'queue.turns': {
    holds: 'calls of a turn of a model that wait for the earlier calls of the turn',
    unit: 'calls',
    each: { of: 'turn', max: 100 },
    perCaller: 6000,
    // A turn calls many plugins.
    perPlugin: 10_000,
    inAll: 10_000,
    reserve: 1000,
    atBound: 'a new call is refused with `queue-full`; admins have the reserve beyond the bound in all',
    tests: ['calls/accept/call-turns.test.ts'],
  },
  'loop.running': {
    holds: 'loops of a model and its tools that run',
    unit: 'calls',
    perCaller: 1000,
    // A loop belongs to a caller, and to no plugin.
    perPlugin: 2000,
    inAll: 2000,
    reserve: 200,
    atBound: 'a new one is refused with `queue-full`; admins have the reserve beyond the bound in all',
    tests: ['loop/loops.test.ts'],
  },
  'loop.time': {
    holds: 'time of a loop, but not the wait for a person',
    unit: 'ms',
    each: { of: 'loop', max: 600_000 },
    atBound: 'it ends with the reason `deadline`',
    tests: ['loop/decide-round.test.ts', 'loop/run-loop.test.ts'],
  },
  'loop.turn': {
    holds: 'calls of one answer of a model that are run',
    unit: 'calls',
    each: { of: 'answer', max: 32 },
    atBound: 'the model reads of the others that they were not run',
    tests: ['loop/decide-round.test.ts'],
  },
  'loop.result': {
    holds: 'what a model reads of one call',
    unit: 'bytes',
    each: { of: 'call', max: 128 * 1024 },
    atBound: 'the result is cut, and says so',
    tests: ['loop/decide-round.test.ts'],
  },
  'loop.results': {
    holds: 'what a model reads of all calls of a loop',
    unit: 'bytes',
    each: { of: 'loop', max: MIB },
    atBound: 'the model is asked once more, without tools',
    tests: ['loop/decide-round.test.ts'],
  },
  'loop.media': {
    holds: 'images, sounds and documents that a model is shown of all results of a loop, in base64',
    unit: 'bytes',
    each: { of: 'loop', max: 8 * MIB },
    atBound: 'the next are left out, and the model reads so',
    tests: ['loop/read-output.test.ts'],
  },
  'loop.answer': {
    holds: 'one answer of a model in a loop',
    unit: 'bytes',
    each: { of: 'answer', max: 8 * MIB },
    atBound: 'the loop ends with the reason `model-failed`',
    tests: ['loop/run-loop.test.ts'],
  },
  'loop.steering': {
    holds: 'messages that wait to be taken into a loop between two rounds',
    unit: 'rows',
    each: { of: 'loop', max: 32 },
    atBound: 'the next is refused with `queue-full`',
    tests: ['loop/loops.test.ts'],
  },
  'extism.places': enginePlaces('WebAssembly calls that run', workers.max + spareExtismThreads, ['workers.max']),
  'extism.aside': engineAside('WebAssembly calls', 32),
  'deno.places': enginePlaces('calls in Deno processes', 16),
  'deno.aside': engineAside('calls in Deno processes', 16),
  'docker.places': enginePlaces('calls of plugins in containers', docker.maxRunning, ['docker.maxRunning']),
  'docker.aside': engineAside('calls of plugins in containers', 16),
  'docker.commands': {
    holds: 'commands in containers that run',
    unit: 'places',
    ...sharePlaces(docker.maxRunning),
    atBound: processMeans,
    settings: ['docker.maxRunning'],
    tests: ['engines/process/docker/command/container-places.test.ts'],
  },
  'docker.commandQueue': {
    holds: 'commands that wait for a container',
    unit: 'places',
    ...shareQueue(docker.maxWaiting),
    atBound: 'the command is refused with `queue-full`; admins have the reserve beyond the bound in all',
    settings: ['docker.maxWaiting'],
    tests: ['engines/process/docker/command/container-places.test.ts'],
  },
  'schedules.kept': {
    holds: 'calls that are made later',
    unit: 'calls',
    perCaller: 100,
    perPlugin: 1000,
    inAll: 1000,
    reserve: 100,
    atBound: 'a new one is refused with `quota-exceeded`; admins have the reserve beyond the bound in all',
    tests: ['calls/call-scheduler.test.ts'],
  },
  'browser.places': {
    holds: 'browsers that are open, each of one call with all that it calls',
    unit: 'places',
    ...browserPlaces,
    atBound: processMeans,
    tests: ['builtins/browser/browser.test.ts'],
  },
  'browser.pages': {
    holds: 'pages of a browser',
    unit: 'places',
    each: { of: 'browser', max: browserBounds.maxPages },
    atBound: 'a page beyond it is closed at once',
    tests: ['builtins/browser/browser.test.ts'],
  },
  'browser.processes': {
    holds: 'processes of a browser',
    unit: 'places',
    each: { of: 'browser', max: browserBounds.maxProcesses },
    atBound: 'the browser is killed, and the call ends with `memory-exceeded`',
    tests: ['builtins/browser/browser.test.ts'],
  },
  'browser.memory': {
    holds: 'memory of all processes of a browser, without what programs share',
    unit: 'bytes',
    each: { of: 'browser', max: browserBounds.maxMemoryBytes },
    atBound: 'the browser is killed, and the call ends with `memory-exceeded`',
    tests: ['builtins/browser/browser.test.ts'],
  },
  'replay.running': {
    holds: 'executions that are replayed',
    unit: 'places',
    perCaller: 2,
    perPlugin: 6,
    inAll: 8,
    reserve: 2,
    atBound: 'the replay is refused with `queue-full`; admins have the reserve beyond the bound in all',
    tests: ['replay/replay.test.ts'],
  },
  'cells.sessions': {
    holds: 'kept cells of the sandbox: of sessions, and of plugins that keep one for all',
    unit: 'cells',
    inAll: 256,
    atBound: 'the cell unused for longest goes, of the caller who has most; its next call is warned',
    tests: ['engines/quickjs/schedule/kept-cells.test.ts'],
  },
  'cells.kept': {
    holds: 'kept cells of Deno, and as many of Docker',
    unit: 'cells',
    inAll: 8,
    atBound: 'the cell unused for longest goes, of the caller who has most',
    tests: ['engines/process/deno/deno-engine.test.ts'],
  },
} as const satisfies Record<string, Quota>;
