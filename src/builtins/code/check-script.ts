import { HotcellError } from '../../errors/hotcell-error.ts';
import type { ToolEntry } from '../../tools/tool-types.ts';
import type { TypeDiagnostic } from '../../typescript/check-types.ts';
import type { TypeChecker } from '../../typescript/checker.ts';
import { declareForScript } from './declare-tools.ts';

const scriptFile = 'script.ts';
const maxShown = 5;
const maxLineChars = 200;

/** What is no fault of a script: it says less of its types than a program would, or may meet a value that is not there. */
const tolerated: ReadonlySet<number> = new Set([2531, 2532, 2533, 2722, 6133, 18046, 18047, 18048, 18049]);
const impliedAny = 7053;

/**
 * Checks the script of a model against the tools that it may call, and makes JavaScript of it: the text of an async function. Throws
 * `code-invalid` with what is wrong, where, and what was probably meant.
 */
export async function checkScript(
  { code, tools }: { readonly code: string; readonly tools: readonly ToolEntry[] },
  checker: Pick<TypeChecker, 'check'>,
  by: { readonly callerId: string; readonly signal: AbortSignal },
): Promise<string> {
  const files = [
    // The script begins on the second line of its file.
    { name: scriptFile, text: `async function script() {\n${code}\n}` },
    { name: 'tools.d.ts', text: declareForScript(tools, code) },
  ];
  const { diagnostics, javascript } = await checker.check({ files, emit: scriptFile }, by);
  const faults = diagnostics.filter(({ file, code: number, message }) => file === scriptFile && isFault(number, message));
  // One that is written anew begins with what the guest says before it.
  if (faults.length === 0 && javascript !== undefined) return javascript.replace(/^"use strict";\n/, '');
  throw new HotcellError('code-invalid', sayFaults(faults, code.split('\n')), {
    fix: 'Mend it and call run_code again. See what a tool takes with search_code.',
  });
}

function isFault(code: number, message: string): boolean {
  if (tolerated.has(code)) return false;
  // A name that is worked out may be any; one that stands in the text must be there.
  if (code === impliedAny) return /expression of type '"/.test(message);
  return code < 7000 || code >= 7100;
}

function sayFaults(faults: readonly TypeDiagnostic[], lines: readonly string[]): string {
  const shown = faults.slice(0, maxShown).map(({ line, column, code, message }) => {
    const own = Math.min(Math.max(1, line - 1), lines.length);
    const text = lines[own - 1]?.trim().slice(0, maxLineChars) ?? '';
    return `line ${own}:${column}: ${message} (TS${code})${text === '' ? '' : `\n  > ${text}`}`;
  });
  const more = faults.length > maxShown ? `\n${faults.length - maxShown} more.` : '';
  return `The script was not run: its types do not fit.\n${shown.join('\n')}${more}`;
}
