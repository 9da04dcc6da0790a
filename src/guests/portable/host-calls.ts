/** The one function that the adapter gives to JavaScript, by the number of the operation (see adapter.wat). */
type HostCall = (operation: number, ...args: unknown[]) => unknown;

const scope = globalThis as { __hotcellCall?: HostCall };
const call: HostCall = scope.__hotcellCall ?? (() => undefined);
delete scope.__hotcellCall;

const levels = ['debug', 'info', 'warn', 'error'];

/** What an Extism host offers, each answered at once. */
export const extism = {
  readInput: (): string => String(call(0)),
  setOutput: (text: string): void => void call(1, text.toWellFormed()),
  setError: (text: string): void => void call(2, text.toWellFormed()),
  config: (key: string): string | undefined => toText(call(3, key)),
  readVariable: (name: string): string | undefined => toText(call(4, name)),
  /** Undefined takes the variable away. */
  writeVariable: (name: string, value: string | undefined): void => void call(5, name, value),
  log: (level: string, text: string): void => void call(6, Math.max(levels.indexOf(level), 0), text.toWellFormed()),
  request: (json: string, body: ArrayBuffer | undefined): ArrayBuffer => toBuffer(call(7, json, body)),
  status: (): number => Number(call(8)),
  random: (count: number): ArrayBuffer => toBuffer(call(9, count)),
  encode: (text: string): ArrayBuffer => toBuffer(call(10, text.toWellFormed())),
  /** Text of bytes that are known to be UTF-8. */
  decode: (bytes: ArrayBuffer): string => String(call(11, bytes)),
};

function toText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function toBuffer(value: unknown): ArrayBuffer {
  return value instanceof ArrayBuffer ? value : new ArrayBuffer(0);
}
