import { defaultLimits, type Limits } from '../../../config/limits.ts';
import type { LoadRequest, Program } from '../../engine.ts';
import type { Scheduler } from './scheduler.ts';
import type { LoadOrder } from './worker-thread.ts';

/** What a worker is told of a load. */
export function orderLoad({ key, label, code, limits }: LoadRequest): LoadOrder {
  return { programKey: key, code: readText(code), fileBase: baseName(label), budget: budgetOf(limits), isRebuild: false };
}

/** Evaluates the code of a program once more and returns its image as a difference to the base. */
export async function rebuildImage(program: Program, scheduler: Pick<Scheduler, 'load'>): Promise<Uint8Array> {
  const { key, label } = program;
  const order = orderLoad({ key, label, code: await program.readCode(), limits: defaultLimits });
  const result = await scheduler.load({ ...order, isRebuild: true });
  if (result.type === 'load-slice' && result.end.kind === 'loaded') return result.end.image;
  throw new Error(`the image of "${label}" could not be built again`);
}

function readText(code: string | Uint8Array): string {
  return typeof code === 'string' ? code : Buffer.from(code).toString('utf8');
}

/** Nothing is open at the host while a plugin loads. */
function budgetOf(limits: Limits): LoadOrder['budget'] {
  return { ...limits, progress: 0, pendingHostBytes: 0 };
}

/** A module may export its plugin under the name of its file. */
function baseName(label: string): string {
  return label.replace(/\.[cm]?[jt]s$/, '');
}
