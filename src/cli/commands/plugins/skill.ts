import type { Command } from 'commander';
import type { Client } from '../../../client/client.ts';
import { omitUndefined } from '../../../config/json-object.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import {
  readScriptOutput,
  type SkillPackagesView,
  type SkillScriptView,
  skillContracts,
} from '../../../operations/contracts/skills.ts';
import { exitCodeFor } from '../../exit-codes.ts';
import { renderExecutionError } from '../../render/error.ts';
import { type Style, tame } from '../../render/style.ts';
import { renderFacts, renderTable } from '../../render/table.ts';
import type { CliSession } from '../../session.ts';
import { addClientCommand, addListing, addOperation } from '../command.ts';

interface RunFlags {
  readonly file?: readonly string[];
  readonly stdin?: boolean;
  readonly network?: boolean;
  readonly timeout?: number;
  readonly session?: string;
  readonly json?: boolean;
}

const skillArgument = { '<name>': 'the name of the skill' } as const;

/** Adds `hotcell skill …`. */
export function registerSkill(program: Command, session: CliSession): void {
  const skill = program.command('skill');
  const { style } = session;

  addListing(skill, session, {
    name: 'list',
    isDefault: true,
    about: 'list the skills of the skill folders',
    reach: 'alone',
    contract: skillContracts.list,
    empty: 'No skills. One is a folder with a SKILL.md in a skill folder.\n',
    columns: [
      { head: 'SKILL', text: (row) => tame(row.name) },
      { head: 'SCRIPTS', text: (row) => (row.problem === undefined ? String(row.scripts) : '-') },
      { head: 'APPROVED', text: (row) => (row.problem === undefined ? String(row.approved) : '-') },
      { head: 'ABOUT', text: (row) => tame(row.problem ?? row.description) },
    ],
  });

  addOperation(skill, session, {
    name: 'scripts',
    about: 'show the scripts of a skill, and whether they may run',
    arguments: skillArgument,
    reach: 'alone',
    contract: skillContracts.scripts,
    show: ({ items, path, contentHash, granted, pending }) =>
      [
        renderScripts(session, items),
        `${tame(path)}  ${style.dim(contentHash.slice(0, 12))}\n`,
        granted === '' ? '' : `granted: ${tame(granted)}\n`,
        pending === '' ? '' : `asks for: ${tame(pending)}\n`,
      ].join(''),
  });

  addClientCommand(skill, session, {
    name: 'approve',
    about: 'let scripts of a skill run as they are now; any change of its files takes that back',
    arguments: { ...skillArgument, '[scripts...]': 'these alone; all when left out' },
    options: { '--run-only': 'grant nothing but to run: no workspace, no network' },
    reach: 'keeps',
    run: async ({ name, scripts, runOnly = false, json }, client) => {
      const { contentHash } = await client.invoke(skillContracts.scripts, { name });
      const which = scripts.length === 0 ? {} : { scripts: [...scripts] };
      const view = await client.invoke(skillContracts.approve, { name, contentHash, runOnly, ...which });
      if (json) return session.printJson(view);
      session.print(renderScripts(session, view.items));
      session.print(`${style.green('✓')} granted: ${tame(view.granted) || 'nothing'}\n`);
    },
  });

  addClientCommand(skill, session, {
    name: 'run',
    about: 'run an approved script of a skill in a container',
    arguments: {
      ...skillArgument,
      '<script>': 'a file of its scripts folder',
      '[args...]': 'arguments of the script, after --',
    },
    options: {
      '--file <path...>': 'files and folders of the workspace that it sees',
      '--stdin': 'give it the standard input',
      '--network': 'let it reach what is granted',
      '--timeout <ms>': { about: 'end it after this time', range: [1, 999_999_999] },
      '--session <id>': 'the session that the call belongs to',
    },
    json: 'print the whole answer as JSON',
    reach: 'keeps',
    run: ({ name, script, args, ...flags }, client) => runScript(session, client, { name, script, args, flags }),
  });

  addOperation(skill, session, {
    name: 'packages',
    about: 'show which packages skills ask for, and how to make the image that has them',
    arguments: { '<names...>': 'one skill, or several for one image' },
    options: { '--base <image>': 'the image with the interpreter', '--recipe': 'print the Dockerfile alone' },
    reach: 'alone',
    contract: skillContracts.packages,
    input: ({ names: [name = '', ...others], base }) =>
      omitUndefined({ name, with: others.length > 0 ? others : undefined, base }),
    show(view, { recipe }) {
      if (!recipe) return renderPackages(view, style);
      if (view.recipe !== undefined) return view.recipe;
      throw new HotcellError('not-found', view.problem ?? 'No packages are asked for, so there is no recipe.');
    },
  });
}

