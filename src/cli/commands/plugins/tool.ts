import type { Command } from 'commander';
import type { Static } from 'typebox';
import { isObject, omitUndefined } from '../../../config/json-object.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { findJsonFault } from '../../../errors/json-fault.ts';
import { type ToolView, toolContracts } from '../../../operations/contracts/tools.ts';
import { formatWords, sampleArguments } from '../../calling/sample-arguments.ts';
import { tame } from '../../render/style.ts';
import { renderTable } from '../../render/table.ts';
import type { CliSession } from '../../session.ts';
import { addClientCommand, addListing, addOperation } from '../command.ts';

const toolArgument = { '<ref>': 'name, name@version or name@range' } as const;
/** Takes a setting back. */
const declared = 'declared';

/** Adds `hotcell tool …`. */
export function registerTool(program: Command, session: CliSession): void {
  const tool = program.command('tool');
  const { style, io } = session;

  addListing(tool, session, {
    name: 'list',
    about: 'list the tools that can be called',
    arguments: { '[query]': 'only those that mention this' },
    reach: 'alone',
    contract: toolContracts.list,
    input: ({ query: q }) => omitUndefined({ q }),
    empty: ({ query }) => (query === undefined ? 'No tools.\n' : `No tool mentions "${query}".\n`),
    columns: [
      { head: 'TOOL', text: (row) => row.ref, paint: style.bold },
      { head: 'MODE', text: (row) => row.mode },
      { head: 'PLUGIN', text: (row) => (row.byVersionOnly ? `${row.plugin} (by version only)` : row.plugin) },
      { head: 'ABOUT', text: (row) => row.description },
    ],
    before({ items, total, next }) {
      if (next !== undefined) session.note(`${total - items.length} more; narrow it down with a query.\n`);
    },
  });

  addOperation(tool, session, {
    name: 'own',
    about: 'give the bare name of a tool to one of the plugins that define it',
    arguments: { '<name>': 'of the tool, without a version; or prompt:NAME, resource:URI', '<plugin>': 'its name or path' },
    contract: toolContracts.own,
    show: ({ path }, { name }) => `${style.bold(name)} is the tool of ${tame(path)}.\n`,
  });

  addOperation(tool, session, {
    name: 'set',
    about: 'set the mode of a tool, or who uses it, over what it declares; kept over restarts',
    arguments: toolArgument,
    options: {
      '--mode <mode>': { about: 'whether models see it', choices: ['on', 'off', 'auto', declared] },
      '--who <who>': { about: 'who calls it', choices: ['model', 'person', 'both', declared] },
    },
    reach: 'keeps',
    contract: toolContracts.update,
    input({ ref, mode, who }) {
      if (mode === undefined && who === undefined) throw new HotcellError('usage-wrong', 'Say what to set: --mode or --who.');
      return omitUndefined({ ref, mode: mode === declared ? null : mode, who: who === declared ? null : who });
    },
    show: ({ ref, mode, who }) => `${style.bold(ref)}  mode ${mode}, for ${sayUsers(who)}\n`,
  });

  addOperation(tool, session, {
    name: 'switch',
    about: 'turn all tools (enabled) or all but the built-in ones (custom) off and on again',
    arguments: { '<what>': { about: '', choices: ['enabled', 'custom'] }, '<state>': { about: '', choices: ['on', 'off'] } },
    reach: 'keeps',
    contract: toolContracts.switch,
    input: ({ what, state }) => ({ [what]: state === 'on' }),
    show({ enabled, custom }) {
      const rest = custom ? 'tools are on' : 'only built-in tools are on';
      return enabled ? `${rest}\n` : 'all tools are off\n';
    },
  });

  addOperation(tool, session, {
    name: 'select',
    about: 'tell which tools a model would be shown for a request, and why',
    arguments: { '<request>': 'what the model is asked' },
    options: {
      '--background <reason>': 'why the request is made, where nobody waits for it',
      '--provider <name>': 'whose model it is, such as anthropic',
      '--limit <tools>': { about: 'tools in mode auto at most', range: [0, 1000] },
    },
    reach: 'alone',
    contract: toolContracts.select,
    input: ({ request: context, background, provider, limit }) => omitUndefined({ context, background, provider, limit }),
    show({ tools, passedOver }) {
      const rows = [...tools, ...passedOver.map((each) => ({ ...each, why: 'not shown' }))];
      type Row = (typeof rows)[number];
      const columns = [
        { head: 'TOOL', text: (row: Row) => row.ref, paint: style.bold },
        { head: 'WHY', text: (row: Row) => row.why },
        { head: 'SCORE', text: (row: Row) => String(row.score) },
        { head: 'POINTS', text: (row: Row) => row.points.map(sayPoints).join(', ') },
      ];
      return renderTable(rows, columns, io.columns);
    },
  });

  addClientCommand(tool, session, {
    name: 'register',
    about: 'register a tool that a service carries out, or another name for a tool: its definition as JSON on standard input',
    options: { '--replace': 'put it in the place of an earlier one' },
    reach: 'keeps',
    run: async ({ replace, json }, client) => {
      const definition = readDefinition(await io.readStdin());
      const view = await client.invoke(toolContracts.register, { ...definition, ...omitUndefined({ replace }) });
      if (json) return session.printJson(view);
      // Another name for a tool asks for nothing.
      const isService = isObject(definition.handler) && 'url' in definition.handler;
      const next = isService ? `; what it asks for: hotcell approve ${view.plugin}` : '.';
      session.print(`${style.bold(view.ref)} is registered${next}\n`);
    },
  });

  addOperation(tool, session, {
    name: 'remove',
    about: 'take a registered tool out, with its grants',
    arguments: { '<ref>': 'name of the tool' },
    reach: 'keeps',
    contract: toolContracts.unregister,
    show: ({ ref }) => `${style.bold(ref)} is gone.\n`,
  });

  addOperation(tool, session, {
    name: 'info',
    about: 'show one tool with its schema and examples',
    arguments: toolArgument,
    reach: 'alone',
    contract: toolContracts.get,
    show: (view) => renderTool(view, style.bold, style.dim),
  });
}

/** Whether it fits, the daemon says. */
function readDefinition(text: string): Static<typeof toolContracts.register.input> {
  if (text.trim() === '') throw new HotcellError('usage-wrong', 'Expected the definition on standard input, got nothing.');
  const fault = findJsonFault(text);
  if (fault !== undefined) {
    const { line, column, found } = fault;
    throw new HotcellError('usage-wrong', `The definition is not JSON: line ${line}, column ${column}, has ${found}.`);
  }
  return JSON.parse(text);
}

type Points = Static<typeof toolContracts.select.output>['tools'][number]['points'][number];

function sayPoints({ signal, points, found }: Points): string {
  return `${points > 0 ? '+' : ''}${points} ${signal} (${found.join(' ')})`;
}

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
