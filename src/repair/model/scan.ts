/** What a text reaches for, or reads like, by the words under which a person is told of it. */
const reaches: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['the host', /\b(?:https?|wss?):\/\/([^\s/'"`?#\\${}]+)/gi],
  // A name alone in a text, of which an address may be made.
  ['the host', /['"`]([a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,24}(?::\d+)?)['"`]/gi],
  ['the address', /\b(\d{1,3}(?:\.\d{1,3}){3})\b/g],
  ['the import', /\b(?:from|import|require)\s*(?:\(\s*)?['"`]([^'"`\n]+)['"`]/g],
  ['an import of what is put together at run time', /\b(?:import|require)\s*\(\s*(?!(['"])[^'"\n]{0,200}\1\s*[,)])/g],
  ['an import behind a comment', /\b(?:from|import|require)\s*\/[*/]/g],
  ['the tool', /\btools\s*(?:\?\.|\.)\s*call\s*\(\s*['"`]([^'"`\n]+)['"`]/g],
  // So are the tools that are handed on, or called by what stands for `call`.
  [
    'a tool that is chosen at run time',
    /\btools\b(?!\s*:)(?!\s*(?:\?\.|\.)\s*call\s*\(\s*(?:'[^'\n]{0,200}'|"[^"\n]{0,200}")\s*[,)])/g,
  ],
  // The context may have any name, or be taken apart.
  ['the capability', /(?:\?\.|(?<!\.)\.)\s*(fetch|files|env|llm|run|tools|agent|browser|confirm|ask)\b/g],
  ['the capability', /[{,]\s*(files|env|llm|run|tools|agent|browser|confirm|ask)\s*(?=[,}=]|:\s*\w+\s*[,}=])/g],
  ['the capability', /\[\s*['"`](files|env|llm|run|tools|agent|browser|confirm|ask)['"`]\s*\]/g],
  ['a name that is put together at run time', /\[\s*['"`][^\]\n]{0,200}['"`]\s*[+.]|\[\s*`[^\]\n]{0,200}\$\{/g],
  ['the capability', /\b(fetch|WebSocket|XMLHttpRequest|process|Deno|Bun)\b(?!\s*:)/g],
  [
    'code that is made at run time',
    /\beval\b|\bFunction\s*\(|\bReflect\b|\bconstructor\b|\bfromCharCode\b|\batob\s*\(|\bWebAssembly\b/g,
  ],
  [
    'words that are meant for a model',
    /\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:previous|prior|above|earlier|all|any)\b.{0,40}\b(?:instruction|prompt|rule|message)s?\b|\bsystem prompt\b|<\/?(?:system|important|instructions?)>|\b(?:do not|don't|never) (?:tell|inform|mention)\b.{0,40}\buser\b/gi,
  ],
  ['letters that are written as numbers', /\\x[0-9a-f]{2}|\\u\{?[0-9a-f]{2,6}/gi],
  [
    'the setting',
    /^[^\S\n]*['"]?(permissions|isolation|engine|limits|timeoutMs|isDangerous|isElevated|isSideEffect|mode|retries|idempotent)['"]?\s*:/gm,
  ],
];

/** Words of code that a proposal takes out where it does away with what fails instead of mending it. */
const branches: readonly (readonly [word: string, pattern: RegExp])[] = [
  'if',
  'throw',
  'case',
  'return',
  'await',
  'for',
  'while',
].map((word) => [word, new RegExp(`\\b${word}\\b`, 'g')] as const);

/** Names of all kinds: a change that has fewer of them does less, and often not what failed. */
const names = /\b[a-z_$][\w$]*/gi;

/** What keeps a failure from being seen instead of mending it. */
const silencers =
  /\bcatch\b|\bfinally\b|\ballSettled\b|\.then\s*\([^;]{0,200}=>[^;]{0,200},[^;]{0,200}=>|@ts-(?:ignore|nocheck|expect-error)/g;

/** More of these end a call before it comes to what failed. */
const ends = /\b(?:return|throw|break|continue)\b/g;

/** Ways to make a text of others: a host, a tool or a name may be among them. */
const joints = [/['"`]\s*\+|\+\s*['"`]/g, /\$\{/g, /\.\s*(?:join|concat|replace|replaceAll|reverse|padStart|padEnd)\s*\(/g];

/** Parts of a plugin that say whether it works, what it may do and what models read of it, in whichever of its tools they stand. */
const settled = [
  ...['examples', 'healthcheck', 'onStart', 'onReload', 'description', 'usage', 'permissions', 'isolation', 'engine', 'limits'],
  ...[
    'timeoutMs',
    'isDangerous',
    'isElevated',
    'isSideEffect',
    'isDeep',
    'isParallelSafe',
    'mode',
    'who',
    'retries',
    'idempotent',
  ],
] as const;

/**
 * What a person has to look at before a text of a model takes the place of another: what it reaches for that the old one did not, what
 * it takes out, and changes of its own checks. It says too much rather than too little.
 */
export function listAsks(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  const old = [...before.values()].join('\n');
  const now = [...new Map([...before, ...after]).values()].join('\n');
  const known = new Set(listReaches(old));
  const taken = branches.flatMap(([word, pattern]) => (count(now, pattern) < count(old, pattern) ? [word] : []));
  return [
    ...listReaches(now).filter((reach) => !known.has(reach)),
    ...(taken.length === 0 ? [] : [`it takes out code: ${taken.join(', ')}`]),
    ...(taken.length === 0 && count(now, names) < count(old, names) ? ['it does less than before'] : []),
    ...([...now.matchAll(silencers)].length > [...old.matchAll(silencers)].length ? ['it silences failures'] : []),
    ...(count(now, ends) > count(old, ends) ? ['it ends sooner than before'] : []),
    ...(joints.some((joint) => count(now, joint) > count(old, joint)) ? ['it puts a text together at run time'] : []),
    ...settled.filter((name) => blocksOf(old, name) !== blocksOf(now, name)).map((name) => `it changes its own ${name}`),
  ].slice(0, 40);
}

/** Names that people take for one another are the same: no case, no marks between words, no `1` and `0` for letters. */
export function looksOf(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.]/g, '').replaceAll(/[1i]/g, 'l').replaceAll('0', 'o');
}

/** What a text reaches for: of a plugin that is new, all of it is to be looked at. */
export function listReaches(text: string): string[] {
  const code = withoutComments(text);
  const found = reaches.flatMap(([what, pattern]) =>
    [...code.matchAll(pattern)].map(([, name]) => (name === undefined ? what : `${what} ${name.slice(0, 200)}`)),
  );
  return [...new Set(found)].sort();
}

function count(text: string, pattern: RegExp): number {
  // A mark of a comment in a text makes it less, which is told rather than overlooked.
  return [...text.replace(/\/\*(?:[^*]|\*(?!\/))*(?:\*\/|$(?![\s\S]))|(?<!:)\/\/.*$/gm, '').matchAll(pattern)].length;
}

/** Comments at the beginning of a line only: a mark of a comment inside a text would hide what follows it. */
function withoutComments(text: string): string {
  return text.replace(/^[^\S\n]*\/\/.*$/gm, '');
}

/** Every text that begins with a word, up to the end of what the word is given; white space does not count. */
function blocksOf(text: string, name: string): string {
  const word = new RegExp(`\\b${name}\\b`, 'g');
  const blocks: string[] = [];
  for (let found = word.exec(text); found !== null; found = word.exec(text)) {
    const end = findEnd(text, found.index);
    blocks.push(text.slice(found.index, end).replace(/\s+/g, ''));
    word.lastIndex = Math.max(end, word.lastIndex);
  }
  return blocks.join('\n');
}

function findEnd(text: string, from: number): number {
  let depth = 0;
  for (let index = from; index < text.length; index++) {
    const letter = text[index] ?? '';
    if ('([{'.includes(letter)) depth += 1;
    if (')]}'.includes(letter)) depth -= 1;
    if (depth < 0 || (depth === 0 && ',;'.includes(letter))) return index;
  }
  return text.length;
}
