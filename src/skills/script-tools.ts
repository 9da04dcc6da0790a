import { Type } from 'typebox';
import Value from 'typebox/value';
import { chooseCallTime, type NativeToolParts, nativeInput, nativeOutput, runForTool } from '../builtins/native/run-native.ts';
import { createDenial } from '../capabilities/permission-denial.ts';
import type { PermissionSet } from '../config/permission-set.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import { matchersOf } from '../permissions/matchers.ts';
import { parsePermissions } from '../permissions/parse.ts';
import type { HostedCall, HostedTool, HostedUnit } from '../tools/hosted/hosted-types.ts';
import type { ReadSkill } from './read-skill.ts';
import type { Skill, SkillScript } from './skill-types.ts';

/** What scripts are run with. */
export interface ScriptParts extends NativeToolParts {
  /** Reads the skill again: what runs is what lies there now, and only if it is what was approved. */
  readonly read: (dir: string) => Promise<ReadSkill>;
  /** Told that a skill is not what it was. Must not throw. */
  readonly onChanged: () => void;
}

/** Where the files of a skill lie in the container, below its working folder. */
export const skillFolder = '.skill';

const scriptInput = Type.Object(
  {
    args: Type.Optional(
      Type.Array(Type.String({ maxLength: 65_000 }), { maxItems: 900, description: 'Arguments of the script, one an entry.' }),
    ),
    ...nativeInput,
  },
  { additionalProperties: false },
);

/** What grants are given to: no plugin can have such a name. */
export function nameSkillUnit(skill: string): string {
  return `skill:${skill}`;
}

/**
 * What a skill asks for: to run each of its scripts, the workspace, and the hosts that it names. Nobody vouches for a skill
 * by installing it: `run` counts only where it was granted for the very content.
 */
export function describeSkillUnit(skill: Skill): HostedUnit {
  const { manifest, dir, contentHash } = skill;
  return {
    path: nameSkillUnit(dir),
    name: nameSkillUnit(manifest.name),
    kind: 'skill',
    version: manifest.version,
    description: manifest.description,
    author: 'model',
    contentHash,
    permissions: readRequest(skill),
    tools: [],
  };
}

/** The scripts that are approved, as tools. */
export function describeScriptTools(skill: Skill, granted: PermissionSet, parts: ScriptParts): HostedTool[] {
  return skill.scripts
    .filter(({ name, problem }) => problem === undefined && matchersOf(granted).allowsRun(name))
    .map((script) => ({
      name: script.tool,
      description: `Runs the script ${script.name} of the skill ${skill.manifest.name}. ${skill.manifest.description}`.trim(),
      input: { ...scriptInput },
      output: { ...nativeOutput },
      tags: ['skill', skill.manifest.name],
      who: 'model',
      timeoutMs: chooseCallTime(parts.timeoutMs),
      run: (args, call) => runScript(skill, script, args, call, parts),
    }));
}

async function runScript(skill: Skill, script: SkillScript, written: unknown, call: HostedCall, parts: ScriptParts) {
  const { args = [], ...rest } = Value.Parse(scriptInput, written);
  const { interpreter, image, name } = script;
  if (!matchersOf(call.user.granted()).allowsRun(name)) {
    throw createDenial(call.user, { key: 'run', entry: name, tried: `run the script ${JSON.stringify(name)}` });
  }
  call.user.noteUse('run', name, true);
  const now = await parts.read(skill.dir);
  if (!now.ok || now.skill.contentHash !== skill.contentHash) {
    parts.onChanged();
    throw describeChanged(skill);
  }
  if (interpreter === undefined || image === undefined) {
    throw new HotcellError('command-missing', script.problem ?? `Nothing says how to run ${name}.`);
  }
  return runForTool(
    parts,
    rest,
    {
      image,
      command: interpreter.command,
      args: [...interpreter.args, `/workspace/${skillFolder}/scripts/${name}`, ...args],
      own: { folder: skillFolder, files: now.files },
      env: { SKILL_DIR: `/workspace/${skillFolder}` },
    },
    call,
  );
}

function describeChanged({ manifest: { name } }: Skill): HotcellError {
  return new HotcellError('permission-denied', `The files of the skill "${name}" changed since its scripts were approved.`, {
    fix: `See what they are now, then approve them: hotcell skill scripts ${name}, hotcell skill approve ${name}`,
  });
}

/** A domain that is no host of the vocabulary is not asked for. */
function readRequest({ manifest, scripts }: Skill): PermissionSet {
  const run = scripts.filter(({ problem }) => problem === undefined).map(({ name }) => name);
  if (run.length === 0) return {};
  const net = manifest.domains.flatMap((domain) => {
    const parsed = parsePermissions({ net: [domain] });
    return parsed.ok ? (parsed.permissions.net ?? []) : [];
  });
  return { run, read: ['.'], write: ['.'], ...(net.length === 0 ? {} : { net }) };
}
