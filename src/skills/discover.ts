import { readdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readSkill, type ScriptImages } from './read-skill.ts';
import type { Skill, SkillProblem } from './skill-types.ts';

/** What is in the skill folders now. */
export interface FoundSkills {
  readonly skills: readonly Skill[];
  readonly problems: readonly SkillProblem[];
}

const mostFolders = 10_000;

/**
 * Looks through the skill folders, one level deep: what has a `SKILL.md` is a skill. Of two with one name the first wins, of
 * two links to one folder, too. A folder that is not there holds no skills.
 */
export async function findSkills(dirs: readonly string[], where: ScriptImages): Promise<FoundSkills> {
  const skills = new Map<string, Skill>();
  const problems: SkillProblem[] = [];
  const seen = new Set<string>();
  for (const parent of dirs) {
    for (const folder of await listFolders(parent)) {
      const dir = await realpath(join(parent, folder)).catch(() => undefined);
      if (dir === undefined || seen.has(dir) || !(await hasPage(dir))) continue;
      seen.add(dir);
      const read = await readSkill(dir, where);
      if (!read.ok) problems.push({ folder, dir, problem: read.reason });
      else if (skills.has(read.skill.manifest.name)) problems.push({ folder, dir, problem: describeSecond(read.skill) });
      else skills.set(read.skill.manifest.name, read.skill);
    }
  }
  return { skills: [...skills.values()], problems };
}

async function listFolders(parent: string): Promise<string[]> {
  const entries = await readdir(parent, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => !entry.name.startsWith('.') && (entry.isDirectory() || entry.isSymbolicLink()))
    .map(({ name }) => name)
    .sort()
    .slice(0, mostFolders);
}

async function hasPage(dir: string): Promise<boolean> {
  const stats = await stat(dir).catch(() => undefined);
  if (!stats?.isDirectory()) return false;
  return (await readdir(dir).catch(() => [])).some((name) => name.toLowerCase() === 'skill.md');
}

function describeSecond({ manifest }: Skill): string {
  return `The name "${manifest.name}" belongs to a skill that was found first.`;
}
