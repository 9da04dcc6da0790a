import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Finding } from '../contracts/daemon.ts';

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

/** Is Deno there? Only plugins that ask for that engine need it. */
export function checkDeno(): Finding {
  const file = findProgram('deno');
  if (file !== undefined) return { name: 'deno', status: 'ok', message: `Deno is at ${file}.` };
  return {
    name: 'deno',
    status: 'info',
    message: 'Deno is not installed; only plugins that ask for the engine "deno" need it.',
    fix: 'Install it if you need it: npm install deno',
  };
}

function findProgram(name: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
