import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { resolveLimits } from '../../../../src/config/limits.ts';
import { findDeno, requireDeno } from '../../../../src/engines/process/deno/find-deno.ts';
import { checkDeno } from '../../../../src/operations/doctor/machine-checks.ts';
import { createDenoRig, handlerOf } from './deno-rig.ts';

const folder = mkdtempSync(join(tmpdir(), 'hotcell-find-deno-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const real = requireDeno();

function place(name: string, bytes: string | Uint8Array): string {
  const file = join(folder, name);
  writeFileSync(file, bytes);
  chmodSync(file, 0o755);
  return file;
}

/** A file that is no script, and that no machine can run. */
const broken = () => place('deno', new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 0, 0, 0, 0]));

describe('findDeno', () => {
  const elsewhere = { platform: 'plan9', arch: 'mips' };

  it('takes the binary of the package beside Hotcell', () => {
    expect(findDeno({ env: {}, platform: process.platform, arch: process.arch })).toBe(real);
  });

  it('takes the first one on PATH that is no script where there is no package', () => {
    const script = place('script', '#!/bin/sh\n');
    expect(findDeno({ env: { PATH: `${folder}:${dirname(real)}` }, ...elsewhere })).toBe(real);
    expect(script).toBeTruthy();
    place('deno', '#!/bin/sh\n');
    expect(findDeno({ env: { PATH: `${folder}:${dirname(real)}` }, ...elsewhere })).toBe(real);
    expect(findDeno({ env: { PATH: folder }, ...elsewhere })).toBeUndefined();
  });

  it('takes what HOTCELL_DENO names, and nothing else', () => {
    const facts = { platform: process.platform, arch: process.arch };
    expect(findDeno({ env: { HOTCELL_DENO: real }, ...elsewhere })).toBe(real);
    expect(findDeno({ env: { HOTCELL_DENO: join(folder, 'none'), PATH: dirname(real) }, ...facts })).toBeUndefined();
  });
});

describe('requireDeno', () => {
  it('says what to install', () => {
    expect(() => requireDeno({ env: {}, platform: 'plan9', arch: 'mips' })).toThrow(/needs Deno 2, which is not on this machine/);
  });
});

describe('checkDeno', () => {
  it('tells the version, that there is none, and that it does not start', async () => {
    expect(await checkDeno({ HOTCELL_DENO: real })).toMatchObject({
      status: 'ok',
      message: expect.stringMatching(/^Deno 2\.[\d.]+ is at \//),
    });
    expect(await checkDeno({ HOTCELL_DENO: join(folder, 'none') })).toMatchObject({
      status: 'info',
      fix: expect.stringContaining('npm install deno'),
    });
    expect(await checkDeno({ HOTCELL_DENO: broken() })).toMatchObject({
      status: 'warn',
      fix: expect.stringContaining('HOTCELL_DENO'),
    });
  });
});

describe('createDenoEngine without a Deno that runs', () => {
  const code = "export default { name: 'a', handler() {} }";

  it('says what to install, and works as soon as it is there', async () => {
    let env: { HOTCELL_DENO?: string } = { HOTCELL_DENO: join(folder, 'none') };
    const rig = createDenoRig({ findBinary: () => requireDeno({ env, platform: 'plan9', arch: 'mips' }) });
    await expect(rig.engine.load({ key: 'a', label: 'a.ts', code, limits: resolveLimits() })).rejects.toMatchObject({
      code: 'engine-missing',
      fix: expect.stringContaining('npm install deno'),
    });
    expect(await rig.run(handlerOf('return 1'))).toMatchObject({
      status: 'error',
      error: { code: 'engine-missing', message: expect.stringContaining('npm install deno') },
    });
    env = { HOTCELL_DENO: real };
    expect(await rig.run(handlerOf('return 1'))).toMatchObject({ status: 'success' });
    await rig.close();
  });

  it('says that it does not start', async () => {
    const rig = createDenoRig({ findBinary: broken });
    const outcome = await rig.run(handlerOf('return 1'));
    expect(outcome).toMatchObject({
      status: 'error',
      error: { code: 'engine-failed', message: expect.stringContaining('hotcell doctor') },
    });
    expect(JSON.stringify(outcome)).not.toContain(folder);
    await rig.close();
  });
});
