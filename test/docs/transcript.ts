/** One command of a `console` block with the output that the page shows. */
export interface Step {
  readonly command: string;
  readonly output: string;
}

/** Reads a transcript: `$ command`, `> continued`, then its output. */
export function readSteps(text: string): Step[] {
  const steps: { command: string; output: string }[] = [];
  for (const line of text.split('\n')) {
    const step = steps.at(-1);
    if (line.startsWith('$ ')) steps.push({ command: line.slice(2), output: '' });
    else if (step === undefined) throw new Error(`a console block begins with "$ ", not with "${line}"`);
    else if (line.startsWith('> ') && step.output === '') step.command += `\n${line.slice(2)}`;
    else step.output += `${line}\n`;
  }
  return steps;
}

/** What differs from run to run, by name: both sides are brought to the same word before they are compared. */
const wildcards: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['<address>', /127\.0\.0\.1:\d+/g],
  ['<time>', /(?:\d{4}-\d\d-\d\d[ T])?\d\d:\d\d:\d\d(?:\.\d+Z)?/g],
  ['<duration>', /\d+(?:\.\d+)? m?s\b/g],
  ['"<durationMs>"', /(?<="durationMs": ?)\d+(?:\.\d+)?/g],
  ['<ms>', /\b1\d{12}\b/g],
  ['<id>', /\b(?:exe|apr|key|sub|flt|rep)_[\w-]{8,}/g],
  ['<key>', /\bhck_[\w-]{20,}/g],
  ['<hash>', /\b(?=[0-9a-f]*\d)[0-9a-f]{12,64}\b/g],
  ['<version>', /(?<=Hotcell )\d+\.\d+\.\d+/g],
];

/** Says how output differs from what a page shows; undefined when it does not. `…` stands for any text of a line, alone for any lines. */
export function findDifference(shown: string, actual: string): string | undefined {
  const expected = normalize(shown);
  const got = normalize(actual);
  const pattern = expected
    .split('\n')
    .map((line) => (line.trim() === '…' ? '(?:[^\\n]*\\n)*?' : `${line.split('…').map(escapePattern).join('[^\\n]*')}\\n`))
    .join('');
  if (new RegExp(`^${pattern}$`).test(`${got}\n`)) return undefined;
  return `the page shows\n${expected}\nbut it is\n${got}\n`;
}

function normalize(text: string): string {
  const named = wildcards.reduce((result, [name, pattern]) => result.replace(pattern, name), text);
  return named
    .split('\n')
    .map((line) => line.replace(/(?<=\S) {2,}/g, ' ').trimEnd())
    .join('\n')
    .trim();
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
