import { Argument, type Command, Option } from 'commander';
import type { Static } from 'typebox';
import { isObject } from '../../../config/json-object.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { findJsonFault } from '../../../errors/json-fault.ts';
import { type ToolView, toolContracts } from '../../../operations/contracts/tools.ts';
import { formatWords, sampleArguments } from '../../calling/sample-arguments.ts';
import { tame } from '../../render/style.ts';
import { renderTable } from '../../render/table.ts';
import type { CliSession } from '../../session.ts';
import { type ListFlags, withDaemon, withDaemonOrAlone } from '../command.ts';
import { addOperation } from '../operation-command.ts';

/** Adds `hotcell tool …`. */
export function registerTool(program: Command, session: CliSession): void {
  const tool = program.command('tool');
  const { style, io } = session;

  tool
    .command('list')
    .description('list the tools that can be called')
    .argument('[query]', 'only those that mention this')
    .option('--json', 'as JSON')
    .action((query: string | undefined, _options: unknown, command: Command) => {
      const flags = command.optsWithGlobals<ListFlags>();
      return withDaemonOrAlone(session, flags, async (client) => {
        const list = await client.invoke(toolContracts.list, query === undefined ? {} : { q: query });
        if (flags.json) return session.printJson(list);
        if (list.total === 0) return session.print('No tools.\n');
        const columns = [
          { head: 'TOOL', text: (row: ToolView) => row.ref, paint: style.bold },
          { head: 'MODE', text: (row: ToolView) => row.mode },
          { head: 'PLUGIN', text: (row: ToolView) => (row.byVersionOnly ? `${row.plugin} (by version only)` : row.plugin) },
          { head: 'ABOUT', text: (row: ToolView) => row.description },
        ];
        session.print(renderTable(list.items, columns, io.columns));
        if (list.next !== undefined) session.note(`${list.total - list.items.length} more; narrow it down with a query.\n`);
      });
    });

  tool
    .command('own')
    .description('give the bare name of a tool to one of the plugins that define it')
    .argument('<name>', 'of the tool, without a version; or prompt:NAME, resource:URI')
    .argument('<plugin>', 'its name or path')
    .option('--json', 'as JSON')
    .action((name: string, plugin: string, _options: unknown, command: Command) => {
      const flags = command.optsWithGlobals<ListFlags>();
      return withDaemon(session, flags, async (client) => {
        const owner = await client.invoke(toolContracts.own, { name, plugin });
        if (flags.json) session.printJson(owner);
        else session.print(`${style.bold(name)} is the tool of ${tame(owner.path)}.\n`);
      });
    });

  tool
    .command('set')
    .description('set the mode of a tool, or who uses it, over what it declares; kept over restarts')
    .argument('<ref>', 'name, name@version or name@range')
    .addOption(new Option('--mode <mode>', 'whether models see it').choices(['on', 'off', 'auto', declared]))
    .addOption(new Option('--who <who>', 'who calls it').choices(['model', 'person', 'both', declared]))
    .option('--json', 'as JSON')
    .action((ref: string, _options: unknown, command: Command) => {
      const { mode, who, ...flags } = command.optsWithGlobals<ListFlags & SettingFlags>();
      if (mode === undefined && who === undefined) throw new HotcellError('usage-wrong', 'Say what to set: --mode or --who.');
      return withDaemonOrAlone(session, { ...flags, keeps: true }, async (client) => {
        const input = {
          ref,
          ...(mode === undefined ? {} : { mode: mode === declared ? null : mode }),
          ...(who === undefined ? {} : { who: who === declared ? null : who }),
        };
        const view = await client.invoke(toolContracts.update, input);
        if (flags.json) session.printJson(view);
        else session.print(`${style.bold(view.ref)}  mode ${view.mode}, for ${sayUsers(view.who)}\n`);
      });
    });

  tool
    .command('switch')
    .description('turn all tools (enabled) or all but the built-in ones (custom) off and on again')
    .addArgument(new Argument('<what>').choices(['enabled', 'custom']))
    .addArgument(new Argument('<state>').choices(['on', 'off']))
    .option('--json', 'as JSON')
    .action((what: 'enabled' | 'custom', state: 'on' | 'off', _options: unknown, command: Command) => {
      const flags = command.optsWithGlobals<ListFlags>();
      return withDaemonOrAlone(session, { ...flags, keeps: true }, async (client) => {
        const switches = await client.invoke(toolContracts.switch, { [what]: state === 'on' });
        if (flags.json) return session.printJson(switches);
        const rest = switches.custom ? 'tools are on' : 'only built-in tools are on';
        session.print(switches.enabled ? `${rest}\n` : 'all tools are off\n');
      });
    });

  tool
    .command('select')
    .description('tell which tools a model would be shown for a request, and why')
    .argument('<request>', 'what the model is asked')
    .option('--background <reason>', 'why the request is made, where nobody waits for it')
    .option('--provider <name>', 'whose model it is, such as anthropic')
    .option('--limit <tools>', 'tools in mode auto at most', Number)
    .option('--json', 'as JSON')
    .action((context: string, _options: unknown, command: Command) => {
      const { background, provider, limit, ...flags } = command.optsWithGlobals<ListFlags & SelectFlags>();
      return withDaemonOrAlone(session, flags, async (client) => {
        const input = {
          context,
          ...(background === undefined ? {} : { background }),
          ...(provider === undefined ? {} : { provider }),
          ...(limit === undefined ? {} : { limit }),
        };
        const { tools, passedOver, ...rest } = await client.invoke(toolContracts.select, input);
        if (flags.json) return session.printJson({ tools, passedOver, ...rest });
        const rows = [...tools, ...passedOver.map((each) => ({ ...each, why: 'not shown' }))];
        const columns = [
          { head: 'TOOL', text: (row: SelectedRow) => row.ref, paint: style.bold },
          { head: 'WHY', text: (row: SelectedRow) => row.why },
          { head: 'SCORE', text: (row: SelectedRow) => String(row.score) },
          { head: 'POINTS', text: (row: SelectedRow) => row.points.map(sayPoints).join(', ') },
        ];
        session.print(renderTable(rows, columns, io.columns));
      });
    });

  tool
    .command('register')
    .description(
      'register a tool that a service carries out, or another name for a tool: its definition as JSON on standard input',
    )
    .option('--replace', 'put it in the place of an earlier one')
    .option('--json', 'as JSON')
    .action((_options: unknown, command: Command) => {
      const { replace, ...flags } = command.optsWithGlobals<ListFlags & { readonly replace?: boolean }>();
      return withDaemonOrAlone(session, { ...flags, keeps: true }, async (client) => {
        const definition = readDefinition(await io.readStdin());
        const view = await client.invoke(toolContracts.register, replace ? { ...definition, replace } : definition);
        if (flags.json) return session.printJson(view);
        // Another name for a tool asks for nothing.
        const isService = isObject(definition.handler) && 'url' in definition.handler;
        const next = isService ? `; what it asks for: hotcell approve ${view.plugin}` : '.';
        session.print(`${style.bold(view.ref)} is registered${next}\n`);
      });
    });

  addOperation(tool, session, {
    verb: 'remove',
    contract: toolContracts.unregister,
    about: 'take a registered tool out, with its grants',
    reach: 'keeps',
    argument: ['ref', 'name of the tool'],
    input: (ref) => ({ ref }),
    show: ({ ref }) => `${style.bold(ref)} is gone.\n`,
  });

  addOperation(tool, session, {
    verb: 'info',
    contract: toolContracts.get,
    about: 'show one tool with its schema and examples',
    reach: 'alone',
    argument: ['ref', 'name, name@version or name@range'],
    input: (ref) => ({ ref }),
    show: (view) => renderTool(view, style.bold, style.dim),
  });
}

