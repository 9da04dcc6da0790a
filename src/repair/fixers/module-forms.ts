import type { Change, Fixer } from './fixer.ts';
import { blankTexts } from './scan-brackets.ts';
import { edit, failingText } from './text-edits.ts';

const codes: ReadonlySet<string> = new Set(['load-failed', 'export-missing', 'compile-failed']);

/** Forms of modules that do not go together: CommonJS in an ES module, and a plugin that is not exported. */
export const mendModuleForms: Fixer = (diagnosis) => {
  const entry = diagnosis.sources.get(diagnosis.plugin.source.realEntry);
  const failing = failingText(diagnosis);
  if (!codes.has(diagnosis.failure.code) || entry === undefined || failing === undefined) return [];
  const { message } = diagnosis.failure;
  const faulty = { path: diagnosis.plugin.source.realEntry, text: entry };
  const missing = diagnosis.failure.code === 'export-missing';
  const exporting = missing ? exportPlugin(entry, message) : undefined;
  const converted = /\b(?:module|exports|require)\b/.test(message) || missing ? toModule(failing.text) : undefined;
  return [
    ...(exporting === undefined ? [] : [{ ...exporting, file: faulty }]),
    ...(converted === undefined ? [] : [{ ...converted, file: failing }]),
  ];
};

/** `module.exports = x` becomes `export default x`, `exports.x = ` an export, and `require` an import. */
function toModule(text: string): Change | undefined {
  const blank = blankTexts(text);
  const mains = Array.from(blank.matchAll(/^(?:module\.exports|exports)\s*=(?![=>])\s*/gm));
  const named = Array.from(blank.matchAll(/^(?:module\.)?exports\.([\w$]+)\s*=(?![=>])\s*/gm));
  const required = Array.from(
    text.matchAll(/^(?:const|let|var)\s+([\w$]+|\{[\w$\s,:]{1,300}\})\s*=\s*require\(\s*(['"][^'"\n]+['"])\s*\);?/gm),
  );
  const used = Array.from(blank.matchAll(/\b(?:module\.exports|exports|require)\b/g)).length;
  if (used === 0 || mains.length > 1 || /^export default\b/m.test(blank) === mains.length > 0) return undefined;
  const edits = [
    ...mains.map(({ 0: found, index }) => edit(index, found.length, 'export default ')),
    ...named.map(({ 0: found, 1: name, index }) =>
      edit(index, found.length, name === 'default' ? 'export default ' : `export const ${name} = `),
    ),
    ...required.map(({ 0: found, 1: names = '', 2: from, index }) =>
      edit(index, found.length, `import ${names.replace(/\s*:\s*/g, ' as ')} from ${from};`),
    ),
  ];
  const isWhole = mains.length + named.length + required.length === used;
  const note = 'The module was written as CommonJS; it is an ES module now.';
  return { edits, note, sureness: isWhole ? 'sure' : 'maybe' };
}

/** Exports the only object that looks like a plugin. */
function exportPlugin(text: string, message: string): Change | undefined {
  if (!/exports (?:nothing|[\w$, ]+, and no default)/.test(message)) return undefined;
  const blank = blankTexts(text);
  const found = Array.from(blank.matchAll(/^(?:export )?(?:const|let|var) ([\w$]+)[^=\n]{0,200}= *(?:definePlugin\( *)?\{/gm));
  const plugins = found.filter(({ index }) => /^\s+(?:handler|tools)\b/m.test(statementAt(blank, index)));
  const [only] = plugins;
  const bare = /^(?:\(\{|definePlugin\(\{)/gm;
  const statements = Array.from(blank.matchAll(bare)).filter(({ index }) =>
    /^\s+(?:handler|tools)\b/m.test(statementAt(blank, index)),
  );
  if (plugins.length === 1 && only?.[1] !== undefined) {
    const end = text.trimEnd().length;
    const edits = [edit(end, 0, `\n\nexport default ${only[1]};`)];
    return { edits, note: `The plugin "${only[1]}" was not exported.`, sureness: 'sure' };
  }
  const [statement] = statements;
  if (plugins.length > 0 || statements.length !== 1 || statement === undefined) return undefined;
  return { edits: [edit(statement.index, 0, 'export default ')], note: 'The plugin was not exported.', sureness: 'sure' };
}

/** From a place at the beginning of a line to the next line that begins like a statement of the module. */
function statementAt(blank: string, start: number): string {
  const end = blank.slice(start).search(/\n(?=[\w@])/);
  return end === -1 ? blank.slice(start) : blank.slice(start, start + end);
}
