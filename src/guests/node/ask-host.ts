/** The host's synchronous operations, over the hook that the prelude leaves; there is no privilege behind it. */

type AskNow = (op: string, payload: string, body?: ArrayBuffer) => string | ArrayBuffer | undefined;

const askNow: AskNow = Reflect.get(globalThis, Symbol.for('hotcell.askNow'));

/** Asks for bytes. */
export function askBytes(op: string, payload: string, body?: Uint8Array): Uint8Array<ArrayBuffer> {
  const answer = askNow(op, payload, body && exactBuffer(body));
  if (!(answer instanceof ArrayBuffer)) throw new Error(`The host gave no bytes for ${op}`);
  return new Uint8Array(answer);
}

/** Asks for a text that crosses as JSON. */
export function askText(op: string, payload: string, body?: Uint8Array): string {
  return JSON.parse(String(askNow(op, payload, body && exactBuffer(body))));
}

function exactBuffer(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}
