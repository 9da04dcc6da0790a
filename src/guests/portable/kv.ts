/**
 * `context.kv` over the variables of an Extism host, which live as long as the host keeps them. Each begins with its own
 * name: some hosts give back other bytes after a call has ended, and those count as nothing.
 */
import { extism } from './host-calls.ts';
import { makeRefusal } from './refusal.ts';

const keysVariable = 'hotcell:keys';
const prefixOfValues = 'hotcell:kv:';

/** Answers `kv.get`, `kv.set`, `kv.delete` and `kv.list` with JSON, shaped as in the daemon. */
export const kvAnswers: Readonly<Record<string, (payload: string) => unknown>> = {
  'kv.get': (payload) => readValue(readKey(payload)),
  'kv.set': (payload) => {
    const key = readKey(payload);
    const { value } = JSON.parse(payload);
    if (value === undefined) throw makeRefusal('arguments-invalid', 'context.kv.set expects a value that JSON can hold.');
    write(prefixOfValues + key, value);
    const keys = listKeys();
    if (!keys.includes(key)) writeKeys([...keys, key]);
    return null;
  },
  'kv.delete': (payload) => {
    const key = readKey(payload);
    const keys = listKeys();
    if (!keys.includes(key)) return false;
    extism.writeVariable(prefixOfValues + key, undefined);
    writeKeys(keys.filter((each) => each !== key));
    return true;
  },
  'kv.list': (payload) => {
    const { prefix = '', after, limit = 100 } = JSON.parse(payload);
    const found = listKeys().filter((key) => key.startsWith(prefix) && (after === undefined || key > after));
    const page = found.slice(0, limit);
    const last = page.at(-1);
    return {
      items: page.map((key) => ({ key, value: readValue(key) })),
      ...(page.length < limit || last === undefined ? {} : { next: last }),
    };
  },
};

function readKey(payload: string): string {
  const { key } = JSON.parse(payload);
  if (typeof key === 'string' && key.length >= 1 && key.length <= 512) return key;
  throw makeRefusal('arguments-invalid', 'context.kv expects a key of 1 to 512 characters.');
}

function readValue(key: string): unknown {
  return read(prefixOfValues + key) ?? null;
}

function listKeys(): string[] {
  const keys = read(keysVariable);
  return Array.isArray(keys) ? keys.map(String) : [];
}

function writeKeys(keys: string[]): void {
  write(keysVariable, keys.sort());
}

function read(name: string): unknown {
  const text = extism.readVariable(name);
  return text?.startsWith(`${name}\n`) ? JSON.parse(text.slice(name.length + 1)) : undefined;
}

function write(name: string, value: unknown): void {
  extism.writeVariable(name, `${name}\n${JSON.stringify(value)}`);
}
