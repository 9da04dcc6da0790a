import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { readSkill, type ScriptImages } from './read-skill.ts';
import type { Skill, SkillProblem } from './skill-types.ts';

/** What is in the skill folders now. */
export interface FoundSkills {
  readonly skills: readonly Skill[];
  readonly problems: readonly SkillProblem[];
}

const maxFolders = 10_000;

/**
 * Looks through the skill folders, one level deep: what has a `SKILL.md` is a skill. Of two with one name the one whose folder
 * is called so wins, else the first; of two links to one folder, the first. A folder that is not there holds no skills.
 */
export async function findSkills(dirs: readonly string[], where: ScriptImages): Promise<FoundSkills> {
  const read: { readonly folder: string; readonly skill: Skill }[] = [];
  const problems: SkillProblem[] = [];
  const seen = new Set<string>();
  for (const parent of dirs) {
    for (const folder of await listFolders(parent)) {
      const dir = await realpath(join(parent, folder)).catch(() => undefined);
      if (dir === undefined || seen.has(dir) || !(await hasPage(dir))) continue;
      seen.add(dir);
      const found = await readSkill(dir, where);
      if (found.ok) read.push({ folder, skill: found.skill });
      else problems.push({ folder, dir, problem: found.reason });
    }
  }
  // A page cannot take the name of the folder of another.
  const owners = new Map<string, Skill>();
  for (const { folder, skill } of read.toSorted((one, other) => Number(isNamesake(other)) - Number(isNamesake(one)))) {
    const { name } = skill.manifest;
    if (owners.has(name)) problems.push({ folder, dir: skill.dir, problem: describeSecond(skill) });
    else owners.set(name, skill);
  }
  return { skills: read.flatMap(({ skill }) => (owners.get(skill.manifest.name) === skill ? [skill] : [])), problems };
}

/** A skill that is called like its folder. */
function isNamesake({ skill: { dir, manifest } }: { readonly skill: Skill }): boolean {
  return basename(dir).toLowerCase() === manifest.name;
}

async function listFolders(parent: string): Promise<string[]> {
  const entries = await readdir(parent, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => !entry.name.startsWith('.') && (entry.isDirectory() || entry.isSymbolicLink()))
    .map(({ name }) => name)
    .sort()
    .slice(0, maxFolders);
}

async function hasPage(dir: string): Promise<boolean> {
  const stats = await stat(dir).catch(() => undefined);
  if (!stats?.isDirectory()) return false;
  return (await readdir(dir).catch(() => [])).some((name) => name.toLowerCase() === 'skill.md');
}

function describeSecond({ manifest }: Skill): string {
  return `The name "${manifest.name}" belongs to another skill: to the one whose folder is called so, else to the first.`;
}
