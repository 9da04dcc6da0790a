import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isObject } from '../../../config/json-object.ts';
import type { CliFlags } from '../../../config/read/sources.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { findNearNames } from '../../../errors/near-names.ts';
import { keyContracts } from '../../../operations/contracts/keys.ts';
import { askYesNo } from '../../questions/ask.ts';
import type { CliSession } from '../../session.ts';
import { describeRules, type RuleFlags, readNewRules } from '../access/key-rules.ts';
import { type ClientFile, clientFiles, type ServerEntry } from './client-files.ts';

/** How a client is set up. */
export interface InstallFlags extends CliFlags, RuleFlags {
  readonly client?: string;
  readonly name?: string;
  readonly user?: boolean;
  readonly yes?: boolean;
  readonly print?: boolean;
}

const usualExpiry = '90d';

/** Sets one MCP client up: shows what is written and where, asks, makes a key for it alone, and writes. */
export async function installClient(session: CliSession, flags: InstallFlags): Promise<void> {
  const { style } = session;
  const { title, path, entry, next, ...files } = requireClient(flags.client);
  const { name = 'hotcell' } = flags;
  const file = chooseFile(files, flags.user === true, session.io.cwd);
  const config = readClientFile(file, title);
  const { dataDir } = await session.locate(flags);
  const rules = readNewRules({ expires: usualExpiry, ...flags, mayAnswer: flags.mayAnswer !== false }, Date.now());
  const describe = (key: string) => entry(startHotcell(dataDir, key));

  session.note(`${style.bold(title)}: ${file}\n`);
  session.note(`${JSON.stringify(nest([...path, name], describe('(a new key)')), null, 2)}\n`);
  session.note(
    `The key is a caller's: it calls tools${rules.mayAnswer ? ' and answers the questions of its own calls' : ''}. ` +
      `Its rules: ${describeRules(rules)}. Take it back with hotcell key revoke.\n`,
  );
  if (flags.print) return;
  if (flags.yes !== true && (await askYesNo(session.io, 'Write it?')) !== true) {
    session.exitCode = 1;
    return session.note('Nothing was written. With --yes it is written without a question.\n');
  }
  const client = await session.connect(flags);
  try {
    const made = await client.invoke(keyContracts.create, { role: 'caller', name: `mcp ${flags.client}`.slice(0, 64), ...rules });
    writeClientFile(file, setAt(config, [...path, name], describe(made.key)));
    session.print(`${style.green('✓')} ${title} has the server "${name}", with the key ${made.id}. ${next}\n`);
  } finally {
    await client.close();
  }
}

function requireClient(client: string | undefined): ClientFile {
  const known = Object.keys(clientFiles);
  const found = client === undefined ? undefined : clientFiles[client];
  if (found !== undefined && client !== undefined && Object.hasOwn(clientFiles, client)) return found;
  const near = client === undefined ? [] : findNearNames(client, known);
  const meant = near.length === 0 ? '' : ` Did you mean ${near.join(' or ')}?`;
  const got = client === undefined ? 'nothing' : `"${client.slice(0, 64)}"`;
  throw new HotcellError('usage-wrong', `Expected --client to be one of ${known.join(', ')}, got ${got}.${meant}`, {
    fix: 'Any other client is set up by hand: hotcell docs mcp.',
  });
}

function chooseFile(
  { userFile, projectFile }: Pick<ClientFile, 'userFile' | 'projectFile'>,
  isForUser: boolean,
  cwd: string,
): string {
  return projectFile === undefined || isForUser ? userFile : resolve(cwd, projectFile);
}

/** The command that a client starts: by absolute paths, as clients start it in folders of their own choice. */
function startHotcell(dataDir: string, key: string): ServerEntry {
  return {
    command: process.execPath,
    args: [process.argv[1] ?? 'hotcell', '--data', dataDir, 'mcp'],
    env: { HOTCELL_TOKEN: key },
  };
}

function readClientFile(file: string, title: string): Record<string, unknown> {
  if (!existsSync(file)) return {};
  try {
    const config: unknown = JSON.parse(readFileSync(file, 'utf8') || '{}');
    if (isObject(config)) return config;
  } catch {
    // Said below, as for any file that is no JSON object.
  }
  throw new HotcellError('usage-wrong', `Expected ${file} to be a JSON object without comments, got something else.`, {
    fix: `Add it by hand: hotcell mcp install --print shows what ${title} needs.`,
  });
}

/** The file holds a key: it is for its owner's eyes. Renamed into place, so that no client reads half of it. */
function writeClientFile(file: string, config: object): void {
  mkdirSync(dirname(file), { recursive: true });
  const draft = `${file}.${randomBytes(4).toString('hex')}`;
  writeFileSync(draft, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 });
  chmodSync(draft, 0o600);
  renameSync(draft, file);
}

function nest([first, ...rest]: readonly string[], value: unknown): unknown {
  return first === undefined ? value : { [first]: nest(rest, value) };
}

function setAt(
  config: Readonly<Record<string, unknown>>,
  [first, ...rest]: readonly string[],
  value: unknown,
): Record<string, unknown> {
  if (first === undefined) return { ...config };
  const inner = config[first];
  return { ...config, [first]: rest.length === 0 ? value : setAt(isObject(inner) ? inner : {}, rest, value) };
}
