import { delimiter } from 'node:path';
import { defaultSettings } from '../schema.ts';

/** What the command line may choose, as it was written. */
export interface CliFlags {
  readonly host?: string | undefined;
  readonly port?: string | number | undefined;
  readonly plugins?: readonly string[] | undefined;
  readonly skills?: readonly string[] | undefined;
  readonly wasm?: readonly string[] | undefined;
  readonly data?: string | undefined;
  readonly config?: string | undefined;
  readonly grantRequested?: boolean | undefined;
  readonly safe?: boolean | undefined;
  readonly logLevel?: string | undefined;
}

/** Settings as one source wrote them, unchecked, and how that source calls a key (`queue.maxPending`, `--port`). */
export interface SettingSource {
  readonly value: unknown;
  /** Relative paths start here. */
  readonly baseDir: string;
  readonly nameOf: (path: readonly string[]) => string;
}

interface EnvironmentRow {
  readonly name: string;
  readonly path: readonly [string] | readonly [string, string];
  readonly read: (text: string) => unknown;
}

/** Environment variables that are settings; an empty one counts as missing. */
export const environmentTable: readonly EnvironmentRow[] = [
  { name: 'HOTCELL_HOST', path: ['host'], read: asText },
  { name: 'HOTCELL_PORT', path: ['port'], read: asNumber },
  { name: 'HOTCELL_DATA', path: ['dataDir'], read: asText },
  { name: 'HOTCELL_PLUGINS', path: ['pluginDirs'], read: asPaths },
  { name: 'HOTCELL_SKILLS', path: ['skillDirs'], read: asPaths },
  { name: 'HOTCELL_WASM', path: ['wasmDirs'], read: asPaths },
  { name: 'HOTCELL_LOG_LEVEL', path: ['log', 'level'], read: asText },
  { name: 'SKILLS_MAX_FILE_BYTES', path: ['files', 'maxFileBytes'], read: asNumber },
  { name: 'SKILLS_MAX_HTTP_RESPONSE_BYTES', path: ['builtins', 'maxHttpResponseBytes'], read: asNumber },
  { name: 'SKILLS_MAX_SANDBOX_OUTPUT_CHARS', path: ['docker', 'maxOutputBytes'], read: asNumber },
  { name: 'SKILLS_SANDBOX_TIMEOUT_MS', path: ['docker', 'timeoutMs'], read: asNumber },
  { name: 'SKILLS_ALLOWED_SANDBOX_IMAGES', path: ['docker', 'images'], read: asMoreImages },
];

/** Reads the settings that environment variables make. */
export function readEnvironment(env: NodeJS.ProcessEnv, cwd: string): SettingSource {
  const value: Record<string, unknown> = {};
  const nameByPath = new Map<string, string>();
  for (const { name, path, read } of environmentTable) {
    const text = env[name];
    if (text === undefined || text === '') continue;
    const [key, inner] = path;
    value[key] = inner === undefined ? read(text) : Object.assign({}, value[key], { [inner]: read(text) });
    nameByPath.set(path.join('.'), name);
  }
  return {
    value,
    baseDir: cwd,
    nameOf: (path) => nameByPath.get(path.join('.')) ?? nameByPath.get(path[0] ?? '') ?? path.join('.'),
  };
}

/** Reads the settings that the command line makes. */
export function readFlags(flags: CliFlags, cwd: string): SettingSource {
  const { host, port, data, plugins, skills, wasm, grantRequested, safe, logLevel } = flags;
  const chosen: readonly (readonly [key: string, flag: string, setting: unknown])[] = [
    ['host', '--host', host],
    ['port', '--port', typeof port === 'string' ? asNumber(port) : port],
    ['dataDir', '--data', data],
    ['pluginDirs', '--plugins', plugins],
    ['skillDirs', '--skills', skills],
    ['wasmDirs', '--wasm', wasm],
    ['grantRequested', '--grant-requested', grantRequested],
    ['safeMode', '--safe', safe === true ? 'all' : undefined],
    ['log', '--log-level', logLevel === undefined ? undefined : { level: logLevel }],
  ];
  const given = chosen.filter(([, , setting]) => setting !== undefined);
  return {
    value: Object.fromEntries(given.map(([key, , setting]) => [key, setting])),
    baseDir: cwd,
    nameOf: ([key = '']) => chosen.find(([known]) => known === key)?.[1] ?? key,
  };
}

function asText(text: string): string {
  return text;
}

/** What is not a decimal number stays text, so that the check can quote it. */
function asNumber(text: string): unknown {
  return /^\d{1,15}$/.test(text.trim()) ? Number(text) : text;
}

/** The usual ones stay allowed. */
function asMoreImages(text: string): string[] {
  const named = text.split(',').map((name) => name.trim());
  return [...new Set([...defaultSettings.docker.images, ...named.filter((name) => name !== '')])];
}

function asPaths(text: string): string[] {
  return text.split(delimiter).filter((path) => path !== '');
}
