import { readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, extname, join, resolve } from 'node:path';
import { isMap, isNode, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { searchedNames } from '../config-types.ts';
import { maxInputDepth, nestsDeeper, nestsTooDeep } from './json-nesting.ts';

const codeExtensions = ['.ts', '.mts', '.js', '.mjs'];
const maxFileBytes = 1024 * 1024;
const maxAliases = 100;

/**
 * Finds the config file: the named one, else the one in `cwd`. A file with code counts only when it is named: a cloned
 * repository must not run code by being there.
 */
export function findConfigFile(named: string | undefined, cwd: string): string | undefined {
  if (named !== undefined) return resolve(cwd, named);
  const found = searchedNames.map((name) => join(cwd, name)).filter(isFile);
  if (found.length > 1) {
    throw new HotcellError(
      'config-invalid',
      `${cwd} has more than one config file: ${found.map((file) => basename(file)).join(', ')}.`,
      {
        fix: 'Keep one of them, or name the one to use: --config FILE.',
      },
    );
  }
  return found[0];
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** Reads a config file as data, unchecked. Throws `config-invalid` with file and line when it cannot be read. */
export function readConfigFile(file: string): unknown {
  const extension = extname(file);
  if (codeExtensions.includes(extension)) return runCode(file);
  const text = readConfigText(file);
  if (extension === '.json') return parseJson(text, file);
  if (extension === '.yaml' || extension === '.yml') return parseYaml(text, file);
  throw new HotcellError(
    'config-invalid',
    `The config file ${file} has the extension "${extension}"; known are .yaml, .yml, .json and .ts.`,
  );
}

/** The text of a config file. Throws `config-invalid` for what is none: a pipe would keep the reader, a device has no end. */
export function readConfigText(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) throw invalid(file, 'does not exist');
  if (!stats.isFile()) throw invalid(file, 'is not a file');
  if (stats.size > maxFileBytes) throw invalid(file, `has ${stats.size} bytes; at most ${maxFileBytes} are read`);
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw invalid(file, 'cannot be read', error);
  }
}

function parseJson(text: string, file: string): unknown {
  if (nestsDeeper(text, maxInputDepth)) throw invalid(file, 'cannot be used', new Error(nestsTooDeep));
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw invalid(file, 'is not JSON', error);
  }
}

function parseYaml(text: string, file: string): unknown {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { version: '1.2', schema: 'core', lineCounter, prettyErrors: false, logLevel: 'error' });
  const [problem] = [...document.errors, ...document.warnings];
  if (problem !== undefined) {
    const { line, col } = lineCounter.linePos(problem.pos[0]);
    throw new HotcellError(
      'config-invalid',
      `The config file ${file} is not YAML at line ${line}, column ${col}: ${problem.message}.`,
    );
  }
  try {
    return document.toJS({ maxAliasCount: maxAliases });
  } catch (error) {
    throw invalid(file, 'is not usable YAML', error);
  }
}

/** The line on which a key of a config file stands; undefined where it cannot be told. */
export function findLine(file: string, path: readonly string[]): number | undefined {
  if (codeExtensions.includes(extname(file))) return undefined;
  const lineCounter = new LineCounter();
  const document = parseDocument(readConfigText(file), { version: '1.2', schema: 'core', lineCounter, logLevel: 'silent' });
  // A key that is missing is looked for where it should stand.
  for (let length = path.length; length > 0; length--) {
    const found = findKey(document.contents, path.slice(0, length));
    if (found?.range) return lineCounter.linePos(found.range[0]).line;
  }
  return undefined;
}

function findKey(node: unknown, [name, ...rest]: readonly string[]): Node | undefined {
  if (isSeq(node)) {
    const item = node.items[Number(name)];
    if (rest.length > 0) return findKey(item, rest);
    return isNode(item) ? item : undefined;
  }
  if (!isMap(node)) return undefined;
  const pair = node.items.find(({ key }) => (isScalar(key) ? String(key.value) : undefined) === name);
  if (pair === undefined) return undefined;
  if (rest.length > 0) return findKey(pair.value, rest);
  return isNode(pair.key) ? pair.key : undefined;
}

function runCode(file: string): unknown {
  try {
    const exported: unknown = createRequire(import.meta.url)(file);
    if (typeof exported === 'object' && exported !== null && 'default' in exported) return structuredClone(exported.default);
  } catch (error) {
    throw invalid(file, 'cannot be run as a config', error);
  }
  throw invalid(file, 'has no default export');
}

function invalid(file: string, what: string, cause?: unknown): HotcellError {
  const reason = cause instanceof Error ? `: ${cause.message.split('\n')[0]}` : '';
  return new HotcellError('config-invalid', `The config file ${file} ${what}${reason}.`, cause === undefined ? {} : { cause });
}
