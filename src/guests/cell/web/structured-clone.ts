/** structuredClone: a walk in the guest, because the host never holds guest objects. */
import { DOMException, findModule, toBytes } from './base.ts';

/**
 * A deep copy with cycles kept. Functions, symbols, promises and weak collections end as DataCloneError. What is transferred can no
 * longer be used where it was; ports and streams stay what they are, for all of a plugin is in one place.
 */
export function structuredClone(value: unknown, { transfer = [] }: { transfer?: readonly object[] } = {}): unknown {
  const others = transfer.filter((each) => !(each instanceof ArrayBuffer));
  const copied = copy(value, new Map(others.map((each) => [each, each])));
  for (const each of transfer) if (each instanceof ArrayBuffer) each.transfer(0);
  return copied;
}

function copy(value: unknown, copies: Map<unknown, unknown>): unknown {
  if (typeof value === 'function' || typeof value === 'symbol') throw refusal(value);
  if (typeof value !== 'object' || value === null) return value;
  const present = copies.get(value);
  if (present !== undefined) return present;
  const made = createEmpty(value, copies);
  copies.set(value, made);
  if (value instanceof Map && made instanceof Map)
    for (const [key, item] of [...value]) made.set(copy(key, copies), copy(item, copies));
  else if (value instanceof Set && made instanceof Set) for (const item of [...value]) made.add(copy(item, copies));
  else if (Array.isArray(value) || made.constructor === Object) {
    for (const key of Object.keys(value)) {
      Object.defineProperty(made, key, {
        value: copy(Reflect.get(value, key), copies),
        writable: true,
        enumerable: true,
        configurable: true,
      });
    }
  }
  return made;
}

/** The copy without its members; complete for everything that is not a collection or a plain object. */
function createEmpty(value: object, copies: Map<unknown, unknown>): object {
  if (value instanceof Map) return new Map();
  if (value instanceof Set) return new Set();
  if (Array.isArray(value)) return new Array(value.length);
  if (value instanceof Date) return new Date(value.getTime());
  if (value instanceof RegExp) return new RegExp(value.source, value.flags);
  if (value instanceof Boolean || value instanceof Number || value instanceof String || value instanceof BigInt)
    return Object(value.valueOf());
  if (value instanceof Error) return copyError(value, copies);
  if (value instanceof ArrayBuffer) return value.slice(0);
  if (ArrayBuffer.isView(value)) return copyView(value, copies);
  const Blob = findModule('files')?.Blob;
  if (typeof Blob === 'function' && value instanceof Blob) return value;
  const tag = Object.prototype.toString.call(value);
  if (tag !== '[object Object]' && tag !== '[object Arguments]') throw refusal(value);
  return {};
}

function copyView(view: ArrayBufferView, copies: Map<unknown, unknown>): object {
  const shared = copy(view.buffer, copies);
  const buffer = shared instanceof ArrayBuffer ? shared : (toBytes(view.buffer)?.buffer ?? new ArrayBuffer(0));
  if (view instanceof DataView) return new DataView(buffer, view.byteOffset, view.byteLength);
  // A subclass such as Buffer comes back as the plain typed array it is.
  const kind = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag)?.get?.call(view);
  const Kind = Reflect.get(globalThis, kind) as typeof Uint8Array;
  return new Kind(buffer, view.byteOffset, (view as Uint8Array).length);
}

function copyError(error: Error, copies: Map<unknown, unknown>): Error {
  const kinds = { EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
  const Kind = Object.hasOwn(kinds, error.name) ? kinds[error.name as keyof typeof kinds] : Error;
  const made = new Kind(error.message);
  const options = { writable: true, configurable: true };
  Object.defineProperty(made, 'stack', { ...options, value: error.stack });
  if (error.cause !== undefined) Object.defineProperty(made, 'cause', { ...options, value: copy(error.cause, copies) });
  return made;
}

function refusal(value: unknown): DOMException {
  const shown = typeof value === 'function' ? `function ${value.name}` : Object.prototype.toString.call(value);
  return new DOMException(`${shown} could not be cloned`, 'DataCloneError');
}