/** Whether it fits, the daemon says. */
function readDefinition(text: string): Static<typeof toolContracts.register.input> {
  const fault = findJsonFault(text);
  if (fault !== undefined) {
    const { line, column, found } = fault;
    throw new HotcellError('usage-wrong', `The definition is not JSON: line ${line}, column ${column}, has ${found}.`);
  }
  return JSON.parse(text);
}

interface SettingFlags {
  readonly mode?: ToolView['mode'] | typeof declared;
  readonly who?: ToolView['who'] | typeof declared;
}

interface SelectFlags {
  readonly background?: string;
  readonly provider?: string;
  readonly limit?: number;
}

interface SelectedRow {
  readonly ref: string;
  readonly why: string;
  readonly score: number;
  readonly points: readonly { readonly signal: string; readonly points: number; readonly found: readonly string[] }[];
}

function sayPoints({ signal, points, found }: SelectedRow['points'][number]): string {
  return `${points > 0 ? '+' : ''}${points} ${signal} (${found.join(' ')})`;
}

/** Takes a setting back. */
const declared = 'declared';

function sayUsers(who: ToolView['who']): string {
  if (who === 'both') return 'models when a person lets the call begin';
  return who === 'person' ? 'admins' : 'models';
}

function renderTool(tool: ToolView, bold: (text: string) => string, dim: (text: string) => string): string {
  const facts = [
    `mode ${tool.mode}${tool.setting?.mode === undefined ? '' : ' (set)'}`,
    `for ${sayUsers(tool.who)}${tool.setting?.who === undefined ? '' : ' (set)'}`,
    `plugin ${tool.plugin}`,
    ...(tool.calls === undefined ? [] : [`called ${tool.calls} times`]),
    ...tool.flags,
    `a model may go on for ${tool.loopBudget.followUps} rounds`,
    ...tool.tags.map((tag) => `#${tag}`),
  ].join(', ');
  const schema = tame(JSON.stringify(tool.input, null, 2));
  const output = tool.output === undefined ? '' : `\n${bold('Output')}\n${tame(JSON.stringify(tool.output, null, 2))}\n`;
  const call = `hotcell call ${tool.name} ${formatWords(sampleArguments(tool))}`.trimEnd();
  return `${bold(tool.ref)}  ${dim(tame(facts))}\n${tame(tool.description)}\n\n${bold('Arguments')} ${dim(`(from ${tool.inputSource})`)}\n${schema}\n${output}\n${bold('Try it')}\n${tame(call)}\n`;
}
