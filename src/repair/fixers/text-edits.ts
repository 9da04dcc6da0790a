import { join } from 'node:path';
import type { PluginFault, TextEdit } from '../../typescript/check-types.ts';
import type { Diagnosis } from '../diagnosis/diagnosis.ts';
import type { Change, FileChange, FixerParts, TextFile } from './fixer.ts';

/** Files of which the syntax is wrong: more are looked at once these are mended. */
const maxFiles = 2;

/** A text that a failure speaks of. */
export interface FaultyText extends TextFile {
  /** What the language says against it, in order. */
  readonly faults: readonly PluginFault[];
}

/** A change that puts one text in the place of another. */
export function edit(start: number, length: number, newText: string): TextEdit {
  return { start, length, newText };
}

/** The files with faults that `isMeant`, each with these. */
export function faultyTexts(diagnosis: Diagnosis, isMeant: (fault: PluginFault) => boolean): FaultyText[] {
  return [...diagnosis.sources].flatMap(([path, text]) => {
    const faults = (diagnosis.typeErrors ?? []).filter((fault) => fault.file === path && isMeant(fault));
    return faults.length === 0 ? [] : [{ path, text, faults }];
  });
}

/** The file that the failure names with its text and where in it the failure is; the entry where it names none. */
export function failingText({ failure, plugin, sources }: Diagnosis) {
  const named = failure.file === undefined ? undefined : join(plugin.source.root.path, failure.file);
  const path = named !== undefined && sources.has(named) ? named : plugin.source.realEntry;
  const text = sources.get(path);
  if (text === undefined) return undefined;
  const at = failure.line === undefined ? undefined : offsetOf(text, failure.line, failure.column ?? 1);
  return { path, text, at };
}

/** Where a line and a column, counted from 1, stand in a text. */
export function offsetOf(text: string, line: number, column: number): number {
  let start = 0;
  for (let number = 1; number < line; number++) start = text.indexOf('\n', start) + 1 || text.length;
  return Math.min(start + column - 1, text.length);
}

/** The line around a place: where it begins and ends, without the line break. */
export function lineAt(text: string, at: number) {
  const start = text.lastIndexOf('\n', at - 1) + 1;
  const newline = text.indexOf('\n', at);
  const end = newline === -1 ? text.length : newline;
  return { start, end, text: text.slice(start, end) };
}

/** The text with all edits made; they must not overlap. */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  return [...edits]
    .sort((a, b) => b.start - a.start)
    .reduce((before, { start, length, newText }) => before.slice(0, start) + newText + before.slice(start + length), text);
}

/**
 * Changes of the first files with such faults, which are those of the syntax unless something else is said; `find` is told the first
 * fault of each.
 */
export async function findPerFile(
  diagnosis: Diagnosis,
  find: (faulty: FaultyText, fault: PluginFault) => Promise<readonly Change[]>,
  isMeant: (fault: PluginFault) => boolean = ({ isSyntax }) => isSyntax,
): Promise<FileChange[]> {
  const changes = faultyTexts(diagnosis, isMeant)
    .slice(0, maxFiles)
    .map(async (file) => {
      const [fault] = file.faults;
      return fault === undefined ? [] : (await find(file, fault)).map((change) => ({ ...change, file }));
    });
  return (await Promise.all(changes)).flat();
}

/**
 * Of some changes of one text those that leave it without a fault of syntax. Where all leave some, because more than one thing is
 * wrong, those that leave the fewest, and none of them is sure.
 */
export async function keepParsing<Kept extends Pick<Change, 'edits' | 'sureness'>>(
  { checker, signal }: FixerParts,
  { path: name, text }: TextFile,
  changes: readonly Kept[],
): Promise<Kept[]> {
  if (changes.length === 0) return [];
  const variants = [[], ...changes.map(({ edits }) => [...edits].sort((a, b) => b.start - a.start))];
  const [before = 0, ...after] = await checker.parse({ name, text, variants }, { callerId: 'repair', signal });
  const fewest = Math.min(...after);
  if (fewest >= before) return [];
  const kept = changes.filter((_, index) => after[index] === fewest);
  return fewest === 0 ? kept : kept.map((change) => ({ ...change, sureness: 'maybe', isPart: true }));
}
