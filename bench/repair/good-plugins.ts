import type { Behaviour, PluginTexts } from './workbench.ts';

/** A plugin that works, and calls of it; what comes of them is taken from it before it is broken. */
export interface GoodPlugin {
  readonly name: string;
  readonly files: PluginTexts;
  readonly calls: readonly Omit<Behaviour, 'expect'>[];
}

const invoice = `interface Line {
  /** What was sold */
  title: string;
  quantity: number;
  price: number;
}

interface Arguments {
  lines: Line[];
  /** In percent */
  discount?: number;
}

const taxes: Record<string, number> = {
  food: 7,
  other: 19,
};

function round(amount: number): number {
  return Math.round(amount * 100) / 100;
}

function taxOf(title: string): number {
  const isFood = title.toLowerCase().includes('bread');
  return isFood ? taxes.food ?? 0 : taxes.other ?? 0;
}

export default {
  name: 'invoice',
  version: '1.0.0',
  description: 'Adds up the lines of an invoice.',
  handler: async ({ lines, discount = 0 }: Arguments) => {
    let net = 0;
    let tax = 0;
    for (const { title, quantity, price } of lines) {
      const amount = quantity * price;
      net += amount;
      tax += (amount * taxOf(title)) / 100;
    }
    const factor = (100 - discount) / 100;
    const total = round((net + tax) * factor);
    return { net: round(net), tax: round(tax), total, text: \`\${lines.length} lines, \${total} in all\` };
  },
};
`;

const words = `import { definePlugin, defineTool } from 'hotcell';

const stopWords = new Set(['the', 'a', 'an', 'of']);

function splitWords(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}

function countWords(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) {
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return counts;
}

export default definePlugin({
  description: 'Looks at the words of a text.',
  tools: {
    slug: defineTool({
      description: 'Makes a name for an address.',
      parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
      handler: ({ text }) => splitWords(text).join('-'),
    }),
    top_words: defineTool({
      description: 'The words that a text has most often.',
      parameters: {
        type: 'object',
        properties: { text: { type: 'string' }, limit: { type: 'integer' } },
        required: ['text', 'limit'],
      },
      handler: async ({ text, limit }) => {
        const useful = splitWords(text).filter((word) => !stopWords.has(word));
        const counted = [...countWords(useful)];
        counted.sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
        return counted.slice(0, limit).map(([word, count]) => ({ word, count }));
      },
    }),
  },
});
`;

const roman = {
  'roman/index.ts': `import { symbols, type Symbol } from './symbols.ts';
import { checkRange } from './check-range.ts';

function write(value: number): string {
  let rest = value;
  let text = '';
  for (const symbol of symbols as Symbol[]) {
    while (rest >= symbol.value) {
      text += symbol.letters;
      rest -= symbol.value;
    }
  }
  return text;
}

export default {
  description: 'Writes a number as the Romans did.',
  handler: (args: { value: number }) => {
    checkRange(args.value, 1, 3999);
    return write(args.value);
  },
};
`,
  'roman/symbols.ts': `export interface Symbol {
  letters: string;
  value: number;
}

export const symbols: Symbol[] = [
  { letters: 'M', value: 1000 },
  { letters: 'CM', value: 900 },
  { letters: 'D', value: 500 },
  { letters: 'CD', value: 400 },
  { letters: 'C', value: 100 },
  { letters: 'XC', value: 90 },
  { letters: 'L', value: 50 },
  { letters: 'XL', value: 40 },
  { letters: 'X', value: 10 },
  { letters: 'IX', value: 9 },
  { letters: 'V', value: 5 },
  { letters: 'IV', value: 4 },
  { letters: 'I', value: 1 },
];
`,
  'roman/check-range.ts': `export function checkRange(value: number, min: number, max: number): void {
  if (!Number.isInteger(value) || value < min || value > max) {
    throw new RangeError('The number must be between ' + min + ' and ' + max + '.');
  }
}
`,
};

const steps = `import { createHash } from 'node:crypto';
import type { Context } from 'hotcell';

type Step = { name: string; run: (value: number) => Promise<number> };

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

class Pipeline {
  readonly #steps: Step[] = [];

  add(name: string, run: Step['run']): this {
    this.#steps.push({ name, run });
    return this;
  }

  async start(value: number, done: string[]): Promise<number> {
    let result = value;
    for (const step of this.#steps) {
      result = await step.run(result);
      done.push(step.name);
    }
    return result;
  }
}

const pipeline = new Pipeline()
  .add('double', async (value) => value * 2)
  .add('later', async (value) => {
    await wait(1);
    return value + 1;
  });

export default {
  name: 'steps',
  description: 'Sends a number through some steps.',
  handler: async (args: { value: number; label?: string }, context: Context) => {
    const done: string[] = [];
    try {
      const result = await pipeline.start(args.value, done);
      context.log.info('went through', done.length);
      const hash = createHash('sha256').update(String(result)).digest('hex');
      switch (args.label) {
        case 'short':
          return { result, hash: hash.slice(0, 8) };
        case undefined:
          return { result, done };
        default:
          return { result, label: args.label };
      }
    } catch (error) {
      return { failed: String(error) };
    }
  },
};
`;

const table = `const align = (text, width) => text.padEnd(width, ' ');

const widthOf = (rows, column) => {
  let width = 0;
  for (let index = 0; index < rows.length; index++) {
    width = Math.max(width, String(rows[index][column] ?? '').length);
  }
  return width;
};

export default {
  name: 'table',
  description: 'Writes rows as a table of text.',
  parameters: {
    type: 'object',
    properties: {
      columns: { type: 'array', items: { type: 'string' } },
      rows: { type: 'array', items: { type: 'object' } },
    },
    required: ['columns', 'rows'],
  },
  handler: ({ columns, rows }) => {
    const head = Object.fromEntries(columns.map((column) => [column, column]));
    const all = [head, ...rows];
    const lines = all.map((row) =>
      columns.map((column) => align(String(row[column] ?? ''), widthOf(all, column))).join(' | ').trimEnd(),
    );
    return lines.join('\\n');
  },
};
`;

/** The plugins that are broken by mutation, and by hand. */
export const goodPlugins: readonly GoodPlugin[] = [
  {
    name: 'invoice',
    files: { 'invoice.ts': invoice },
    calls: [
      { args: { lines: [{ title: 'Bread', quantity: 3, price: 2.35 }] } },
      {
        args: {
          lines: [
            { title: 'Pen', quantity: 10, price: 1.2 },
            { title: 'bread roll', quantity: 7, price: 0.45 },
          ],
          discount: 10,
        },
      },
      { args: { lines: [] } },
    ],
  },
  {
    name: 'words',
    files: { 'words.ts': words },
    calls: [
      { tool: 'slug', args: { text: 'The Quick, brown FOX!' } },
      { tool: 'top_words', args: { text: 'a dog of the dog and a cat, and a bird', limit: 2 } },
      { tool: 'top_words', args: { text: '', limit: 3 } },
    ],
  },
  {
    name: 'roman',
    files: roman,
    calls: [{ args: { value: 1994 } }, { args: { value: 3888 } }, { args: { value: 4 } }],
  },
  {
    name: 'steps',
    files: { 'steps.ts': steps },
    calls: [{ args: { value: 20 } }, { args: { value: 3, label: 'short' } }, { args: { value: -1, label: 'other' } }],
  },
  {
    name: 'table',
    files: { 'table.js': table },
    calls: [
      { args: { columns: ['name', 'size'], rows: [{ name: 'Ulm', size: 120 }, { name: 'Rome' }] } },
      { args: { columns: ['a'], rows: [] } },
    ],
  },
];
