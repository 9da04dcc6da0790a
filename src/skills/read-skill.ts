import { basename } from 'node:path';
import semver from 'semver';
import { findNearNames } from '../errors/near-names.ts';
import { readFrontMatter } from '../plugins/manifest/front-matter.ts';
import { chooseInterpreter } from './interpreter.ts';
import { readSkillFiles } from './skill-files.ts';
import type { Skill, SkillFile, SkillManifest, SkillScript } from './skill-types.ts';

/** In which image what runs: `commands` by interpreter, `images` for one skill whatever reads its scripts. */
export interface ScriptImages {
  readonly commands: Readonly<Record<string, string>>;
  readonly images: Readonly<Record<string, string>>;
}

/** A skill with the bytes of its files, or why the folder holds none. */
export type ReadSkill =
  | { readonly ok: true; readonly skill: Skill; readonly files: readonly SkillFile[] }
  | { readonly ok: false; readonly reason: string };

/** The names of tools are kept short for what calls them. */
const scriptPattern = /^[A-Za-z0-9_][A-Za-z0-9._+-]{0,63}$/;
const nixNames = ['flake.nix', 'shell.nix', '.nix-packages'];
const maxScripts = 100;

/** Reads one skill from its folder, a real path. */
export async function readSkill(dir: string, where: ScriptImages): Promise<ReadSkill> {
  const read = await readSkillFiles(dir);
  if (!read.ok) return read;
  const { files, contentHash } = read;
  const page = files.find(({ path }) => path.toLowerCase() === 'skill.md');
  if (page === undefined) return { ok: false, reason: 'It has no SKILL.md.' };
  const matter = readFrontMatter(readText(page.data));
  if (!matter.ok) return { ok: false, reason: matter.reason };
  const manifest = readSkillManifest(matter.data, basename(dir));
  if (manifest === undefined) {
    return { ok: false, reason: 'Neither its name nor its folder is a name of lower-case letters, digits and hyphens.' };
  }
  const scripts = files
    .filter(({ path }) => path.startsWith('scripts/') && !path.slice('scripts/'.length).includes('/'))
    .slice(0, maxScripts)
    .map((file) => describeScript(file, manifest.name, where));
  const nixFiles = Object.fromEntries(
    files.filter(({ path }) => nixNames.includes(path)).map(({ path, data }) => [path, readText(data)]),
  );
  return { ok: true, skill: { manifest, dir, contentHash, scripts, nixFiles }, files };
}

function describeScript({ path, data }: SkillFile, skill: string, where: ScriptImages): SkillScript {
  const name = path.slice('scripts/'.length);
  const script = { name, tool: `${skill}.${name}` };
  if (!scriptPattern.test(name)) {
    return { ...script, problem: 'Its name has other characters than letters, digits, dots, "_", "+" and "-".' };
  }
  const chosen = chooseInterpreter(name, data);
  if (!chosen.ok) return { ...script, problem: chosen.reason };
  const { command, args } = chosen;
  const image = pick(where.images, skill) ?? pick(where.commands, command);
  const interpreter = { command, args };
  if (image !== undefined) return { ...script, interpreter, image };
  const near = findNearNames(command, Object.keys(where.commands));
  const meant = near.length === 0 ? '' : ` There is ${near.join(', ')}.`;
  const problem = `No image is named for ${command}. Name one in the config: docker.commands: { ${command}: IMAGE }.${meant}`;
  return { ...script, interpreter, problem };
}

function pick(images: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(images, name) ? images[name] : undefined;
}

function readText(data: Uint8Array): string {
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('utf8');
}

const namePattern = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;
const maxEntries = 100;

/** True for what can be the name of a skill: it becomes part of the names of tools. */
export function isSkillName(name: string): boolean {
  return namePattern.test(name);
}

/** Picks from front matter what scripts need; keys of the wrong type count as missing. Undefined without a usable name. */
export function readSkillManifest(data: Readonly<Record<string, unknown>>, folder: string): SkillManifest | undefined {
  const name = [data.name, folder.toLowerCase()].find((each): each is string => typeof each === 'string' && isSkillName(each));
  if (name === undefined) return undefined;
  const nix = readRecord(data.nixConfig);
  const { flakeUrl } = nix;
  const written = readRecord(data.metadata).version ?? data.version;
  const version = typeof written === 'string' || typeof written === 'number' ? semver.coerce(String(written).slice(0, 64)) : null;
  return {
    name,
    description: typeof data.description === 'string' ? data.description.slice(0, 1024) : '',
    version: version?.version ?? '0.0.0',
    domains: readTexts(readRecord(data.networkConfig).allowedDomains),
    nix: {
      packages: readTexts(nix.packages),
      ...(typeof flakeUrl === 'string' ? { flakeUrl: flakeUrl.slice(0, 512) } : {}),
    },
  };
}

function readRecord(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {};
  return Object.fromEntries(Object.entries(value));
}

function readTexts(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value.filter((each): each is string => typeof each === 'string' && each.length <= 256).slice(0, maxEntries);
}
