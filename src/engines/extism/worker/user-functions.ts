import type { CallContext } from '@extism/extism';
import { maxInputDepth, nestsDeeper } from '../../../config/read/json-nesting.ts';
import { type userFunctions, userNamespace } from '../module/module-contract.ts';
import type { CallState } from './call-state.ts';
import { answerDaemonCall, maxCallBytes } from './daemon-call.ts';
import { GuestFault } from './guest-fault.ts';
import type { BlockBudget, HostFunction } from './host-functions.ts';

/**
 * Host functions beyond Extism's own; every argument and result is a block of UTF-8 text.
 * `hotcell_call(request)` reaches every capability: `{"op", "payload", "body"?}` in (body base64), `{"ok": true, "payload", "body"?}` or
 * `{"ok": false, "code", "message"}` out. `kv_get(key)` (0 when there is none), `kv_set(key, json)`, `kv_delete(key)` and
 * `tools_call(name, arguments)` are short forms, in which a refusal ends the call.
 */
export function createUserFunctions(
  state: () => CallState,
  blocks: BlockBudget,
): Record<(typeof userFunctions)[number], HostFunction> {
  const request = (op: string, payload: unknown): unknown => {
    const answer = state().ask(op, JSON.stringify(payload));
    if (!answer.ok) throw GuestFault.fromRefusal(answer);
    return JSON.parse(answer.payload);
  };
  return {
    hotcell_call: (context, address = 0n) => blocks.store(context, answerDaemonCall(state(), readText(context, address))),
    kv_get: (context, address = 0n) => {
      const value = request('kv.get', { key: readText(context, address) });
      return value === null ? 0n : blocks.store(context, JSON.stringify(value));
    },
    kv_set: (context, address = 0n, valueAddress = 0n) => {
      request('kv.set', { key: readText(context, address), value: readJson(context, valueAddress) });
      return undefined;
    },
    kv_delete: (context, address = 0n) => {
      request('kv.delete', { key: readText(context, address) });
      return undefined;
    },
    tools_call: (context, address = 0n, argumentsAddress = 0n) => {
      const args = argumentsAddress === 0n ? {} : readJson(context, argumentsAddress);
      return blocks.store(
        context,
        JSON.stringify(request('tools.call', { name: readText(context, address), arguments: args }) ?? null),
      );
    },
  };
}

function readText(context: CallContext, address: bigint): string {
  const block = address === 0n ? null : context.read(address);
  if (!block || block.bytes().length > maxCallBytes) throw malformed(`a block of at most ${maxCallBytes} bytes`);
  return block.text();
}

function readJson(context: CallContext, address: bigint): unknown {
  return parseJson(readText(context, address));
}

function parseJson(text: string): unknown {
  if (nestsDeeper(text, maxInputDepth)) throw malformed(`JSON text of at most ${maxInputDepth} levels`);
  try {
    return JSON.parse(text);
  } catch {
    throw malformed('JSON text');
  }
}

function malformed(expected: string): GuestFault {
  return new GuestFault('arguments-invalid', `A function of ${userNamespace} expected ${expected}, and got something else.`);
}
