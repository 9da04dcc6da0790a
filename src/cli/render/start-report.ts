import { relative } from 'node:path';
import type { Config } from '../../config/config-types.ts';
import type { PluginView } from '../../plugins/plugin-types.ts';
import type { ToolEntry } from '../../tools/tool-types.ts';
import { formatWords, quoteForShell, sampleArguments } from '../calling/sample-arguments.ts';
import { renderDiagnostic } from './error.ts';
import { renderWarnings } from './live-event.ts';
import { describeNeed, paintState } from './plugin.ts';
import { type Style, tame } from './style.ts';
import { formatDuration } from './time-text.ts';

/** What a start led to. */
export interface StartReport {
  readonly url: string;
  readonly version: string;
  readonly config: Config;
  readonly cwd: string;
  readonly tookMs: number;
  readonly plugins: readonly PluginView[];
  readonly tools: readonly ToolEntry[];
  /** Why what looks like a plugin is none. */
  readonly passedOver: readonly string[];
  /** Questions that wait for a person. */
  readonly openQuestions: number;
}

const maxListed = 24;

/** What was loaded, what was not and why, where the daemon is, and what to paste to call the first tool. */
export function renderStartReport(report: StartReport, style: Style): string {
  const { url, version, plugins, tools, config, cwd, tookMs } = report;
  const broken = plugins.filter((plugin) => plugin.diagnostic !== undefined);
  const sound = plugins.filter((plugin) => plugin.diagnostic === undefined);
  const head = `${style.bold(`Hotcell ${version}`)}  ${style.cyan(url)}  ${style.dim(`ready in ${formatDuration(tookMs)}`)}\n`;
  const folders = config.pluginDirs.map((folder) => shorten(folder, cwd)).join(', ');
  const watched = `${style.dim(`watching ${folders}; data in ${shorten(config.dataDir, cwd)}`)}\n`;
  return [
    head,
    watched,
    '\n',
    ...listSound(sound, style),
    ...listBroken(broken, style),
    plugins.length === 0
      ? `  ${config.safe ? 'Safe start: no plugin is loaded.' : `No plugins yet. Make one: hotcell plugin new hello`}\n`
      : '',
    ...report.passedOver.slice(0, maxListed).map((reason) => `  ${style.yellow('!')} ${tame(reason)}\n`),
    ...inviteAnswer(report, style),
    ...inviteCall(tools, report, style),
  ].join('');
}

function listSound(plugins: readonly PluginView[], style: Style): string[] {
  const shown = plugins.slice(0, maxListed);
  const width = Math.max(0, ...shown.map(({ name, version }) => name.length + version.length + 1));
  const lines = shown.map((plugin) => {
    const mark = plugin.state === 'ready' ? style.green('✓') : style.yellow('○');
    const label = `${plugin.name} ${plugin.version}`.padEnd(width);
    return `  ${mark} ${label}  ${describeState(plugin, style)}\n${renderWarnings(plugin.warnings, style)}`;
  });
  if (plugins.length > shown.length)
    lines.push(style.dim(`  … and ${plugins.length - shown.length} more: hotcell plugin list\n`));
  return lines;
}

function describeState(plugin: PluginView, style: Style): string {
  if (plugin.state === 'ready')
    return style.dim(plugin.tools.length === 1 ? (plugin.tools[0] ?? '') : `${plugin.tools.length} tools`);
  const need = describeNeed(plugin);
  const state = paintState(plugin.state, style);
  return need === undefined ? state : `${state}, allow it: ${need}`;
}

function listBroken(plugins: readonly PluginView[], style: Style): string[] {
  const blocks = plugins.slice(0, maxListed).flatMap((plugin) => {
    if (plugin.diagnostic === undefined) return [];
    const serving = plugin.generation === undefined ? '' : ` (generation ${plugin.generation} keeps serving)`;
    const head = `\n${style.bold(plugin.name)} is ${paintState(plugin.state, style)}${serving}\n`;
    return [`${head}${renderDiagnostic(plugin.diagnostic, style)}`];
  });
  return plugins.length > maxListed
    ? [...blocks, style.dim(`\n… and ${plugins.length - maxListed} more: hotcell plugin list\n`)]
    : blocks;
}

function inviteAnswer({ openQuestions }: StartReport, style: Style): string[] {
  if (openQuestions === 0) return [];
  const waits = openQuestions === 1 ? '1 question waits' : `${openQuestions} questions wait`;
  return [`\n${style.yellow('?')} ${waits} for a person: hotcell approve\n`];
}

function inviteCall(tools: readonly ToolEntry[], { url, config, cwd }: StartReport, style: Style): string[] {
  // One that needs nothing granted and does nothing dangerous is the best to try first.
  const safest = tools.find(
    ({ manifest }) => !manifest.flags.isDangerous && !manifest.flags.isSideEffect && manifest.examples.length > 0,
  );
  const tool = safest ?? tools.find(({ source }) => source !== 'builtin');
  if (tool === undefined) return [];
  const args = sampleArguments(tool.manifest);
  const token = quoteForShell(shorten(`${config.dataDir}/token`, cwd));
  const body = quoteForShell(JSON.stringify({ arguments: args }));
  return [
    `\n${style.bold('Call a tool')}\n`,
    `  ${tame(`hotcell call ${tool.name} ${formatWords(args)}`.trimEnd())}\n`,
    `  ${tame(`curl -s ${url}/api/tools/${encodeURIComponent(tool.name)}/call -H "Authorization: Bearer $(cat ${token})" -H 'Content-Type: application/json' -d ${body}`)}\n\n`,
  ];
}

function shorten(path: string, cwd: string): string {
  const short = relative(cwd, path);
  return short === '' ? '.' : short.startsWith('..') ? path : short;
}
