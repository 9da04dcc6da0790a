import { describe, expect, it } from 'vitest';
import { fitProgram, ordinaryKey } from '../../../../src/engines/quickjs/suspend/resumed-program.ts';
import type { SuspendedCall } from '../../../../src/engines/quickjs/suspend/suspended-call.ts';

const program = { key: 'code-1', label: 'p', readCode: async () => '', readImage: async () => undefined, saveImage: () => {} };
const fingerprint = Buffer.from('base-1');
const image = new Uint8Array([1, 2, 3]);
const images = { fingerprint, peek: () => image, fetch: async () => image };
const suspended: SuspendedCall = {
  programKey: 'code-1',
  base: fingerprint.toString('hex'),
  image,
  delta: new Uint8Array(),
  seed: [1, 2, 3],
  startedAtMs: 0,
  used: { cpuMs: 0, hostCalls: 0, logLines: 0, logBytes: 0 },
  crossings: [],
  recordingBytes: 0,
  recordingComplete: true,
  open: [],
};

describe('fitProgram', () => {
  it('takes the program itself where its image is the same, else the image that the call brings along', async () => {
    expect(await fitProgram(program, suspended, images)).toBe(program);
    const other = await fitProgram(program, { ...suspended, image: new Uint8Array([4]) }, images);
    expect([other.key === program.key, ordinaryKey(other.key)]).toEqual([false, program.key]);
  });

  it('goes on neither with other code nor in another sandbox', async () => {
    const refused = { code: 'interrupted' };
    await expect(fitProgram(program, { ...suspended, programKey: 'code-2' }, images)).rejects.toMatchObject(refused);
    await expect(fitProgram(program, { ...suspended, base: '00' }, images)).rejects.toMatchObject(refused);
  });
});
