/**
 * The usual call as a flat list. Copying an object to another thread costs about a microsecond for each of its
 * properties, which for a short call adds up to more than the call itself.
 */
import type { CallSlice, CallSliceResult, PackedResult, PackedSlices, ToWorker } from './protocol.ts';

const FIELDS = 5;

/** Packs slices, or returns undefined when one of them is out of the ordinary. All must be of the same program. */
export function packSlices(slices: readonly CallSlice[]): PackedSlices | undefined {
  const packed: (string | number)[] = [slices[0]?.programKey ?? ''];
  for (const { serial, cellId, start, image, delta, deltaFile, answers, view, budget, keep, pending, earlier } of slices) {
    if (!start || start.hook !== undefined || image || delta || deltaFile || answers || view || budget || keep || pending > 0)
      return undefined;
    if (earlier) return undefined;
    packed.push(serial, cellId, start.handler ?? '', start.argumentsJson, start.factsJson);
  }
  return packed;
}

/** Unpacks what `packSlices` made. */
export function unpackSlices(packed: PackedSlices): CallSlice[] {
  const slices: CallSlice[] = [];
  const programKey = String(packed[0]);
  for (let at = 1; at + FIELDS <= packed.length; at += FIELDS) {
    const [serial, cellId, handler, argumentsJson, factsJson] = packed.slice(at, at + FIELDS);
    slices.push({
      serial: Number(serial),
      cellId: Number(cellId),
      programKey,
      pending: 0,
      keep: false,
      start: {
        hook: undefined,
        handler: handler === '' ? undefined : String(handler),
        argumentsJson: String(argumentsJson),
        factsJson: String(factsJson),
      },
    });
  }
  return slices;
}

/** How many slices a message brings. */
export function countSlices(message: ToWorker): number {
  if (!('type' in message)) return (message.length - 1) / FIELDS;
  return message.type === 'calls' ? message.slices.length : 0;
}

/** Packs a result, or returns it as it is when it is out of the ordinary. */
export function packResult(result: CallSliceResult): CallSliceResult | PackedResult {
  const { end, serial, cpuMs, hostCalls, crossingsDropped, cellLost } = result;
  const isUsual =
    end.kind === 'return' &&
    hostCalls === 0 &&
    !crossingsDropped &&
    !cellLost &&
    !result.grownBytes &&
    !result.logs &&
    !result.crossings &&
    !result.progress &&
    !result.abandoned &&
    !result.cancelled &&
    !result.deniedNames;
  return isUsual ? [serial, end.text, cpuMs] : result;
}

/** Unpacks what `packResult` made. */
export function unpackResult([serial, text, cpuMs]: PackedResult): CallSliceResult {
  return {
    type: 'call-slice',
    serial,
    end: { kind: 'return', text },
    crossingsDropped: false,
    hostCalls: 0,
    cpuMs,
    cellLost: false,
  };
}
