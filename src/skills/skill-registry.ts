import type { NativeToolParts } from '../builtins/native/run-native.ts';
import type { Config } from '../config/config-types.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import { suggestNearNames } from '../errors/near-names.ts';
import type { GrantRegistry } from '../permissions/grant-registry.ts';
import type { HostedTools } from '../tools/hosted/hosted-tools.ts';
import { type FoundSkills, findSkills } from './discover.ts';
import { readSkill, type ScriptImages } from './read-skill.ts';
import { describeScriptTools, describeSkillUnit, nameSkillUnit } from './script-tools.ts';
import type { Skill } from './skill-types.ts';

/** What the registry is made of. */
export interface SkillRegistryParts {
  readonly config: Pick<Config, 'skillDirs' | 'docker' | 'skills' | 'safeMode'>;
  readonly native: NativeToolParts['native'];
  readonly hosted: HostedTools;
  readonly grants: Pick<GrantRegistry, 'decide' | 'forget'>;
  /** Told when what skills ask for may have changed. Must not throw. */
  readonly onChange: () => void;
  /** Must not throw. */
  readonly onFault: (error: unknown) => void;
}

const none: FoundSkills = { skills: [], problems: [] };

/** The skills of the skill folders, and the tools that their approved scripts are. */
export type SkillRegistry = ReturnType<typeof createSkillRegistry>;

/** Creates the registry of skills; nothing is read before the first look. */
export function createSkillRegistry(parts: SkillRegistryParts) {
  const { config, hosted, grants } = parts;
  const images: ScriptImages = { commands: config.docker.commands, images: config.skills.images };
  const scriptParts = {
    native: parts.native,
    timeoutMs: config.docker.timeoutMs,
    read: (dir: string) => readSkill(dir, images),
    onChanged: () => void refresh().catch(parts.onFault),
  };
  let found = none;
  let looking: Promise<FoundSkills> | undefined;
  let published = new Map<string, string>();

  async function look(): Promise<FoundSkills> {
    found = await findSkills(config.skillDirs, images);
    publish();
    return found;
  }

  /** In safe mode nothing here runs code. */
  function publish(): void {
    const skills = config.safeMode === 'off' ? found.skills : [];
    const next = new Map<string, string>();
    for (const skill of skills) {
      const unit = describeSkillUnit(skill);
      const { path, contentHash, author, permissions, name } = unit;
      const asking = { path, contentHash, author, manifest: { name, permissions } };
      const tools = describeScriptTools(skill, grants.decide(asking).granted, scriptParts);
      const state = JSON.stringify([contentHash, unit.version, permissions, tools.map((tool) => tool.name)]);
      try {
        if (published.get(path) !== state) hosted.put({ ...unit, tools });
        next.set(path, state);
      } catch (error) {
        // A tool of that name exists already: the skill stays without tools, and all others have theirs.
        parts.onFault(error);
      }
    }
    for (const path of published.keys()) {
      if (next.has(path)) continue;
      hosted.remove(path);
      // One that only could not be published keeps what was granted to it.
      const isGone = !skills.some(({ dir }) => nameSkillUnit(dir) === path);
      if (isGone && config.safeMode === 'off') grants.forget(path);
    }
    published = next;
    parts.onChange();
  }

  function refresh(): Promise<FoundSkills> {
    looking ??= look().finally(() => {
      looking = undefined;
    });
    return looking;
  }

  return {
    /** Looks at the folders again and brings the tools in line. Looks at once do it together. */
    refresh,
    /** Brings the tools in line with what is granted now. */
    regrant: publish,
    /** One skill, after a look. Throws `skill-unknown` with near names. */
    get: async (name: string): Promise<Skill> => findSkill(await refresh(), name),
    /** A skill as it was at the last look: callers cannot make the daemon read all folders. */
    recall: (name: string): Skill => findSkill(found, name),
  };
}

function findSkill({ skills }: FoundSkills, name: string): Skill {
  const skill = skills.find(({ manifest }) => manifest.name === name);
  if (skill !== undefined) return skill;
  const names = skills.map(({ manifest }) => manifest.name);
  throw new HotcellError('skill-unknown', `There is no skill "${name.slice(0, 80)}".${suggestNearNames(name, names)}`);
}