interface ScriptRun {
  readonly name: string;
  readonly script: string;
  readonly args: readonly string[];
  readonly flags: RunFlags;
}

/** The output of the script goes where it wrote it; an exit code other than 0 fails the command. */
async function runScript(session: CliSession, client: Client, { name, script, args, flags }: ScriptRun): Promise<void> {
  const { io, style } = session;
  const answer = await client.invoke(
    skillContracts.run,
    omitUndefined({
      name,
      script,
      args: args.length === 0 ? undefined : [...args],
      files: flags.file === undefined ? undefined : [...flags.file],
      stdin: flags.stdin ? await io.readStdin() : undefined,
      network: flags.network,
      timeoutMs: flags.timeout,
      session: flags.session,
    }),
  );
  if (answer.error !== undefined) session.exitCode = exitCodeFor(answer.error.code);
  if (flags.json) return session.printJson(answer);
  if (answer.error !== undefined) return session.note(renderExecutionError(answer.error, style));
  const { exitCode, stdout, stderr, truncated, files, left } = readScriptOutput(answer.output);
  session.print(io.isTTY ? tame(stdout) : stdout);
  session.note(tame(stderr));
  if (truncated) session.note(style.yellow('The output was longer than what is kept.\n'));
  for (const path of files) session.note(style.dim(`written: ${tame(path)}\n`));
  for (const path of left) session.note(style.dim(`left behind: ${tame(path)}\n`));
  if (exitCode === 0) return;
  session.exitCode = 1;
  session.note(`${style.red('✗')} ${tame(script)} ended with exit code ${exitCode}.\n`);
}

function renderScripts({ style, io }: CliSession, scripts: readonly SkillScriptView[]): string {
  const columns = [
    { head: 'SCRIPT', text: (row: SkillScriptView) => tame(row.name) },
    {
      head: 'STATE',
      text: (row: SkillScriptView) => (row.isApproved ? 'approved' : row.problem === undefined ? 'not approved' : 'cannot run'),
      paint: (text: string, row: SkillScriptView) => (row.isApproved ? style.green(text) : style.yellow(text)),
    },
    { head: 'TOOL', text: (row: SkillScriptView) => tame(row.tool) },
    { head: 'IMAGE', text: (row: SkillScriptView) => row.image ?? '-' },
  ];
  const problems = scripts.map(({ name, problem }) => (problem === undefined ? '' : `${tame(name)}: ${tame(problem)}\n`));
  return [renderTable(scripts, columns, io.columns), ...problems].join('');
}

function renderPackages(view: SkillPackagesView, style: Style): string {
  if (view.source === 'none' && view.problem === undefined) return 'No packages are asked for.\n';
  const { packages, shadowed, command = '', image, build = '', problem, skills } = view;
  const facts: [string, string][] = [
    ['source', view.source === 'none' ? '' : tame(view.source)],
    ['packages', tame(packages.join(' '))],
    ['not used', tame(shadowed.join(', '))],
    ['with Nix', tame(command)],
    ['image', image === undefined ? '' : tame(`${image.name} (${image.state})`)],
    ['build', tame(build)],
  ];
  return [
    renderFacts(facts, style, ''),
    problem === undefined ? '' : `${style.yellow('!')} ${tame(problem)}\n`,
    image?.fix === undefined ? '' : `${style.green('Fix:')} ${tame(image.fix)}\n`,
    build === '' ? '' : style.dim(`The recipe for it: hotcell skill packages ${skills.join(' ')} --recipe\n`),
  ].join('');
}
