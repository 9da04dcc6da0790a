/** node:util/types: what kind of object a value is. */
import { refuseMember } from '../refusals.ts';

const viewTag = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag)?.get;

type Check = (value: unknown) => boolean;

function hasTag(tag: string): Check {
  return (value) => typeof value === 'object' && value !== null && Object.prototype.toString.call(value) === `[object ${tag}]`;
}

function hasViewTag(tag: string): Check {
  return (value) => viewTag?.call(value) === tag;
}

export const isDate: Check = (value) => value instanceof Date;
export const isRegExp: Check = (value) => value instanceof RegExp;
export const isMap: Check = (value) => value instanceof Map;
export const isSet: Check = (value) => value instanceof Set;
export const isWeakMap: Check = (value) => value instanceof WeakMap;
export const isWeakSet: Check = (value) => value instanceof WeakSet;
export const isPromise: Check = (value) => value instanceof Promise;
export const isNativeError: Check = (value) => value instanceof Error;
export const isArrayBuffer: Check = (value) => value instanceof ArrayBuffer;
export const isSharedArrayBuffer: Check = (value) => value instanceof SharedArrayBuffer;
export const isAnyArrayBuffer: Check = (value) => isArrayBuffer(value) || isSharedArrayBuffer(value);
export const isArrayBufferView: Check = (value) => ArrayBuffer.isView(value);
export const isDataView: Check = (value) => value instanceof DataView;
export const isTypedArray: Check = (value) => viewTag?.call(value) !== undefined;
export const isUint8Array = hasViewTag('Uint8Array');
export const isUint8ClampedArray = hasViewTag('Uint8ClampedArray');
export const isUint16Array = hasViewTag('Uint16Array');
export const isUint32Array = hasViewTag('Uint32Array');
export const isInt8Array = hasViewTag('Int8Array');
export const isInt16Array = hasViewTag('Int16Array');
export const isInt32Array = hasViewTag('Int32Array');
export const isFloat32Array = hasViewTag('Float32Array');
export const isFloat64Array = hasViewTag('Float64Array');
export const isBigInt64Array = hasViewTag('BigInt64Array');
export const isBigUint64Array = hasViewTag('BigUint64Array');
export const isGeneratorObject = hasTag('Generator');
export const isMapIterator = hasTag('Map Iterator');
export const isSetIterator = hasTag('Set Iterator');
export const isNumberObject: Check = (value) => value instanceof Number;
export const isStringObject: Check = (value) => value instanceof String;
export const isBooleanObject: Check = (value) => value instanceof Boolean;
export const isBigIntObject: Check = (value) => value instanceof BigInt;
export const isSymbolObject: Check = (value) => value instanceof Symbol;
export const isBoxedPrimitive: Check = (value) =>
  isNumberObject(value) || isStringObject(value) || isBooleanObject(value) || isBigIntObject(value) || isSymbolObject(value);
export const isAsyncFunction: Check = (value) => Object.prototype.toString.call(value) === '[object AsyncFunction]';
export const isGeneratorFunction: Check = (value) =>
  /^\[object (Async)?GeneratorFunction\]$/.test(Object.prototype.toString.call(value));
export const isArgumentsObject: Check = hasTag('Arguments');
export const isModuleNamespaceObject: Check = hasTag('Module');
export const isFloat16Array = hasViewTag('Float16Array');
export const isCryptoKey = hasTag('CryptoKey');
export const isKeyObject = hasTag('KeyObject');
/** There are no values of C++. */
export const isExternal: Check = () => false;
/** The engine shows a proxy to nobody. */
export const isProxy = /* @__PURE__ */ refuseMember({ name: 'util/types' }, 'isProxy');
