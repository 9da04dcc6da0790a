import type { Caller } from '../../../callers/caller.ts';
import { omitUndefined, type Readable } from '../../../config/json-object.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { loopBudgetOf } from '../../../loop/loop-budget.ts';
import { seesTool } from '../../../tools/seen-by-callers.ts';
import type { SelectedTool } from '../../../tools/selection/select-tools.ts';
import { type OfferedCandidate, selectFor } from '../../../tools/selection/select-tools.ts';
import type { ToolEntry, ToolSetting } from '../../../tools/tool-types.ts';
import type { ToolUse } from '../../../tools/tool-uses.ts';
import { cutPage } from '../../contracts/paging.ts';
import { type ToolView, toolContracts } from '../../contracts/tools.ts';
import { implement, type Operation } from '../../operation.ts';
import type { OperationParts } from '../../operation-parts.ts';
import { createToolSeeker } from './missing-tool.ts';
import { createCallForOperation } from './tool-call.ts';

/** What can be done with tools. */
export function createToolOperations(parts: OperationParts): Operation[] {
  const { tools, offered, names, plugins, events, settings, switches, news } = parts;
  const seek = createToolSeeker(parts);
  const describe = (entry: ToolEntry, caller: Caller) => describeTool(entry, caller, parts.toolUses.useOf(entry));
  const callTool = createCallForOperation(parts);
  return [
    implement(toolContracts.list, (input, { caller }) => {
      const query = input.q?.toLowerCase();
      const listed = input.forModel ? offered.list(caller).filter((entry) => tools.resolve(entry.name) === entry) : tools.list();
      const entries = listed.filter((entry) => {
        if (!seesTool(caller, entry)) return false;
        if (input.mode !== undefined && entry.manifest.mode !== input.mode) return false;
        if (input.source !== undefined && entry.source !== input.source) return false;
        if (input.plugin !== undefined && entry.plugin !== input.plugin) return false;
        return query === undefined || mentions(entry, query);
      });
      const page = cutPage(
        entries.sort((a, b) => (refOf(a) < refOf(b) ? -1 : 1)),
        input,
        refOf,
      );
      return { ...page, items: page.items.map((entry) => describe(entry, caller)) };
    }),
    implement(toolContracts.get, ({ ref }, { caller }) =>
      seek(ref, { caller }, () =>
        describe(
          tools.resolve(ref, (entry) => seesTool(caller, entry)),
          caller,
        ),
      ),
    ),
    implement(toolContracts.own, async ({ name, plugin }, { caller }) => {
      const { name: owner, path: shown, tools: own, prompts = [], resources = [] } = plugins.get(plugin);
      const defined = [...own, ...prompts.map((each) => `prompt:${each}`), ...resources.map((each) => `resource:${each}`)];
      if (names.isReserved(name)) throw new HotcellError('conflict', `"${name}" is the name of a built-in tool, and stays so.`);
      if (!defined.includes(name)) {
        throw new HotcellError('conflict', `The plugin "${owner}" (${shown}) serves no tool "${name}".`, {
          fix: `See its tools: hotcell plugin info ${shown}.`,
        });
      }
      names.assign(name, plugins.pathOf(shown), caller.id);
      return { name, plugin: owner, path: shown };
    }),
    implement(toolContracts.update, ({ ref, ...change }, { caller }) =>
      seek(ref, { caller }, () => {
        const entry = tools.resolve(ref, (each) => seesTool(caller, each));
        const said = Object.entries(change).map(([key, value]) => `${key} ${value ?? 'as declared'}`);
        if (said.length === 0) return describe(entry, caller);
        settings.change(entry, change, caller.id);
        tools.applySettings(entry);
        news.note([refOf(entry)], [refOf(entry)]);
        events.publish('setting-change', { subject: refOf(entry), data: { setting: said.join(', '), by: caller.id } });
        return describe(tools.resolve(refOf(entry)), caller);
      }),
    ),
    implement(toolContracts.register, ({ replace = false, ...definition }, { caller }) => {
      parts.registered.register(definition, caller, replace);
      parts.grantQuestions.poke();
      events.publish('setting-change', { subject: definition.name, data: { setting: 'registered', by: caller.id } });
      return describe(tools.resolve(definition.name), caller);
    }),
    implement(toolContracts.unregister, ({ ref }, { caller }) => {
      const entry = tools.resolve(ref, (each) => seesTool(caller, each));
      if (entry.source !== 'registered') {
        throw new HotcellError(
          'conflict',
          `"${refOf(entry)}" was not registered: it is of the ${entry.source} "${entry.plugin}".`,
          {
            fix: `Switch it off with hotcell tool set ${entry.name} --mode off, or remove its plugin.`,
          },
        );
      }
      settings.change(entry, { mode: null, who: null }, caller.id);
      parts.registered.remove(entry.name);
      parts.grantQuestions.poke();
      events.publish('setting-change', { subject: refOf(entry), data: { setting: 'removed', by: caller.id } });
      return { ref: refOf(entry) };
    }),
    implement(toolContracts.select, ({ context: text, background, provider, limit }, { caller }) => {
      const { shown, passedOver, total } = selectFor(parts, caller, { text, background, provider }, limit);
      return {
        tools: shown.map((each) => ({
          ...describeScored(each),
          mode: each.tool.mode,
          why: each.why,
          description: each.tool.entry.manifest.description,
        })),
        passedOver: passedOver.slice(0, maxPassedOver).map(describeScored),
        total,
      };
    }),
    implement(toolContracts.switch, (change, { caller }) => {
      for (const name of ['enabled', 'custom'] as const) {
        const isOn = change[name];
        if (isOn === undefined || isOn === switches.isOn(name)) continue;
        switches.turn(name, isOn, caller.id);
        const data = { setting: `${name} ${isOn ? 'on' : 'off'}`, by: caller.id };
        events.publish('setting-change', { subject: 'tools', data });
      }
      return { enabled: switches.isOn('enabled'), custom: switches.isOn('custom') };
    }),
    implement(toolContracts.call, (input, context) =>
      callTool({ ...input, arguments: input.arguments ?? {}, isBuiltinOnly: input.builtinsOnly }, context, (request, call) =>
        seek(input.ref, request, call),
      ),
    ),
  ];
}

