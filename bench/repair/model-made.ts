import type { BrokenPlugin } from './measure-repairs.ts';
import type { Behaviour } from './workbench.ts';

/** What models hand over, with several things wrong at once: each with what it has to do, written by hand. */
interface ModelMade {
  readonly what: string;
  readonly file: string;
  readonly text: string;
  readonly behaviours: readonly Behaviour[];
}

const made: readonly ModelMade[] = [
  {
    what: 'prose, a fence, and a key in other words',
    file: 'area.ts',
    text: `Sure! Here's the tool you asked for. It computes "areas" – let me know if it's OK:

\`\`\`typescript
export default {
  summary: 'Computes the area of a rectangle.',
  handler: async ({ width, height }: { width: number; height: number }) => {
    return { area: width * height };
  },
};
\`\`\`

**Notes:** don't forget to reload.
`,
    behaviours: [{ args: { width: 3, height: 4 }, expect: { area: 12 } }],
  },
  {
    what: 'two fences, of which one is an example of its use',
    file: 'greet.ts',
    text: `\`\`\`ts
export default {
  description: 'Greets.',
  handler: ({ name }: { name: string }) => 'Hello ' + name,
};
\`\`\`

Use it like this:

\`\`\`ts
await call('greet', { name: 'Ada' });
\`\`\`
`,
    behaviours: [{ args: { name: 'Ada' }, expect: 'Hello Ada' }],
  },
  {
    what: 'smart quotes around a text that has some of its own',
    file: 'quote.ts',
    text: `export default {
  description: “Puts a text into quotes.”,
  handler: ({ text }: { text: string }) => {
    const open = '“';
    const close = "”";
    return open + text + close + ‘!’;
  },
};
`,
    behaviours: [{ args: { text: 'it’s' }, expect: '“it’s”!' }],
  },
  {
    what: 'an enum with slips in it',
    file: 'level.ts',
    text: `enum Level {
  Low = 1
  Middle = 2,
  High = 3,
}

export default {
  descripton: 'Says how high a number is.',
  handler: ({ value }: { value: number }) => {
    const level = value > 10 ? Level.High : value > 5 ? Level.Middle : Level.Low;
    return Level[level];
  },
};
`,
    behaviours: [
      { args: { value: 7 }, expect: 'Middle' },
      { args: { value: 11 }, expect: 'High' },
    ],
  },
  {
    what: 'a class with a decorator, and no end',
    file: 'tally.ts',
    text: `function logged(target: any, context: ClassMethodDecoratorContext) {
  return target;
}

class Tally {
  count = 0;

  @logged
  add(by: number) {
    this.count += by;
    return this.count;
  }
}

export default {
  description: 'Adds numbers up.',
  handler: ({ numbers }: { numbers: number[] }) => {
    const tally = new Tally();
    for (const number of numbers) tally.add(number);
    return tally.count;
  },
}
}
`,
    behaviours: [{ args: { numbers: [1, 2, 3] }, expect: 6 }],
  },
  {
    what: 'await at the top level of a function that is not async',
    file: 'later.ts',
    text: `const base = await Promise.resolve(40);

function compute(extra: number) {
  const sum = await Promise.resolve(base + extra);
  return sum;
}

export default {
  description: 'Adds later.',
  handler: async ({ extra }: { extra: number }) => ({ sum: await compute(extra) }),
};
`,
    behaviours: [{ args: { extra: 2 }, expect: { sum: 42 } }],
  },
  {
    what: 'half of a text, cut in the middle of a call',
    file: 'half.ts',
    text: `export default {
  description: 'Joins.',
  handler: ({ words, glue }: { words: string[]; glue: string }) => {
    const clean = words.map((word) => word.trim()).filter((word) => word !== '');
    const joined = clean.join(glue);
    return { joined, count: clean.length, first: clean.at(
`,
    behaviours: [{ args: { words: ['a ', ' b'], glue: '-' }, expect: { joined: 'a-b', count: 2, first: 'a' } }],
  },
  {
    what: 'a function as the plugin, under a name',
    file: 'double.ts',
    text: `/** Doubles a number. */
export const double = {
  description: 'Doubles a number.',
  handler: ({ value }: { value: number }) => value * 2,
};
const plugin = { name: 'double', version: '1', description: 'Doubles a number.', handler: double.handler };
module.exports = plugin;
`,
    behaviours: [{ args: { value: 4 }, expect: 8 }],
  },
  {
    what: 'the same function twice',
    file: 'twice.ts',
    text: `function clean(text: string): string {
  return text.trim().toLowerCase();
}

function clean(text: string): string {
  return text.trim().toLowerCase();
}

export default {
  description: 'Cleans.',
  handler: ({ text }: { text: string }) => clean(text),
};
`,
    behaviours: [{ args: { text: ' AbC ' }, expect: 'abc' }],
  },
  {
    what: 'two constants of one name with other values',
    file: 'rates.ts',
    text: `const rate = 7;
const rate = 19;

export default {
  description: 'Tax of a price.',
  handler: ({ price }: { price: number }) => (price * rate) / 100,
};
`,
    behaviours: [{ args: { price: 100 }, expect: 19 }],
  },
  {
    what: 'tabs, carriage returns, a byte order mark, and a lost comma',
    file: 'lines.ts',
    text: `\ufeffexport default {\r\n\tdescription: 'Counts lines.'\r\n\thandler: ({ text }: { text: string }) => {\r\n\t\tconst lines = text.split('\\n');\r\n\t\treturn lines.length;\r\n\t},\r\n};\r\n`,
    behaviours: [{ args: { text: 'a\nb\nc' }, expect: 3 }],
  },
  {
    what: 'a fence with carriage returns and a lost brace',
    file: 'fence.ts',
    text: '```ts\r\nexport default {\r\n  description: "Adds.",\r\n  handler: ({ a, b }: { a: number; b: number }) => {\r\n    return a + b;\r\n  ,\r\n};\r\n```\r\n',
    behaviours: [{ args: { a: 1, b: 2 }, expect: 3 }],
  },
  {
    what: 'a slip in a built-in, one in a short member, and a word of Python',
    file: 'python.ts',
    text: `import { createHash } from 'node:cripto';

export default {
  description: 'Makes an id of words.',
  handler: ({ words }: { words: string[] }) => {
    const text = words.joim('-');
    const isLong = text.length > 3 ? True : False;
    return { id: createHash('md5').update(text).digest('hex').slice(0, 6), isLong };
  },
};
`,
    behaviours: [{ args: { words: ['a', 'b'] }, expect: { id: '8ca2ed', isLong: false } }],
  },
  {
    what: 'no await on what the host answers, in JavaScript',
    file: 'later-js.js',
    text: `const load = async (list) => list.map((item) => item * 2);

export default {
  description: 'Doubles a list.',
  handler: async ({ list }) => {
    const doubled = load(list);
    return doubled.reduce((sum, item) => sum + item, 0);
  },
};
`,
    behaviours: [{ args: { list: [1, 2] }, expect: 6 }],
  },
  {
    what: 'no await on an own function',
    file: 'own.ts',
    text: `async function load(list: number[]): Promise<number[]> {
  return list.map((item) => item * 2);
}

export default {
  description: 'Doubles a list.',
  handler: async ({ list }: { list: number[] }) => {
    const doubled = load(list);
    return doubled.reduce((sum, item) => sum + item, 0);
  },
};
`,
    behaviours: [
      { args: { list: [1, 2] }, expect: 6 },
      { args: { list: [] }, expect: 0 },
    ],
  },
  {
    what: 'random ids of a package',
    file: 'ids.ts',
    text: `import { v4 as uuidv4 } from 'uuid';

export default {
  description: 'Makes ids.',
  handler: ({ count }: { count: number }) => Array.from({ length: count }, () => uuidv4()).map((id) => id.length);
};
`,
    behaviours: [{ args: { count: 2 }, expect: [36, 36] }],
  },
  {
    what: 'a built-in that is not used, in JavaScript',
    file: 'unused.js',
    text: `const fs = require('fs');
const path = require('path');

module.exports = {
  description: 'Joins a path.',
  handler: ({ parts }) => path.join(...parts),
};
`,
    behaviours: [{ args: { parts: ['a', '..', 'b'] }, expect: 'b' }],
  },
  {
    what: 'a handler that is exported beside the rest',
    file: 'parts.ts',
    text: `export const name = 'parts';
export const description = 'Reverses a text.';
export const handler = async ({ text }: { text: string }) => [...text].reverse().join('');
export const metadata = { author: 'model' }
export const version = '1.0';
`,
    behaviours: [{ args: { text: 'abc' }, expect: 'cba' }],
  },
  {
    what: 'JSX where there is none',
    file: 'markup.ts',
    text: `export default {
  description: 'Writes a heading.',
  handler: ({ title }: { title: string }) => <h1>{title}</h1>,
};
`,
    behaviours: [{ args: { title: 'A' }, expect: '<h1>A</h1>' }],
  },
  {
    what: 'remarks of the model between the lines',
    file: 'remarks.ts',
    text: `export default {
  description: 'Greatest of some numbers.',
  handler: ({ numbers }: { numbers: number[] }) => {
    // ... existing code ...
    const sorted = [...numbers].sort((a, b) => b - a);
    ...
    return sorted[0];
  },
};
`,
    behaviours: [{ args: { numbers: [3, 9, 2] }, expect: 9 }],
  },
  {
    what: 'a type where a value has to be',
    file: 'typed.ts',
    text: `interface Options { limit: number }
const defaults = Options { limit: 3 };

export default {
  description: 'Takes the first of a list.',
  handler: ({ list }: { list: string[] }) => list.slice(0, defaults.limit),
};
`,
    behaviours: [{ args: { list: ['a', 'b', 'c', 'd'] }, expect: ['a', 'b', 'c'] }],
  },
  {
    what: 'a smart apostrophe in a text, and one that ends it',
    file: 'apostrophe.ts',
    text: `export default {
  description: 'It’s a polite word.',
  handler: ({ name }: { name: string }) => {
    const word = 'don’t mention it, ' + name;
    return word + ‘.’
  },
};
`,
    behaviours: [{ args: { name: 'Bo' }, expect: 'don’t mention it, Bo.' }],
  },
  {
    what: 'a switch that is not closed and a misspelt keyword',
    file: 'switch.ts',
    text: `export default {
  description: 'Names a day.',
  handler: ({ day }: { day: number }) => {
    swich (day) {
      case 0:
        return 'Sunday';
      case 6:
        return 'Saturday';
      default:
        return 'weekday';
  },
};
`,
    behaviours: [
      { args: { day: 6 }, expect: 'Saturday' },
      { args: { day: 2 }, expect: 'weekday' },
    ],
  },
  {
    what: 'a template that is not closed, with a brace too many',
    file: 'template.ts',
    text: `export default {
  description: 'A sentence about a thing.',
  handler: ({ thing, size }: { thing: string; size: number }) => {
    return \`\${thing}} has a size of \${size.toFixd(1)}.\`;
  },
};
`,
    behaviours: [{ args: { thing: 'It', size: 2 }, expect: 'It} has a size of 2.0.' }],
  },
  {
    what: 'an arrow that lost its parentheses, and equals signs in an object',
    file: 'object.ts',
    text: `export default {
  description = 'Sums.',
  handler: ({ numbers }: { numbers: number[] }) => {
    return numbers.reduce((sum, number => sum + number, 0);
  },
};
`,
    behaviours: [{ args: { numbers: [1, 2, 3] }, expect: 6 }],
  },
  {
    what: 'an import type that is used as a value',
    file: 'import-type.ts',
    text: `import type { createHash } from 'node:crypto';
import { type basename } from 'node:path';

export default {
  description: 'Digest.',
  handler: ({ text }: { text: string }) => createHash('sha256').update(basename(text)).digest('hex').slice(0, 4),
};
`,
    behaviours: [{ args: { text: '/x/a' }, expect: 'ca97' }],
  },
];

/** All of them; nobody looked at them while the fixers before were written. */
export const modelMadePlugins: readonly BrokenPlugin[] = made.map(({ what, file, text, behaviours }) => ({
  name: `model-made: ${what}`,
  kind: 'model-made',
  files: { [file]: text },
  behaviours,
  isHeldOut: false,
}));
