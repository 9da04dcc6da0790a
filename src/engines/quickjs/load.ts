import { defaultLimits } from '../../config/limits.ts';
import type { LoadRequest, LoadResult, Program } from '../engine.ts';
import { toGuestError } from '../guest-errors.ts';
import { failLoad, readExported } from '../run-outcome.ts';
import type { LoadSliceResult } from './protocol.ts';
import type { LoadOrder } from './schedule/worker-thread.ts';

/** What became of a load: a result of the worker, or the loss of its thread. */
export type LoadEnd = LoadSliceResult | { readonly type: 'lost'; readonly reason: 'killed' | 'died'; readonly detail: string };

/** What a worker is told of a load. Nothing is open at the host while a plugin loads. */
export function orderLoad({ key, label, code, limits }: LoadRequest): LoadOrder {
  return {
    programKey: key,
    code: typeof code === 'string' ? code : Buffer.from(code).toString('utf8'),
    // A module may export its plugin under the name of its file.
    fileBase: label.replace(/\.[cm]?[jt]s$/, ''),
    budget: { ...limits, progress: 0, pendingHostBytes: 0 },
    isRebuild: false,
  };
}

/** Evaluates the code of a program once more and returns its image as a difference to the base. */
export async function rebuildImage(
  { key, label, readCode }: Program,
  load: (order: LoadOrder) => Promise<LoadEnd>,
): Promise<Uint8Array> {
  const order = orderLoad({ key, label, code: await readCode(), limits: defaultLimits });
  const result = await load({ ...order, isRebuild: true });
  if (result.type === 'load-slice' && result.end.kind === 'loaded') return result.end.image;
  throw new Error(`the image of "${label}" could not be built again`);
}

/** Turns the end of a load into what the engine answers. `sign` gives an image the form in which it is stored. */
export function readLoadResult(result: LoadEnd, request: LoadRequest, sign: (image: Uint8Array) => Uint8Array): LoadResult {
  if (result.type === 'lost') {
    return result.reason === 'died'
      ? failLoad('engine-failed', `The sandbox ended: ${result.detail}.`)
      : failLoad('time-exceeded', describeSlowLoad(request));
  }
  const { end } = result;
  switch (end.kind) {
    case 'loaded': {
      const read = readExported(end.exportedJson);
      return read.ok ? { ...read, programKey: end.programKey, image: sign(end.image) } : read;
    }
    case 'throw': {
      const { name, ...error } = toGuestError(end.report, 'load-failed');
      // The engine speaks of a call.
      if (error.code === 'memory-exceeded') return { ok: false, error: { ...error, message: describeLargeLoad(request) } };
      return { ok: false, error: { ...error, ...(name === undefined ? {} : { name }) } };
    }
    case 'stopped':
      if (end.reason === 'memory') return failLoad('memory-exceeded', describeLargeLoad(request));
      return failLoad('time-exceeded', describeSlowLoad(request));
    case 'never-settles':
      return failLoad('load-failed', 'onLoad returned a promise that never settles.');
  }
}

function describeLargeLoad({ label, limits }: LoadRequest): string {
  return `Loading ${label} used more than ${limits.memoryBytes} bytes of memory (limits.memoryBytes).`;
}

function describeSlowLoad({ label, limits }: LoadRequest): string {
  return `Loading ${label} took more than ${limits.cpuMs} ms of processor time (limits.cpuMs): code outside of its handlers runs on, as in a loop without an end.`;
}
