import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { isObject } from '../../../config/json-object.ts';
import type { CliFlags } from '../../../config/read/sources.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { findNearNames } from '../../../errors/near-names.ts';
import { keyContracts } from '../../../operations/contracts/access/keys.ts';
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
  const name = requireServerName(flags.name ?? 'hotcell');
  const file = chooseFile(files, flags.user === true, session.io.cwd);
  const { dataDir } = await session.locate(flags);
  const rules = readNewRules({ expires: usualExpiry, ...flags, mayAnswer: flags.mayAnswer !== false }, Date.now());
  const describe = (key: string) => entry(startHotcell(dataDir, key));
  const shown = (key: string) => `${JSON.stringify(nest([...path, name], describe(key)), null, 2)}\n`;
  const keyName = `mcp ${flags.client}`.slice(0, 64);
  if (flags.print) {
    session.note(`${style.bold(title)}: ${file}\n`);
    session.print(shown('KEY'));
    return session.note(`KEY is what this prints, once: ${sayKeyCommand(keyName, flags)}\n`);
  }

  const config = readClientFile(
    file,
    title,
    `hotcell mcp install --client ${flags.client}${flags.user ? ' --user' : ''} --print`,
  );
  const earlier = requireObjects(config, path, file)[name];
  const client = await session.connect(flags);
  try {
    session.note(`${style.bold(title)}: ${file}\n${shown('(a new key)')}`);
    session.note(
      `The key is a caller's: it calls tools${rules.mayAnswer ? ' and answers the questions of its own calls' : ''}. ` +
        `Its rules: ${describeRules(rules)}. Take it back with hotcell key revoke.\n`,
    );
    if (flags.yes !== true && (await askYesNo(session.io, 'Write it?')) !== true) {
      session.exitCode = 1;
      return session.note('Nothing was written. With --yes it is written without a question.\n');
    }
    const made = await client.invoke(keyContracts.create, { role: 'caller', name: keyName, ...rules });
    writeClientFile(file, setAt(config, [...path, name], describe(made.key)));
    session.print(`${style.green('✓')} ${title} has the server "${name}", with the key ${made.id}. ${next}\n`);
    if (file !== files.userFile) session.note(`${basename(file)} holds a key now: keep it out of version control.\n`);
    if (earlier === undefined) return;
    const { items } = await client.invoke(keyContracts.list, {});
    const others = items.filter((key) => key.name === keyName && key.id !== made.id && key.revokedAtMs === undefined);
    const which = others.map(({ id }) => `hotcell key revoke ${id}`).join(' or ');
    if (which !== '') session.note(`The key that stood there before is good until it is revoked: ${which}.\n`);
  } finally {
    await client.close();
  }
}

/** The command that makes such a key, for those who write the file by hand. */
function sayKeyCommand(name: string, { tools, rate, expires = usualExpiry, mayAnswer, code }: InstallFlags): string {
  return [
    `hotcell key create --name '${name}' --expires ${expires}`,
    ...(mayAnswer === false ? [] : ['--may-answer']),
    ...(rate === undefined ? [] : [`--rate ${rate}`]),
    ...(code === true ? ['--code'] : []),
    ...(tools === undefined ? [] : [`--tools ${tools.map((tool) => `'${tool}'`).join(' ')}`]),
  ].join(' ');
}

/** Clients make names of tools out of it. */
function requireServerName(name: string): string {
  if (/^[\w-]{1,64}$/.test(name)) return name;
  throw new HotcellError('usage-wrong', `Expected --name to be 1 to 64 letters, digits, _ and -, got "${name.slice(0, 64)}".`);
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

function readClientFile(file: string, title: string, printCommand: string): Record<string, unknown> {
  if (!existsSync(file)) return {};
  const fix = `Add it by hand: ${printCommand} shows what ${title} needs.`;
  let config: unknown;
  try {
    config = JSON.parse(readFileSync(file, 'utf8') || '{}');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new HotcellError('usage-wrong', `Expected ${file} to be a JSON object without comments: ${reason}.`, { fix });
  }
  if (isObject(config)) return config;
  throw new HotcellError('usage-wrong', `Expected ${file} to be a JSON object, got ${JSON.stringify(config).slice(0, 64)}.`, {
    fix,
  });
}

/** What stands at the path, which has to be objects all the way: whatever else stands there is not written over. */
function requireObjects(config: Readonly<Record<string, unknown>>, path: readonly string[], file: string) {
  let inner = config;
  for (const key of path) {
    const value = inner[key] ?? {};
    if (!isObject(value)) {
      const got = JSON.stringify(value).slice(0, 64);
      throw new HotcellError('usage-wrong', `Expected "${key}" in ${file} to be an object of servers by name, got ${got}.`, {
        fix: 'Mend the file, then run the command again.',
      });
    }
    inner = value;
  }
  return inner;
}

/** The file holds a key: it is for its owner's eyes. Renamed into place, so that no client reads half of it; a link stays one. */
function writeClientFile(named: string, config: object): void {
  mkdirSync(dirname(named), { recursive: true });
  const file = existsSync(named) ? realpathSync(named) : named;
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
