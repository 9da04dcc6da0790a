import { goodPlugins } from './good-plugins.ts';
import type { BrokenPlugin } from './measure-repairs.ts';
import type { Behaviour, PluginTexts } from './workbench.ts';

type Change = readonly [find: string, replace: string] | ((text: string) => string);

/** One of the good plugins with a slip that people and models make; `of` names it, or one of its files. */
interface Slip {
  readonly what: string;
  readonly of: string;
  readonly change: Change;
}

const numbered = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line, index) => `${String(index + 1).padStart(3)} | ${line}`.trimEnd())
    .join('\n');

/** Slips that the fixers were written for. */
const known: readonly Slip[] = [
  { what: 'a Markdown fence', of: 'invoice.ts', change: (text) => `\`\`\`ts\n${text}\`\`\`\n` },
  {
    what: 'prose around a fence',
    of: 'words.ts',
    change: (text) => `Here is the plugin:\n\n\`\`\`typescript\n${text}\`\`\`\n\nIt works.\n`,
  },
  { what: 'line numbers', of: 'steps.ts', change: numbered },
  { what: 'the plus signs of a difference', of: 'invoice.ts', change: (text) => text.trimEnd().replace(/^/gm, '+') },
  { what: 'typographic quotes', of: 'table.js', change: (text) => text.replace(/'([^'\n]*)'/g, '‘$1’') },
  { what: 'entities of a web page', of: 'table.js', change: (text) => text.replaceAll('=>', '=&gt;').replaceAll('<', '&lt;') },
  {
    what: 'CommonJS in an ES module',
    of: 'steps.ts',
    change: ['export default {', 'export const steps = 2;\n\nmodule.exports = {'],
  },
  { what: 'a wrong folder', of: 'roman/index.ts', change: ["'./symbols.ts'", "'../lib/symbols.ts'"] },
  { what: 'a name of a file that is near', of: 'roman/index.ts', change: ["'./check-range.ts'", "'./check-rnage.ts'"] },
  { what: 'a misspelt hotcell', of: 'words.ts', change: ["'hotcell'", "'hotcel'"] },
  {
    what: 'a package for what is a global',
    of: 'invoice.ts',
    change: (text) =>
      `import fetch from 'isomorphic-fetch';\n${text.replace('let net = 0;', "let net = 0;\n    if (discount > 1000) await fetch('https://example.com');")}`,
  },
  { what: 'a key in other letters', of: 'table.js', change: ['  description:', '  Description:'] },
  { what: 'a version of two numbers', of: 'invoice.ts', change: ["'1.0.0'", "'1.0'"] },
  { what: 'a key that nobody reads', of: 'steps.ts', change: ["name: 'steps',", "name: 'steps',\n  author: 'somebody',"] },
  { what: 'a flag as text', of: 'invoice.ts', change: ["version: '1.0.0',", "version: '1.0.0',\n  isResearch: 'true',"] },
  { what: 'a number as text', of: 'invoice.ts', change: ["version: '1.0.0',", "version: '1.0.0',\n  timeoutMs: '5000',"] },
  { what: 'a plugin that is not exported', of: 'table.js', change: ['export default {', 'const plugin = {'] },
  { what: 'a constant that counts', of: 'table.js', change: ['(let index = 0;', '(const index = 0;'] },
  { what: 'words of Python', of: 'words.ts', change: ['stopWords.has(word));', 'stopWords.has(word) || False);'] },
  { what: 'await in a plain function', of: 'steps.ts', change: ['handler: async (args', 'handler: (args'] },
  { what: 'no arrow', of: 'invoice.ts', change: ['}: Arguments) => {', '}: Arguments) {'] },
  { what: 'no end', of: 'invoice.ts', change: (text) => text.replace(/\};\n$/, '') },
  { what: 'a default import of a name', of: 'roman/index.ts', change: ['import { checkRange }', 'import checkRange'] },
  {
    what: 'marks of a merge',
    of: 'invoice.ts',
    change: ["  version: '1.0.0',\n", "<<<<<<< HEAD\n  version: '1.0.0',\n=======\n  version: '1.1.0',\n>>>>>>> theirs\n"],
  },
  { what: 'a method in other letters', of: 'table.js', change: ['.padEnd(', '.padend('] },
  { what: 'a helper that is not there', of: 'invoice.ts', change: (text) => text.replace(/function round[^}]*\}\n/, '') },
  { what: 'the wrong sign', of: 'invoice.ts', change: ['(100 - discount)', '(100 + discount)'] },
];

