import { describe, expect, it } from 'vitest';
import { parseMessage, rpcCodes } from '../../src/http/json-rpc/message.ts';

const request = { jsonrpc: '2.0', id: 1, method: 'status.show' };

function refusalOf(value: unknown): number | undefined {
  const message = parseMessage(JSON.stringify(value));
  const [item] = message.kind === 'single' ? [message.item] : message.kind === 'batch' ? message.items : [];
  const answer = message.kind === 'refused' ? message.answer : item !== undefined && 'refusal' in item ? item.refusal : undefined;
  return answer === undefined ? undefined : JSON.parse(answer).error.code;
}

describe('parseMessage', () => {
  it('takes batches of 1 to 100', () => {
    expect([1, 100].map((length) => refusalOf(Array(length).fill(request)))).toEqual([undefined, undefined]);
    expect([0, 101].map((length) => refusalOf(Array(length).fill(request)))).toEqual([rpcCodes.request, rpcCodes.request]);
  });

  it.each([
    null,
    1,
    'text',
    true,
    [null],
    [[]],
    { ...request, jsonrpc: '1.0' },
    { ...request, method: 1 },
    { ...request, params: [] },
  ])('refuses %j in words', (value) => {
    expect(refusalOf(value)).toBe(rpcCodes.request);
  });
});
