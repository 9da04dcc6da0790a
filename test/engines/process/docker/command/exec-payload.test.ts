import { describe, expect, it } from 'vitest';
import { encodeExec } from '../../../../../src/engines/process/docker/command/exec-payload.ts';
import { maxPayload } from '../../../../../src/engines/process/docker/init/init-frames.ts';

const words = { folder: '/workspace', command: 'sh', args: ['-c', 'true'], env: { A: '1', B: '' } };

describe('encodeExec', () => {
  it('puts counts before the strings, each ended by a zero', () => {
    const payload = encodeExec(words);
    expect([payload.readUInt32LE(0), payload.readUInt32LE(4)]).toEqual([3, 2]);
    expect(payload.subarray(8).toString()).toBe('/workspace\0sh\0-c\0true\0A=1\0B=\0');
  });

  it.each([
    [{ command: 'a\0b' }],
    [{ args: ['x\0'] }],
    [{ env: { A: '\0' } }],
    [{ env: { 'A\0': 'x' } }],
    [{ args: new Array<string>(1000).fill('') }],
    [{ env: Object.fromEntries(Array.from({ length: 501 }, (_, n) => [`V${n}`, ''])) }],
    [{ args: ['x'.repeat(maxPayload)] }],
    [{ args: ['ü'.repeat(maxPayload / 2)] }],
  ])('refuses what no process can be given', (changes) => {
    expect(() => encodeExec({ ...words, ...changes })).toThrow(expect.objectContaining({ code: 'arguments-invalid' }));
  });
});