/** Slips that nobody tried on the fixers before they were finished. */
const heldOut: readonly Slip[] = [
  { what: 'a misspelt export', of: 'invoice.ts', change: ['export default', 'expot default'] },
  { what: 'a misspelt async', of: 'words.ts', change: ['handler: async', 'handler: asnyc'] },
  { what: 'no comma between objects', of: 'roman/symbols.ts', change: ['value: 900 },', 'value: 900 }'] },
  { what: 'an open template', of: 'invoice.ts', change: ['in all`', 'in all'] },
  {
    what: 'parameters without parentheses',
    of: 'steps.ts',
    change: ['async (args: { value: number; label?: string }, context: Context) =>', 'async args, context =>'],
  },
  { what: 'a name with a space', of: 'table.js', change: ["name: 'table'", "name: 'my table!'"] },
  {
    what: 'tools as a list',
    of: 'words.ts',
    change: (text) => text.replace('tools: {', 'tools: [{').replace(/\n {2}\},\n\}\);/, '\n  }],\n});'),
  },
  { what: 'a misspelt global', of: 'invoice.ts', change: ['Math.round', 'Maht.round'] },
  {
    what: 'an if without parentheses',
    of: 'roman/check-range.ts',
    change: [
      'if (!Number.isInteger(value) || value < min || value > max) {',
      'if !Number.isInteger(value) || value < min || value > max {',
    ],
  },
  { what: 'no return', of: 'roman/index.ts', change: ['  return text;\n', ''] },
  {
    what: 'two defaults',
    of: 'table.js',
    change: (text) => `${text}export default { description: 'Another.', handler: () => 1 };\n`,
  },
  {
    what: 'signs of full width',
    of: 'table.js',
    change: ["{ type: 'array', items: { type: 'object' } }", "{ type： 'array'， items: { type: 'object' } }"],
  },
  { what: 'a misspelt property', of: 'table.js', change: ['rows.length', 'rows.legnth'] },
  { what: 'a colon for an equals sign', of: 'steps.ts', change: ['const done: string[] = [];', 'const done: string[] : [];'] },
  { what: 'a semicolon in an object', of: 'invoice.ts', change: ['  food: 7,', '  food: 7;'] },
  { what: 'a brace too many', of: 'roman/check-range.ts', change: (text) => `${text}}\n` },
  { what: 'a built-in that is misspelt', of: 'steps.ts', change: ["'node:crypto'", "'node:cripto'"] },
  { what: 'the description in other words', of: 'table.js', change: ['  description:', '  summary:'] },
  { what: 'a method of another language', of: 'words.ts', change: ['.toLowerCase()', '.lower()'] },
  {
    what: 'a permission that is misspelt',
    of: 'invoice.ts',
    change: ["version: '1.0.0',", "version: '1.0.0',\n  permissions: { nett: ['example.com'] },"],
  },
];

/** All that are written by hand; `behavioursOf` says what each good plugin does. */
export function listBrokenPlugins(behavioursOf: ReadonlyMap<string, readonly Behaviour[]>): BrokenPlugin[] {
  const toBroken = ({ what, of, change }: Slip, isHeldOut: boolean): BrokenPlugin => {
    const good = goodPlugins.find(({ files }) => files[of] !== undefined);
    if (good === undefined) throw new Error(`no plugin has the file ${of}`);
    const files: PluginTexts = { ...good.files, [of]: applyChange(good.files[of] ?? '', change) };
    return { name: `${good.name}: ${what}`, kind: 'by hand', files, behaviours: behavioursOf.get(good.name) ?? [], isHeldOut };
  };
  return [...known.map((slip) => toBroken(slip, false)), ...heldOut.map((slip) => toBroken(slip, true))];
}

function applyChange(text: string, change: Change): string {
  return typeof change === 'function' ? change(text) : text.replaceAll(change[0], change[1]);
}
