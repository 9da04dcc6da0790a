import type { PermissionSet } from '../../config/permission-set.ts';
import { isNothing } from '../../permissions/decision.ts';
import { describeGrantCommand } from '../../permissions/permission-words.ts';
import type { PluginView } from '../../plugins/plugin-types.ts';
import type { TextCheck } from '../../plugins/supervisor-types.ts';
import { renderDiagnostic } from './error.ts';
import { type Style, tame } from './style.ts';
import { renderFacts } from './table.ts';
import { formatDuration, formatTime } from './time-text.ts';

/** The state of a plugin in its colour. */
export function paintState(state: string, style: Style): string {
  if (state.startsWith('ready')) return style.green(state);
  if (/^(failed|degraded|quarantined)/.test(state)) return style.red(state);
  return /^(pending-grant|loading)/.test(state) ? style.yellow(state) : style.dim(state);
}

/** What is to be known of a plugin first: its health or its repair, then what is wrong with it or what it is. */
export function describePlugin({ repair, health, diagnostic, shape, description }: PluginView): string {
  const about = diagnostic?.message ?? (shape === undefined ? description : `${description} (${shape})`.trimStart());
  if (health?.outcome === 'failed') return `[health check failed] ${about}`;
  return repair?.id === undefined ? about : `[repair ${repair.state}: hotcell repair show ${repair.id}] ${about}`;
}

/** One plugin in full. */
export function renderPlugin(plugin: PluginView, style: Style): string {
  const { permissions } = plugin;
  const facts: [string, string | undefined][] = [
    ['state', paintState(plugin.state, style)],
    ['generation', plugin.generation === undefined ? 'none serves' : `${plugin.generation} by ${plugin.author ?? 'operator'}`],
    ['engine', `${plugin.engine}, isolation ${plugin.isolation}`],
    ['instead of', plugin.climbed && `${plugin.climbed.from}: ${tame(plugin.climbed.reason)}`],
    ['shape', plugin.shape && `${tame(plugin.shape)}, made a plugin of as it is`],
    ['path', tame(plugin.path)],
    ['tools', plugin.tools.join(', ') || 'none'],
    ['prompts', plugin.prompts?.join(', ')],
    ['resources', plugin.resources?.map(tame).join(', ')],
    ['loaded', plugin.loadedAtMs === undefined ? undefined : formatTime(plugin.loadedAtMs)],
    ['last reload', plugin.lastReloadMs === undefined ? undefined : formatDuration(plugin.lastReloadMs)],
    [`requested (${permissions.source})`, formatPermissions(permissions.requested)],
    ['granted', formatPermissions(permissions.granted)],
    ['pending', formatPermissions(permissions.pending)],
    ['repair', plugin.repair && tame(`${plugin.repair.id ?? ''} ${plugin.repair.state}: ${plugin.repair.reason}`.trim())],
    ['health', plugin.health && tame(`${plugin.health.outcome} at ${formatTime(plugin.health.atMs)}. ${plugin.health.detail}`)],
    ['used in 30 days', permissions.used?.map(({ permission }) => tame(permission)).join(' ') || undefined],
    ['never used', permissions.neverUsed?.map(tame).join(' ') || undefined],
    ['to allow it', describeNeed(plugin)],
    ...plugin.warnings.map((warning): [string, string] => ['warning', style.yellow(tame(warning))]),
  ];
  const head = `${style.bold(tame(`${plugin.name} ${plugin.version}`))}\n${tame(plugin.description)}\n\n`;
  const tail = plugin.diagnostic === undefined ? '' : `\n${renderDiagnostic(plugin.diagnostic, style)}`;
  return `${head}${renderFacts(facts, style)}${tail}`;
}

/** What would come of a text as a plugin. */
export function renderCheck(check: TextCheck, style: Style): string {
  const { diagnostic, permissions } = check;
  if (diagnostic !== undefined) return renderDiagnostic(diagnostic, style);
  const what = `${check.name} ${check.version ?? ''} would serve ${check.tools?.join(', ') || 'no tool'}`;
  const change = check.changed ? '' : ', and it is what serves now';
  const pending = permissions && !isNothing(permissions.pending) ? formatPermissions(permissions.pending) : undefined;
  const asks = pending === undefined ? [] : [`  ${style.yellow('!')} It would ask for ${pending}`];
  const warnings = (check.warnings ?? []).map((warning) => `  ${style.yellow('!')} ${tame(warning)}`);
  return [`${style.green('✓')} ${tame(what)}${change}.`, ...asks, ...warnings, ''].join('\n');
}

/** The command that grants what is pending; undefined when nothing is. */
export function describeNeed({ name, permissions }: Pick<PluginView, 'name' | 'permissions'>): string | undefined {
  return isNothing(permissions.pending) ? undefined : tame(describeGrantCommand(name, permissions.pending));
}

/** Permissions as `net=api.example.com kv`. */
export function formatPermissions(set: PermissionSet): string {
  const words = Object.entries(set).map(([key, value]) => {
    if (value === true) return key;
    if (Array.isArray(value)) return `${key}=${value.join(',')}`;
    return `${key}=${typeof value === 'object' ? JSON.stringify(value) : String(value)}`;
  });
  return words.length === 0 ? 'nothing' : tame(words.join(' '));
}
