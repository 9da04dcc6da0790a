import type { Diagnosis } from '../diagnosis/diagnosis.ts';
import type { FileChange, Fixer, TextFile } from './fixer.ts';
import { edit, failingText } from './text-edits.ts';
import { isOneSlip } from './typescript-fixes.ts';

/** What these say decides what a plugin may do: nothing is put there, taken out or renamed. */
const untouched: ReadonlySet<string> = new Set([
  'permissions',
  'isolation',
  'engine',
  'limits',
  'isDangerous',
  'isElevated',
  'who',
]);
const literal = /^(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|-?\d[\d_.]*|true|false|\[[^\]\n[]*\])(?=\s*[,;}\n])/;

/** Keys and values of the manifest that are written in another way than they are read. */
export const mendManifest: Fixer = (diagnosis) => {
  const failing = failingText(diagnosis);
  if (diagnosis.failure.code !== 'manifest-invalid' || failing === undefined) return [];
  const { message } = diagnosis.failure;
  const key = /^Unknown keys?:? "([\w$.-]+)"/.exec(message)?.[1];
  if (key !== undefined) return mendKey(diagnosis, failing, key);
  const [, path, expected = '', value] = /^"([\w$.-]+)" must be (.*), but is ("(?:[^"\\]|\\.)*"|[\w.-]+)\.$/s.exec(message) ?? [];
  const name = path?.split('.').at(-1);
  if (name === undefined || value === undefined || untouched.has(path?.split('.')[0] ?? '') || untouched.has(name)) return [];
  const change = mendValue(expected, value);
  if (change === undefined) return [];
  return findKey(failing, name).flatMap(({ valueAt }) => {
    const written = literal.exec(failing.text.slice(valueAt, valueAt + 2000))?.[0];
    if (written === undefined) return [];
    const { text: newText, sureness } = change;
    const note = `"${path}" must be ${expected}: it is ${newText} now.`;
    return [{ file: failing, edits: [edit(valueAt, written.length, newText)], note, sureness }];
  });
};

interface Failing extends TextFile {
  readonly at: number | undefined;
}

/** Where the failing key and its value stand: at the place that the failure names, else where the text has it only once. */
function findKey({ text, at }: Failing, name: string): { keyAt: number; valueAt: number; isShort: boolean }[] {
  const exported = `\\s*(?::[^=\\n]{1,60})?=\\s*`;
  const word = name.replace(/[$.-]/g, '\\$&');
  const pattern = new RegExp(
    `(?<![\\w$.])(['"]?)${word}\\1(\\s*:\\s*|\\s*(?=[,}(]))|(?<=^export const )${word}${exported}`,
    'gm',
  );
  const found = Array.from(text.matchAll(pattern)).map(({ 0: whole, 1: quote = '', 2: rest = '', index }) => ({
    keyAt: index + quote.length,
    valueAt: index + whole.length,
    isShort: !/[:=]/.test(rest + whole) && !/^\s*\(/.test(text.slice(index + whole.length, index + whole.length + 20)),
  }));
  const named = found.filter(({ keyAt, valueAt }) => at !== undefined && at <= valueAt && at >= keyAt - 8);
  return named.length > 0 ? named.slice(0, 1) : found.length === 1 ? found : [];
}

function mendKey({ failure: { message } }: Diagnosis, failing: Failing, path: string): FileChange[] {
  const name = path.split('.').at(-1) ?? path;
  const hint = message.slice(message.indexOf(`"${path}"`) + path.length + 2).split(/" "|\. "/)[0] ?? '';
  const meant = / (?:Did you mean|Here it is called) "([\w$]+)"/.exec(hint)?.[1];
  return findKey(failing, name).flatMap(({ keyAt, valueAt, isShort }) => {
    if (meant === undefined) return moveToMetadata(failing, name, keyAt, valueAt, path.includes('.'));
    if (untouched.has(meant)) return [];
    const isCertain = hint.includes('Here it is called') || (!hint.includes(' or ') && isSameWord(name, meant));
    const edits = [edit(keyAt, name.length, isShort ? `${meant}: ${name}` : meant)];
    return [{ file: failing, edits, note: `"${name}" is called "${meant}".`, sureness: isCertain ? 'sure' : 'maybe' }];
  });
}

function isSameWord(written: string, meant: string): boolean {
  const plain = (word: string) => word.toLowerCase().replace(/[_-]/g, '');
  return plain(written) === plain(meant) || isOneSlip(written.toLowerCase(), meant.toLowerCase());
}

/** Nobody reads the key, so it means the same where anything may stand. */
function moveToMetadata(file: TextFile, name: string, keyAt: number, valueAt: number, isInner: boolean): FileChange[] {
  const { text } = file;
  const value = literal.exec(text.slice(valueAt, valueAt + 2000))?.[0];
  if (value === undefined || isInner) return [];
  const note = `No tool reads "${name}": it stands in "metadata" now.`;
  const pair = `${name}: ${value}`;
  const there = /(?<![\w$.])metadata\s*:\s*\{ ?/.exec(text);
  const length = valueAt + value.length - keyAt;
  if (there === null) return [{ file, edits: [edit(keyAt, length, `metadata: { ${pair} }`)], note, sureness: 'sure' }];
  const comma = /^\s*,[ \t]*\n?[ \t]*/.exec(text.slice(valueAt + value.length))?.[0].length ?? 0;
  const edits = [edit(there.index + there[0].length, 0, `${pair}, `), edit(keyAt, length + comma, '')];
  return [{ file, edits, note, sureness: 'sure' }];
}

function mendValue(expected: string, value: string): { text: string; sureness: 'sure' | 'maybe' } | undefined {
  const said = value.startsWith('"') ? value.slice(1, -1) : value;
  if (expected.startsWith('a semantic version')) {
    const [, major, minor = '0', patch = '0'] = /^[vV=]?\s*(\d{1,6})(?:\.(\d{1,6}))?(?:\.(\d{1,6}))?$/.exec(said) ?? [];
    return major === undefined ? undefined : { text: `'${[major, minor, patch].map(Number).join('.')}'`, sureness: 'sure' };
  }
  if (expected === 'true or false' && /^(?:true|false)$/i.test(said)) return { text: said.toLowerCase(), sureness: 'sure' };
  if (expected.startsWith('a whole number') && /^\d[\d_]*$/.test(said))
    return { text: said.replaceAll('_', ''), sureness: 'sure' };
  if (expected.startsWith('a name of')) {
    const name = said
      .trim()
      .replace(/[^\w-]+/g, '_')
      .replace(/^_+|_+$/g, '')
      .slice(0, 64);
    return name === '' ? undefined : { text: `'${name}'`, sureness: 'maybe' };
  }
  const choices = Array.from(expected.matchAll(/"([\w-]+)"/g), ([, choice = '']) => choice);
  const choice = choices.find((each) => isSameWord(said, each));
  return choice === undefined ? undefined : { text: `'${choice}'`, sureness: 'sure' };
}
