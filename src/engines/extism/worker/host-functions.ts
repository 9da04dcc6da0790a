import type { CallContext } from '@extism/extism';
import type { LogLine } from '../../../border/border.ts';
import type { CallState } from './call-state.ts';
import { answerBuiltModule, daemonCallPrefix, maxCallBytes } from './daemon-call.ts';
import { GuestFault } from './guest-fault.ts';
import { type HttpAnswer, requestOverHost } from './http-request.ts';

/** A function that the guest imports; addresses and sizes come as 64-bit numbers. */
export type HostFunction = (context: CallContext, ...args: bigint[]) => bigint | number | undefined;

// Addresses carry the block's index in the upper 16 bits of a signed 64-bit number, and indexes are never used again.
const maxBlocks = 32_000;
const maxVariableBytes = 1024 * 1024;
const infoLogLevel = 1;

/**
 * The host functions that stand in place of the SDK's own, because those are without bounds: blocks of any size, variables
 * without end, a log without limit; and its output is a whole block, whatever length the guest gave. `load`, `store`, `input`,
 * `error_set` and `free` stay the SDK's. `state` is asked when a function is called, not before.
 */
export function createHostFunctions(state: () => CallState, blocks: BlockBudget): Record<string, HostFunction> {
  let http: HttpAnswer | undefined;
  const variables = new Variables();
  const writeLog =
    (level: LogLine['level']): HostFunction =>
    (context, address = 0n) => {
      state().log(level, context.read(address)?.bytes() ?? new Uint8Array());
      return undefined;
    };
  return {
    alloc: (context, size = 0n) => blocks.allocate(context, Number(BigInt.asUintN(64, size))),
    output_set: (context, address = 0n, length = 0n) => {
      const block = context.read(address)?.bytes() ?? new Uint8Array();
      state().output = block.slice(0, Number(BigInt.asUintN(32, length)));
      return undefined;
    },
    config_get: (context, address = 0n) => {
      const key = readName(context, address);
      const { denied, config } = state().call;
      const refusal = ownValue(denied, key);
      if (refusal !== undefined) {
        state().tellDenied(key);
        throw new GuestFault('permission-denied', refusal);
      }
      const value = ownValue(config, key);
      return value === undefined ? 0n : blocks.store(context, value);
    },
    var_get: (context, address = 0n) => {
      const request = readDaemonCall(context, address);
      if (request !== undefined) {
        const answer = answerBuiltModule(state(), request);
        return answer === undefined ? 0n : blocks.store(context, answer);
      }
      const value = variables.get(readName(context, address));
      return value ? blocks.store(context, value) : 0n;
    },
    var_set: (context, address = 0n, valueAddress = 0n) => {
      const value = valueAddress === 0n ? undefined : context.read(valueAddress)?.bytes();
      variables.set(readName(context, address), value?.slice());
      return undefined;
    },
    log_trace: writeLog('debug'),
    log_debug: writeLog('debug'),
    log_info: writeLog('info'),
    log_warn: writeLog('warn'),
    log_error: writeLog('error'),
    get_log_level: () => infoLogLevel,
    http_request: (context, address = 0n, bodyAddress = 0n) => {
      const body = bodyAddress === 0n ? undefined : context.read(bodyAddress)?.bytes().slice();
      http = undefined;
      http = requestOverHost(state(), context.read(address)?.text() ?? '', body);
      return blocks.store(context, http.body);
    },
    http_status_code: () => http?.status ?? 0,
    http_headers: (context) => (http ? blocks.store(context, JSON.stringify(http.headers)) : 0n),
  };
}

/**
 * Memory of the host that the guest holds in blocks beside its own, `maxBytes` at most; freed blocks are noticed when that runs
 * out. More throws `memory-exceeded`.
 */
export class BlockBudget {
  readonly #maxBytes: number;
  readonly #held = new Map<bigint, number>();
  #heldBytes = 0;
  #made = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  allocate(context: CallContext, bytes: number): bigint {
    if (this.#heldBytes + bytes > this.#maxBytes) this.#dropFreed(context);
    if (this.#heldBytes + bytes > this.#maxBytes || this.#made >= maxBlocks) {
      const message = `The call asked the host for more than ${this.#maxBytes} bytes or ${maxBlocks} blocks of memory.`;
      throw new GuestFault('memory-exceeded', message);
    }
    const address = context.alloc(bytes);
    this.#held.set(address, bytes);
    this.#heldBytes += bytes;
    this.#made += 1;
    return address;
  }

  store(context: CallContext, content: Uint8Array | string): bigint {
    const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
    const address = this.allocate(context, bytes.length);
    const block = context.read(address);
    if (block) new Uint8Array(block.arrayBuffer()).set(bytes);
    return address;
  }

  #dropFreed(context: CallContext): void {
    for (const [address, bytes] of this.#held) {
      if (context.read(address)) continue;
      this.#held.delete(address);
      this.#heldBytes -= bytes;
    }
  }
}

/** Extism's variables live as long as the instance: one call. */
class Variables {
  readonly #values = new Map<string, Uint8Array>();
  #usedBytes = 0;

  get(name: string): Uint8Array | undefined {
    return this.#values.get(name);
  }

  set(name: string, value: Uint8Array | undefined): void {
    const old = this.#values.get(name);
    if (old) this.#usedBytes -= old.length + name.length;
    this.#values.delete(name);
    if (!value) return;
    this.#usedBytes += value.length + name.length;
    if (this.#usedBytes > maxVariableBytes) {
      throw new GuestFault('quota-exceeded', `The variables of a call may hold ${maxVariableBytes} bytes together.`);
    }
    this.#values.set(name, value);
  }
}

/** What a variable's name asks the daemon; undefined for every other name. */
function readDaemonCall(context: CallContext, address: bigint): string | undefined {
  const bytes = context.read(address)?.bytes();
  if (!bytes || bytes.length < daemonCallPrefix.length) return undefined;
  const name = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!name.subarray(0, daemonCallPrefix.length).equals(Buffer.from(daemonCallPrefix))) return undefined;
  if (name.length > maxCallBytes)
    throw new GuestFault('arguments-invalid', `A call of the daemon has at most ${maxCallBytes} bytes.`);
  return name.toString('utf8', daemonCallPrefix.length);
}

function readName(context: CallContext, address: bigint): string {
  const block = context.read(address);
  if (!block || block.bytes().length > 1024)
    throw new GuestFault('handler-threw', 'A name passed to the host must be a block of at most 1024 bytes.');
  return block.text();
}

function ownValue(record: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
