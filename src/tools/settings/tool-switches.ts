import type { Config } from '../../config/config-types.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { ToolSwitchTable } from '../../store/tables/tools.ts';

/** `enabled` is the master switch; without `custom` nothing but the built-in tools of the daemon runs. */
export type ToolSwitch = 'enabled' | 'custom';

/** The switches for all tools at once. A switch is on when neither the config nor an operator turned it off. */
export type ToolSwitches = ReturnType<typeof createToolSwitches>;

/** Opens the switches. */
export function createToolSwitches(parts: {
  readonly config: Pick<Config, 'tools'>;
  readonly table: ToolSwitchTable;
  readonly now: () => number;
}) {
  const { config, table, now } = parts;
  const off = new Set(table.list().map(({ name }) => name));
  return {
    isOn: (name: ToolSwitch): boolean => config.tools[name] && !off.has(name),
    /** Kept over restarts. Throws `conflict` when the config has it off: no door turns on what the config turned off. */
    turn(name: ToolSwitch, isOn: boolean, by: string): void {
      if (isOn) {
        if (!config.tools[name]) {
          throw new HotcellError('conflict', `tools.${name} is false in the config, which no door overrules.`, {
            fix: `Set tools.${name} to true in the config; a running daemon takes it over.`,
          });
        }
        table.remove(name);
        off.delete(name);
        return;
      }
      if (off.has(name)) return;
      table.put({ name, setBy: by, setAtMs: now() });
      off.add(name);
    },
  };
}