/** What is told of tools that are not shown. */
const maxPassedOver = 10;

function describeScored({ tool, score, points }: Omit<SelectedTool<OfferedCandidate>, 'why'>) {
  return { ref: refOf(tool.entry), name: tool.entry.name, score, points };
}

function refOf(entry: ToolEntry): string {
  return `${entry.name}@${entry.version}`;
}

function mentions(entry: ToolEntry, query: string): boolean {
  const { description, tags } = entry.manifest;
  return [entry.name, description, ...tags].some((text) => text.toLowerCase().includes(query));
}

function describeTool(entry: ToolEntry, caller: Caller, use: ToolUse | undefined): Readable<ToolView> {
  const { manifest } = entry;
  const { usage, task, timeoutMs, output } = manifest;
  return {
    ref: refOf(entry),
    name: entry.name,
    version: entry.version,
    description: manifest.description,
    ...omitUndefined({ usage, task, timeoutMs, output }),
    source: entry.source,
    plugin: entry.plugin,
    ...(entry.isSecond ? { byVersionOnly: true as const } : {}),
    mode: manifest.mode,
    who: manifest.who ?? 'model',
    ...(entry.setting === undefined ? {} : { setting: describeSetting(entry.setting, caller) }),
    tags: manifest.tags,
    flags: Object.entries(manifest.flags)
      .filter(([, isSet]) => isSet)
      .map(([flag]) => flag),
    idempotent: manifest.idempotent,
    loopBudget: loopBudgetOf([manifest]),
    input: manifest.input,
    inputSource: manifest.inputSource,
    // What other callers do is not told to callers.
    ...(caller.role === 'admin' ? { calls: use?.calls ?? 0 } : {}),
    ...(caller.role === 'admin' && use !== undefined ? { lastUsedAtMs: use.lastUsedAtMs } : {}),
    examples: manifest.examples,
  };
}

function describeSetting({ setBy, setAtMs, ...set }: ToolSetting, { role }: Caller): NonNullable<ToolView['setting']> {
  return { ...set, ...(role === 'admin' ? { by: setBy } : {}), atMs: setAtMs };
}
