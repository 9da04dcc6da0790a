import { builtinAliases } from '../builtins/builtins.ts';
import type { NameRegistry } from '../names/name-registry.ts';
import { createToolRegistry, type ToolRegistry } from '../tools/registry.ts';
import { createToolSettings, type ToolSettings } from '../tools/settings/tool-settings.ts';
import { createToolSwitches, type ToolSwitches } from '../tools/settings/tool-switches.ts';
import { createOfferedTools, type OfferedTools } from '../tools/shown-to-models.ts';
import { createToolUses, type ToolUses } from '../tools/tool-uses.ts';
import { createToolsNews, type ToolsNews } from '../tools/tools-news.ts';
import type { Foundation } from './foundation.ts';

/** All tools, and what operators lay down for them while the daemon runs. */
export interface Tools {
  readonly registry: ToolRegistry;
  readonly settings: ToolSettings;
  readonly switches: ToolSwitches;
  readonly news: ToolsNews;
  readonly toolUses: ToolUses;
  /** What of it models are told. */
  readonly offered: OfferedTools;
}

/** Opens the registry and what is kept about its tools. */
export function openTools({ config, closers, store, events }: Foundation, names: NameRegistry): Tools {
  const settings = createToolSettings({ table: store.toolSettings, now: Date.now });
  const switches = createToolSwitches({ config, table: store.toolSwitches, now: Date.now });
  const news = createToolsNews(events);
  closers.push(() => news.flush());
  const toolUses = createToolUses({ table: store.toolUses, now: Date.now });
  closers.push(() => toolUses.close());
  const registry = createToolRegistry({ names, settings, aliases: builtinAliases });
  return { registry, settings, switches, news, toolUses, offered: createOfferedTools({ registry, switches }) };
}
