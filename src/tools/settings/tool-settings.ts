import type { ToolUsers } from '../../config/settings/builtin-settings.ts';
import type { ToolSettingTable } from '../../store/tables/tools.ts';
import type { ToolMode } from '../../units/tool-manifest.ts';
import type { ToolEntry, ToolSetting } from '../tool-types.ts';

/** A change of a setting: what is absent stays, null takes it back. */
export interface SettingChange {
  readonly mode?: ToolMode | null;
  readonly who?: ToolUsers | null;
}

const modes: readonly ToolMode[] = ['on', 'off', 'auto'];
const users: readonly ToolUsers[] = ['model', 'person', 'both'];

/** What operators set for single tools, kept over restarts. It belongs to the unit (its path) and the name of the tool. */
export type ToolSettings = ReturnType<typeof createToolSettings>;

/** Opens the settings. */
export function createToolSettings({ table, now }: { readonly table: ToolSettingTable; readonly now: () => number }) {
  const settingsByPath = new Map<string, Map<string, ToolSetting>>();
  for (const { path, tool, mode, who, setBy, setAtMs } of table.list()) {
    keep(path, tool, join(readChoice(modes, mode), readChoice(users, who), { setBy, setAtMs }));
  }

  function keep(path: string, tool: string, setting: ToolSetting | undefined): void {
    const settings = settingsByPath.get(path) ?? new Map<string, ToolSetting>();
    if (setting === undefined) settings.delete(tool);
    else settings.set(tool, setting);
    if (settings.size === 0) settingsByPath.delete(path);
    else settingsByPath.set(path, settings);
  }

  return {
    /** The entry as it is set now; the same object where nothing changed. */
    applyTo(entry: ToolEntry): ToolEntry {
      const setting = settingsByPath.get(entry.served.unit.path)?.get(entry.name);
      if (setting === entry.setting) return entry;
      const { setting: _before, declared = entry.manifest, ...rest } = entry;
      if (setting === undefined) return { ...rest, manifest: declared };
      const { mode = declared.mode, who = declared.who } = setting;
      return { ...rest, manifest: { ...declared, mode, ...(who === undefined ? {} : { who }) }, declared, setting };
    },
    /** Holds at once; whoever keeps entries must apply it. */
    change({ name, served }: ToolEntry, change: SettingChange, by: string): void {
      const { path } = served.unit;
      const before = settingsByPath.get(path)?.get(name);
      const mode = change.mode === undefined ? before?.mode : (change.mode ?? undefined);
      const who = change.who === undefined ? before?.who : (change.who ?? undefined);
      const setting = join(mode, who, { setBy: by, setAtMs: now() });
      // Written first: what is not kept does not hold either.
      if (setting === undefined) table.remove(path, name);
      else table.put({ path, tool: name, mode: mode ?? null, who: who ?? null, setBy: by, setAtMs: setting.setAtMs });
      keep(path, name, setting);
    },
  };
}

function join(
  mode: ToolMode | undefined,
  who: ToolUsers | undefined,
  by: Pick<ToolSetting, 'setBy' | 'setAtMs'>,
): ToolSetting | undefined {
  if (mode === undefined && who === undefined) return undefined;
  return { ...by, ...(mode === undefined ? {} : { mode }), ...(who === undefined ? {} : { who }) };
}

function readChoice<Choice extends string>(choices: readonly Choice[], text: string | null): Choice | undefined {
  return choices.find((choice) => choice === text);
}
