import { findNearNames } from '../../errors/near-names.ts';
import type { CodeFix } from '../../typescript/check-types.ts';
import type { Diagnosis } from '../diagnosis/diagnosis.ts';
import type { Sureness } from '../repair.ts';
import type { FileChange, Fixer } from './fixer.ts';

/**
 * The code fixes of TypeScript that mend; each says how sure it is. What stubs, silences or installs something is barred by not being
 * named: fixMissingFunctionDeclaration, addMissingMember, inferFromUsage, disableJsDiagnostics, installTypesPackage.
 */
const allowed: Readonly<Record<string, Sureness>> = {
  import: 'sure',
  spelling: 'sure',
  nearMember: 'sure',
  fixImportNonExportedMember: 'sure',
  fixAwaitInSyncFunction: 'sure',
  fixConvertConstToLet: 'sure',
  fixExpectedComma: 'sure',
  fixPropertyAssignment: 'sure',
  addMissingAwait: 'maybe',
  addMissingAsync: 'maybe',
  addMissingNewOperator: 'maybe',
  addMissingConst: 'maybe',
  forgottenThisPropertyAccess: 'maybe',
  extendsInterfaceBecomesImplements: 'maybe',
  constructorForDerivedNeedSuperCall: 'maybe',
  fixNoPropertyAccessFromIndexSignature: 'maybe',
};

/** Names that a module or an object does not have: what was written is read from there, and was a slip. */
const misspelt: ReadonlySet<number> = new Set([2551, 2552, 2561, 2724, 2304, 2339, 2353]);
const maxProposals = 12;

/** What TypeScript itself offers for an error of syntax or types, as far as the list above allows it. */
export const takeTypescriptFixes: Fixer = async (diagnosis, { checker, signal }) => {
  if ((diagnosis.typeErrors ?? []).length === 0) return [];
  const files = [...diagnosis.sources].map(([name, text]) => ({ name, text }));
  const request = { files, packageDirs: diagnosis.packageDirs, fixNames: Object.keys(allowed) };
  const { fixes } = await checker.inspect(request, { callerId: 'repair', signal });
  return fixes.slice(0, maxProposals).flatMap((fix) => propose(diagnosis, fix, fixes));
};

function propose({ sources, typeErrors = [] }: Diagnosis, fix: CodeFix, all: readonly CodeFix[]): FileChange[] {
  const { fixName, description, fault, file: path, edits } = fix;
  const text = sources.get(path);
  if (text === undefined) return [];
  const rivals = all.filter((other) => other.fault.start === fault.start && other.fault.file === fault.file);
  const isOnly = rivals.length === 1 || rivals.every((other) => other.fixName !== fixName || other === fix);
  const isSpelling = fixName === 'spelling' || fixName === 'nearMember';
  const isCertain = isSpelling ? isSlip(text, fix) : allowed[fixName] === 'sure' || isLostAwait(fix, rivals);
  // Where the syntax is wrong in several places, one of them may be the cause of the other.
  const isAlone = !fault.isSyntax || typeErrors.filter(({ isSyntax, file }) => isSyntax && file === path).length === 1;
  const isSure = isCertain && isAlone && (isOnly || isLostAwait(fix, rivals));
  const note = `Line ${fault.line}: ${description}.`;
  return [{ file: { path, text }, edits, note, sureness: isSure ? 'sure' : 'maybe' }];
}

/** A promise has no such member, and what it becomes has: nobody meant the promise. */
function isLostAwait({ fixName, fault }: CodeFix, rivals: readonly CodeFix[]): boolean {
  const isOfPromise = fault.code === 2339 && / on type 'Promise</.test(fault.message);
  return fixName === 'addMissingAwait' && isOfPromise && rivals.every((rival) => rival.fixName === fixName);
}

/** Two names that differ by one slip of the fingers: no other is written so. */
function isSlip(text: string, { fault, edits }: CodeFix): boolean {
  const [only] = edits;
  if (only === undefined || edits.length > 1 || !misspelt.has(fault.code)) return false;
  return isOneSlip(text.slice(only.start, only.start + only.length), only.newText);
}

/** Whether two words differ by one letter more, less or other, or by two that changed places; short words may be two words. */
export function isOneSlip(written: string, meant: string): boolean {
  if (Math.min(written.length, meant.length) < 4 || Math.abs(written.length - meant.length) > 1) return false;
  // A number at the end, a plural and a first letter tell names apart on purpose.
  const [long, short] = written.length > meant.length ? [written, meant] : [meant, written];
  if (/\d/.test(written + meant) || (long.startsWith(short) && /[sS]$/.test(long))) return false;
  if (written[0]?.toLowerCase() !== meant[0]?.toLowerCase()) return false;
  // Near names of three letters are those that one edit parts.
  return findNearNames(written.slice(0, 64), [meant.slice(0, 64)]).length === 1 && countDifferences(written, meant) <= 1;
}

/** How many slips part two words, counted from both ends: what is left in the middle is one letter, or two that changed places. */
function countDifferences(a: string, b: string): number {
  let start = 0;
  while (start < Math.min(a.length, b.length) && a[start] === b[start]) start++;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const [left, right] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  if (left.length <= 1 && right.length <= 1) return 1;
  return left.length === 2 && left === [...right].reverse().join('') ? 1 : 2;
}
