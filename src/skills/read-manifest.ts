import semver from 'semver';
import type { SkillManifest } from './skill-types.ts';

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
