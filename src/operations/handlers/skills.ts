import { omitUndefined } from '../../config/json-object.ts';
import type { PermissionSet } from '../../config/permission-set.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { describePermissions, isNothing } from '../../permissions/decision.ts';
import type { Asking } from '../../permissions/grant-registry.ts';
import { matchersOf } from '../../permissions/matchers.ts';
import { describeSkillUnit, nameSkillUnit } from '../../skills/script-tools.ts';
import type { Skill } from '../../skills/skill-types.ts';
import { seesToolName } from '../../tools/seen-by-callers.ts';
import { pageOfAll } from '../contracts/paging.ts';
import { skillContracts } from '../contracts/skills.ts';
import { implement, type Operation } from '../operation.ts';
import type { OperationParts } from '../operation-parts.ts';
import { describeSkillPackages } from './skill-packages.ts';
import { createCallForOperation } from './tools/tool-call.ts';

type Parts = Pick<OperationParts, 'skills' | 'units' | 'grants' | 'events' | 'caller' | 'forgetAnonymous' | 'images' | 'config'>;

/** What can be done with skills. */
export function createSkillOperations(parts: Parts): Operation[] {
  const { skills, units, grants, images, config } = parts;
  const callTool = createCallForOperation(parts);

  /** In safe mode no skill is a unit. */
  function findAsking(path: string): Asking | undefined {
    return units.list().find(({ asking }) => asking?.path === path)?.asking;
  }

  function decide(skill: Skill) {
    const unit = describeSkillUnit(skill);
    const asking = findAsking(unit.path);
    return asking === undefined ? { granted: {}, pending: unit.permissions } : grants.decide(asking);
  }

  function showScripts(skill: Skill) {
    const { granted, pending } = decide(skill);
    const { allowsRun } = matchersOf(granted);
    return {
      skill: skill.manifest.name,
      path: skill.dir,
      contentHash: skill.contentHash,
      granted: describePermissions(granted),
      pending: describePermissions(pending),
      items: skill.scripts.map(({ name, tool, interpreter, image, problem }) => ({
        name,
        tool,
        isApproved: problem === undefined && allowsRun(name),
        ...omitUndefined({ interpreter: interpreter?.command, image, problem }),
      })),
    };
  }

  return [
    implement(skillContracts.list, async () => {
      const found = await skills.refresh();
      const items = [
        ...found.skills.map((skill) => ({
          name: skill.manifest.name,
          description: skill.manifest.description,
          version: skill.manifest.version,
          path: skill.dir,
          contentHash: skill.contentHash,
          scripts: skill.scripts.length,
          approved: showScripts(skill).items.filter(({ isApproved }) => isApproved).length,
        })),
        ...found.problems.map(({ folder, dir, problem }) => ({
          name: folder,
          description: '',
          version: '0.0.0',
          path: dir,
          scripts: 0,
          approved: 0,
          problem,
        })),
      ].sort((one, other) => (one.name < other.name ? -1 : 1));
      return pageOfAll(items);
    }),
    implement(skillContracts.scripts, async ({ name }) => showScripts(await skills.get(name))),
    implement(skillContracts.approve, async ({ name, contentHash, scripts, runOnly = false }, { caller }) => {
      const skill = await skills.get(name);
      if (skill.contentHash !== contentHash) {
        throw new HotcellError('conflict', `The files of the skill "${name}" are others than those that were looked at.`, {
          fix: `Look again: hotcell skill scripts ${name}`,
        });
      }
      const asking = findAsking(describeSkillUnit(skill).path);
      if (asking === undefined) throw new HotcellError('tool-off', 'In safe mode no script of a skill runs.');
      const permissions = chooseGrant(skill, grants.decide(asking).pending, scripts, runOnly);
      if (!isNothing(permissions)) {
        grants.create({ asking, permissions, scope: { scope: 'always' }, grantedBy: caller.id });
        skills.regrant();
      }
      return showScripts(skill);
    }),
    implement(skillContracts.run, async ({ name, script, session, ...args }, context) => {
      const { caller } = context;
      const tool = `${name}.${script}`;
      if (!seesToolName(caller, tool)) throw unknownScript(name, script);
      const skill = caller.role === 'admin' ? await skills.get(name) : skills.recall(name);
      const found = skill.scripts.find((each) => each.name === script);
      if (found === undefined) throw unknownScript(name, script);
      if (found.problem !== undefined) throw new HotcellError('command-missing', `${script} cannot run: ${found.problem}`);
      if (!matchersOf(decide(skill).granted).allowsRun(script)) throw notApproved(name, script);
      return callTool({ ref: tool, arguments: args, session }, context);
    }),
    implement(skillContracts.packages, async ({ name, with: others = [], base }) => {
      const wanted = await Promise.all([...new Set([name, ...others])].map((each) => skills.get(each)));
      return describeSkillPackages({ skills: wanted, base, config, images });
    }),
  ];
}

function chooseGrant(
  skill: Skill,
  pending: PermissionSet,
  scripts: readonly string[] | undefined,
  runOnly: boolean,
): PermissionSet {
  for (const script of scripts ?? []) {
    if (!skill.scripts.some(({ name }) => name === script)) throw unknownScript(skill.manifest.name, script);
  }
  const { run = [], ...others } = pending;
  const chosen = scripts === undefined ? run : run.filter((name) => scripts.includes(name));
  return { ...(runOnly ? {} : others), ...(chosen.length === 0 ? {} : { run: chosen }) };
}

function unknownScript(skill: string, script: string): HotcellError {
  return new HotcellError('skill-unknown', `There is no script "${script.slice(0, 80)}" of a skill "${skill.slice(0, 80)}".`, {
    fix: `See what there is: hotcell skill scripts ${skill.slice(0, 80)}`,
  });
}

function notApproved(skill: string, script: string): HotcellError {
  return new HotcellError('permission-denied', `The script ${script} of the skill "${skill}" is not approved as it is now.`, {
    fix: `Read it, then approve it: hotcell skill approve ${skill} ${script}`,
    facts: { plugin: nameSkillUnit(skill) },
  });
}
