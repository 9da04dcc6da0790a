import type { Command } from 'commander';
import type { Client } from '../../../client/client.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import {
  readScriptOutput,
  type SkillPackagesView,
  type SkillScriptView,
  skillContracts,
} from '../../../operations/contracts/skills.ts';
import { exitCodeFor } from '../../exit-codes.ts';
import { renderExecutionError } from '../../render/error.ts';
import { tame } from '../../render/style.ts';
import { renderTable } from '../../render/table.ts';
import type { CliSession } from '../../session.ts';
import { type ListFlags, withDaemonOrAlone } from '../command.ts';
import { addListing } from '../operation-command.ts';

interface RunFlags extends ListFlags {
  readonly file?: readonly string[];
  readonly stdin?: boolean;
  readonly network?: boolean;
  readonly timeout?: string;
  readonly session?: string;
}

interface PackageFlags extends ListFlags {
  readonly base?: string;
  readonly recipe?: boolean;
}

const skillArgument = 'the name of the skill';

/** Adds `hotcell skill …`. */
export function registerSkill(program: Command, session: CliSession): void {
  const skill = program.command('skill');
  const { style } = session;

  addListing(skill, session, {
    contract: skillContracts.list,
    about: 'list the skills of the skill folders',
    reach: 'alone',
    input: {},
    columns: [
      { head: 'SKILL', text: (row) => tame(row.name) },
      { head: 'SCRIPTS', text: (row) => (row.problem === undefined ? String(row.scripts) : '-') },
      { head: 'APPROVED', text: (row) => (row.problem === undefined ? String(row.approved) : '-') },
      { head: 'ABOUT', text: (row) => tame(row.problem ?? row.description) },
    ],
  });

  skill
    .command('scripts')
    .description('show the scripts of a skill, and whether they may run')
    .argument('<name>', skillArgument)
    .option('--json', 'as JSON')
    .action((name: string, _options: unknown, command: Command) => {
      const flags = command.optsWithGlobals<ListFlags>();
      return withDaemonOrAlone(session, flags, async (client) => {
        const view = await client.invoke(skillContracts.scripts, { name });
        if (flags.json) return session.printJson(view);
        showScripts(session, view.items);
        session.print(`${tame(view.path)}  ${style.dim(view.contentHash.slice(0, 12))}\n`);
        if (view.granted !== '') session.print(`granted: ${tame(view.granted)}\n`);
        if (view.pending !== '') session.print(`asks for: ${tame(view.pending)}\n`);
      });
    });

  skill
    .command('approve')
    .description('let scripts of a skill run as they are now; any change of its files takes that back')
    .argument('<name>', skillArgument)
    .argument('[scripts...]', 'these alone; all when left out')
    .option('--run-only', 'grant nothing but to run: no workspace, no network')
    .option('--json', 'as JSON')
    .action((name: string, scripts: string[], _options: unknown, command: Command) => {
      const flags = command.optsWithGlobals<ListFlags & { runOnly?: boolean }>();
      return withDaemonOrAlone(session, { ...flags, keeps: true }, async (client) => {
        const { contentHash } = await client.invoke(skillContracts.scripts, { name });
        const which = scripts.length === 0 ? {} : { scripts };
        const runOnly = flags.runOnly ?? false;
        const view = await client.invoke(skillContracts.approve, { name, contentHash, runOnly, ...which });
        if (flags.json) return session.printJson(view);
        showScripts(session, view.items);
        session.print(`${style.green('✓')} granted: ${tame(view.granted) || 'nothing'}\n`);
      });
    });

  skill
    .command('run')
    .description('run an approved script of a skill in a container')
    .argument('<name>', skillArgument)
    .argument('<script>', 'a file of its scripts folder')
    .argument('[args...]', 'arguments of the script, after --')
    .option('--file <path...>', 'files and folders of the workspace that it sees')
    .option('--stdin', 'give it the standard input')
    .option('--network', 'let it reach what is granted')
    .option('--timeout <ms>', 'end it after this time')
    .option('--session <id>', 'the session that the call belongs to')
    .option('--json', 'print the whole answer as JSON')
    .action((name: string, script: string, args: string[], _options: unknown, command: Command) => {
      const flags = command.optsWithGlobals<RunFlags>();
      return withDaemonOrAlone(session, { ...flags, keeps: true }, (client) =>
        runScript(session, client, { name, script, args, flags }),
      );
    });

  skill
    .command('packages')
    .description('show which packages skills ask for, and how to make the image that has them')
    .argument('<names...>', 'one skill, or several for one image')
    .option('--base <image>', 'the image with the interpreter')
    .option('--recipe', 'print the Dockerfile alone')
    .option('--json', 'as JSON')
    .action(([name = '', ...others]: string[], _options: unknown, command: Command) => {
      const { base, recipe, json, ...flags } = command.optsWithGlobals<PackageFlags>();
      return withDaemonOrAlone(session, flags, async (client) => {
        const query = { name, ...(others.length > 0 ? { with: others } : {}), ...(base === undefined ? {} : { base }) };
        const view = await client.invoke(skillContracts.packages, query);
        if (json) return session.printJson(view);
        if (!recipe) return showPackages(session, view);
        if (view.recipe === undefined) {
          throw new HotcellError('not-found', view.problem ?? 'No packages are asked for, so there is no recipe.');
        }
        session.print(view.recipe);
      });
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
  const timeoutMs = flags.timeout === undefined ? undefined : readTimeout(flags.timeout);
  const answer = await client.invoke(skillContracts.run, {
    name,
    script,
    ...(args.length === 0 ? {} : { args: [...args] }),
    ...(flags.file === undefined ? {} : { files: [...flags.file] }),
    ...(flags.stdin ? { stdin: await io.readStdin() } : {}),
    ...(flags.network ? { network: true } : {}),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(flags.session === undefined ? {} : { session: flags.session }),
  });
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

function readTimeout(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new HotcellError(
    'usage-wrong',
    `--timeout takes a whole number of milliseconds; got ${JSON.stringify(text.slice(0, 40))}.`,
  );
}

function showScripts({ style, io, print }: CliSession, scripts: readonly SkillScriptView[]): void {
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
  print(renderTable(scripts, columns, io.columns));
  for (const { name, problem } of scripts) if (problem !== undefined) print(`${tame(name)}: ${tame(problem)}\n`);
}

function showPackages({ style, print }: CliSession, view: SkillPackagesView): void {
  if (view.source === 'none' && view.problem === undefined) {
    print('No packages are asked for.\n');
    return;
  }
  const lines = [
    ['source', view.source === 'none' ? '' : view.source],
    ['packages', view.packages.join(' ')],
    ['not used', view.shadowed.join(', ')],
    ['with Nix', view.command ?? ''],
    ['image', view.image === undefined ? '' : `${view.image.name} (${view.image.state})`],
    ['build', view.build ?? ''],
  ];
  for (const [head = '', text = ''] of lines) if (text !== '') print(`${style.dim(head.padEnd(10))}${tame(text)}\n`);
  if (view.problem !== undefined) print(`${style.yellow('!')} ${tame(view.problem)}\n`);
  if (view.image?.fix !== undefined) print(`${style.green('Fix:')} ${tame(view.image.fix)}\n`);
  if (view.build !== undefined) {
    print(style.dim(`The recipe for it: hotcell skill packages ${view.skills.join(' ')} --recipe\n`));
  }
}
