import { isDeepStrictEqual } from 'node:util';
import type { Command } from 'commander';
import type { CallAnswer } from '../../../calls/call-types.ts';
import type { Client } from '../../../client/client.ts';
import { isObject } from '../../../config/json-object.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { pluginContracts } from '../../../operations/contracts/plugins.ts';
import { type ToolView, toolContracts } from '../../../operations/contracts/tools.ts';
import { formatWords } from '../../calling/sample-arguments.ts';
import { exitCodeFor, exitCodes } from '../../exit-codes.ts';
import { renderDiagnostic, renderExecutionError } from '../../render/error.ts';
import { formatDuration } from '../../render/time-text.ts';
import type { CliSession } from '../../session.ts';
import { addClientCommand } from '../command.ts';

interface ExampleResult {
  readonly tool: string;
  readonly args: unknown;
  readonly ok: boolean;
  readonly answer: CallAnswer;
  readonly expected?: unknown;
}

/** Adds `hotcell plugin test`: runs the examples of a plugin; works without a daemon. */
export function registerPluginTest(plugin: Command, session: CliSession): void {
  addClientCommand(plugin, session, {
    name: 'test',
    about: 'run the examples of one plugin; works without a daemon too',
    arguments: { '<name>': 'name, name@version or path of the plugin' },
    reach: 'alone',
    run: ({ name, json }, client) => testPlugin(session, client, name, json),
  });
}

async function testPlugin(session: CliSession, client: Client, name: string, asJson = false): Promise<void> {
  const view = await client.invoke(pluginContracts.get, { name });
  if (view.diagnostic !== undefined) session.note(renderDiagnostic(view.diagnostic, session.style));
  const results: ExampleResult[] = [];
  for (const tool of view.tools) {
    // Another plugin may have a tool of this name with a higher version.
    const ref = tool.includes('@') ? tool : `${tool}@${view.version}`;
    results.push(...(await runExamples(client, ref)));
  }
  const failed = results.filter((result) => !result.ok).length;
  if (failed > 0 || view.tools.length === 0) session.exitCode = exitCodes.failed;
  if (asJson) return session.printJson({ items: results, total: results.length, failed });
  for (const result of results) showResult(session, result);
  session.print(summarize(results.length, failed));
}

async function runExamples(client: Client, ref: string): Promise<ExampleResult[]> {
  const tool: ToolView = await client.invoke(toolContracts.get, { ref });
  const results: ExampleResult[] = [];
  for (const example of tool.examples) {
    const args = isObject(example.args) ? example.args : {};
    const answer = await callExample(client, ref, args);
    const expects = 'expect' in example;
    const ok = answer.status === 'success' && (!expects || isDeepStrictEqual(answer.output, example.expect));
    results.push({ tool: tool.name, args, ok, answer, ...(expects ? { expected: example.expect } : {}) });
  }
  return results;
}

/** Arguments that do not fit, and everything else that is refused, is the result of this one example. */
async function callExample(client: Client, ref: string, args: Record<string, unknown>): Promise<CallAnswer> {
  try {
    return await client.invoke(toolContracts.call, { ref, arguments: args });
  } catch (error) {
    if (!(error instanceof HotcellError) || isAboutAll(error)) throw error;
    const { code, message, fix } = error;
    return { executionId: '', status: 'error', error: { code, message, fix }, durationMs: 0 };
  }
}

/** No other example would come to another end. */
function isAboutAll({ code }: HotcellError): boolean {
  return exitCodeFor(code) === exitCodes.unreachable;
}

function showResult({ style, print }: CliSession, { tool, args, ok, answer, expected }: ExampleResult): void {
  const words = isObject(args) ? formatWords(args) : '';
  const shown = words.length > 60 ? `${words.slice(0, 59)}…` : words;
  print(`${ok ? style.green('✓') : style.red('✗')} ${tool} ${style.dim(shown)} (${formatDuration(answer.durationMs)})\n`);
  if (ok) return;
  if (answer.error !== undefined) print(renderExecutionError(answer.error, style));
  else print(`  expected ${JSON.stringify(expected)}\n  got      ${JSON.stringify(answer.output)}\n`);
}

function summarize(total: number, failed: number): string {
  if (total === 0) return 'No examples. Add some: examples: [{ args: {…}, expect: … }]\n';
  return `${total - failed} of ${total} examples pass.\n`;
}
