import { nestsDeeper } from '../../config/read/json-nesting.ts';
import type { LoadRequest, LoadResult } from '../engine.ts';
import { memoryExceeded, toGuestError } from '../guest-errors.ts';
import type { LoadSliceResult } from './protocol.ts';

/** The prelude cuts what nests deeper than 40 levels; a schema may hold as many again. */
const maxExportedDepth = 200;

/** What became of a load: a result of the worker, or the loss of its thread. */
export type LoadEnd = LoadSliceResult | { readonly type: 'lost'; readonly reason: 'killed' | 'died'; readonly detail: string };

/** Turns the end of a load into what the engine answers. `sign` gives an image the form in which it is stored. */
export function readLoadResult(result: LoadEnd, request: LoadRequest, sign: (image: Uint8Array) => Uint8Array): LoadResult {
  if (result.type === 'lost') {
    return result.reason === 'died'
      ? fail('engine-failed', `The sandbox ended: ${result.detail}.`)
      : fail('time-exceeded', describeSlowLoad(request));
  }
  const { end } = result;
  switch (end.kind) {
    case 'loaded':
      return readExported(end.exportedJson, () => ({ programKey: end.programKey, image: sign(end.image) }));
    case 'throw':
      return { ok: false, error: toGuestError(end.report, 'load-failed') };
    case 'stopped':
      if (end.reason === 'memory') return fail('memory-exceeded', memoryExceeded(request.limits.memoryBytes));
      return fail('time-exceeded', describeSlowLoad(request));
    case 'never-settles':
      return fail('load-failed', 'onLoad returned a promise that never settles.');
  }
}

function describeSlowLoad({ label, limits }: LoadRequest): string {
  return `Loading ${label} took more than ${limits.cpuMs} ms of processor time (limits.cpuMs): code outside of its handlers runs on, as in a loop without an end.`;
}

/** The prelude made the text, unless the plugin forged it: nothing that comes from a guest is believed. */
function readExported(json: string, keep: () => { readonly programKey: string; readonly image: Uint8Array }): LoadResult {
  if (nestsDeeper(json, maxExportedDepth)) return fail('load-failed', 'What the plugin exports nests too deeply.');
  try {
    return { ok: true, exported: JSON.parse(json), ...keep(), warnings: [] };
  } catch {
    return fail('load-failed', 'What the plugin exports could not be read as data.');
  }
}

function fail(code: 'engine-failed' | 'time-exceeded' | 'memory-exceeded' | 'load-failed', message: string): LoadResult {
  return { ok: false, error: { code, message, frames: [] } };
}
