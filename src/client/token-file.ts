import { chmodSync, linkSync, lstatSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HotcellError } from '../errors/hotcell-error.ts';
import { makeFolders } from '../file-system/paths.ts';

const tokenPattern = /^[\x21-\x7e]{1,512}$/;

/**
 * The admin token: HOTCELL_TOKEN, or the file `token` of the data directory, which is made at the first start for its
 * owner's eyes only. Throws `config-invalid` when what is there cannot be a token.
 */
export function readAdminToken(options: { readonly dataDir: string; readonly env: NodeJS.ProcessEnv }): string {
  const fromEnv = options.env.HOTCELL_TOKEN;
  if (fromEnv !== undefined && fromEnv !== '') return checkToken(fromEnv, 'HOTCELL_TOKEN');
  makeFolders(options.dataDir, 0o700);
  const file = join(options.dataDir, 'token');
  return readTokenFile(file) ?? makeTokenFile(file);
}

/** Reads the token of a data directory; undefined when there is none. */
export function readTokenFile(file: string): string | undefined {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  if (!stats.isFile()) {
    throw new HotcellError('config-invalid', `The token file "${file}" is not a regular file.`, {
      fix: 'Delete it; the next start makes a new one.',
    });
  }
  if ((stats.mode & 0o077) !== 0) chmodSync(file, 0o600);
  return checkToken(readFileSync(file, 'utf8').trim(), file);
}

/** Written aside and linked into place: two starts at once agree on one token, and nobody sees half of it. */
function makeTokenFile(file: string): string {
  const token = drawBytes(32).toString('base64url');
  const aside = `${file}.${process.pid}.${drawBytes(4).toString('hex')}`;
  writeFileSync(aside, `${token}\n`, { mode: 0o600, flag: 'wx' });
  try {
    linkSync(aside, file);
    return token;
  } catch (error) {
    const other = readTokenFile(file);
    if (other === undefined) throw error;
    return other;
  } finally {
    unlinkSync(aside);
  }
}

/** By the global: to import all of `node:crypto` would take every command longer than it needs for its request. */
function drawBytes(count: number): Buffer {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(count)));
}

function checkToken(token: string, where: string): string {
  if (tokenPattern.test(token)) return token;
  throw new HotcellError(
    'config-invalid',
    `Expected a token of 1 to 512 visible ASCII characters in ${where}, got ${token === '' ? 'nothing' : 'something else'}.`,
    { fix: 'Delete the file, or set HOTCELL_TOKEN to another value.' },
  );
}
