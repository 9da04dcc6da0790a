import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findDeno } from '../../engines/process/deno/find-deno.ts';
import type { Finding } from '../contracts/daemon.ts';

const startMs = 5000;

/** Does the compiler start? Its install script may have been blocked. */
export async function checkEsbuild(): Promise<Finding> {
  try {
    const { transform, version } = await import('esbuild');
    const { code } = await transform('const one: number = 1', { loader: 'ts' });
    if (code.includes('const one = 1')) return { name: 'esbuild', status: 'ok', message: `esbuild ${version} compiles.` };
    return brokenEsbuild('it gave another result than expected');
  } catch (error) {
    return brokenEsbuild(error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error));
  }
}

function brokenEsbuild(cause: string): Finding {
  return {
    name: 'esbuild',
    status: 'fail',
    message: `esbuild does not work: ${cause}.`,
    fix: 'Install again with its install script allowed: npm rebuild esbuild',
  };
}

/** Is Deno there, and does it start? Only plugins that ask for that engine need it. */
export async function checkDeno(env: NodeJS.ProcessEnv = process.env): Promise<Finding> {
  const file = findDeno({ env, platform: process.platform, arch: process.arch });
  if (file === undefined) {
    return {
      name: 'deno',
      status: 'info',
      message: 'Deno is not installed; only plugins that ask for the engine "deno" need it.',
      fix: 'Install it if you need it (npm install deno), or name its binary in HOTCELL_DENO.',
    };
  }
  try {
    const { stdout } = await promisify(execFile)(file, ['--version'], { env: {}, timeout: startMs });
    const [version = 'Deno'] = stdout.replace(/^deno/, 'Deno').split(' (');
    return { name: 'deno', status: 'ok', message: `${version} is at ${file}.` };
  } catch {
    return {
      name: 'deno',
      status: 'warn',
      message: `Deno is at ${file}, but does not start.`,
      fix: 'Install one for this machine and name it in HOTCELL_DENO.',
    };
  }
}
