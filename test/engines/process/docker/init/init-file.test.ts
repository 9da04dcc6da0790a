import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { findInitFile } from '../../../../../src/engines/process/docker/init/init-file.ts';

const source = fileURLToPath(new URL('../../../../../src/engines/process/docker/', import.meta.url));
const hash = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');
const hasCompiler = spawnSync('sh', ['-c', 'command -v musl-gcc'], { stdio: 'ignore' }).status === 0;
if (!hasCompiler) console.warn('The first process of containers is not built again here: apt-get install musl-tools');

describe('findInitFile', () => {
  it('gives the program for this processor and the other one, and refuses a third', () => {
    for (const arch of ['x64', 'arm64']) expect(findInitFile(arch)).toMatch(new RegExp(`hotcell-init-${arch}$`));
    expect(() => findInitFile('riscv64')).toThrow(/x64 and arm64; this machine is riscv64/);
    expect(() => findInitFile('constructor')).toThrow(/this machine is constructor/);
  });

  it('starts nothing that is not the file that was built', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hotcell-init-'));
    try {
      // A copy of the rooms that it imports, with one bit changed in the program.
      cpSync(join(source, '../../../errors'), join(folder, 'errors'), { recursive: true });
      cpSync(source, join(folder, 'engines/process/docker'), { recursive: true });
      const program = join(folder, 'engines/process/docker/init/hotcell-init-x64');
      const bytes = readFileSync(program);
      bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
      writeFileSync(program, bytes);
      const script = `import { findInitFile } from ${JSON.stringify(join(folder, 'engines/process/docker/init/init-file.ts'))};
        try { console.log(findInitFile('x64')); } catch (error) { console.log(error.code, error.message); }`;
      const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
      expect(stdout).toBe('engine-failed The first process of containers is missing or not the one that was built.\n');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it.skipIf(!hasCompiler || process.arch !== 'x64')('is built from its source, byte for byte', () => {
    const folder = mkdtempSync(join(tmpdir(), 'hotcell-init-'));
    try {
      for (const name of ['build.sh', 'hotcell-init.c']) cpSync(join(source, 'init', name), join(folder, name));
      const { MUSL_ARM64, ...env } = process.env;
      const built = spawnSync('sh', ['build.sh'], { cwd: folder, env, encoding: 'utf8' });
      expect([built.status, built.stderr]).toEqual([0, '']);
      // Another release of the compiler makes other bytes: only the one that is named in build.sh is held to it.
      const compiler = spawnSync('gcc', ['-dumpfullversion'], { encoding: 'utf8' }).stdout.trim();
      if (compiler === '12.2.0') expect(hash(join(folder, 'hotcell-init-x64'))).toBe(hash(findInitFile('x64')));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
