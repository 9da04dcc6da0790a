import { evaluateQuery } from './evaluate.ts';
import { parseQuery } from './parse.ts';

interface Arguments {
  /** JSON text, or the value itself */
  json: unknown;
  /** JSONPath (RFC 9535): $.a.b, $['a b'], $..price, $.items[0], [-1], [1:3], [*], $.items[?@.price < 10 && @.name].name */
  query: string;
  /** values (default), paths, or both */
  answer?: 'values' | 'paths' | 'both';
  /** How many results to answer; default 100 */
  limit?: number;
}

const store = {
  book: [
    { title: 'Sayings', price: 8.95, category: 'reference' },
    { title: 'Moby Dick', price: 8.99, category: 'fiction', isbn: '0-553-21311-3' },
    { title: 'The Lord of the Rings', price: 22.99, category: 'fiction', isbn: '0-395-19395-8' },
  ],
};

/** A plugin may be a folder: `index.ts` and what it imports from the folder. */
export default {
  name: 'json_query',
  version: '1.0.0',
  description:
    'Selects values out of JSON by a JSONPath query with filters. Use for reading parts of large JSON instead of repeating it.',
  tags: ['data'],
  isParallelSafe: true,
  examples: [
    {
      args: { json: store, query: '$.book[?@.price < 10 && @.isbn].title' },
      expect: { count: 1, results: ['Moby Dick'] },
    },
    { args: { json: JSON.stringify(store), query: '$..price' }, expect: { count: 3, results: [8.95, 8.99, 22.99] } },
    {
      args: { json: store, query: "$.book[-1:]['title','category']", answer: 'both' },
      expect: {
        count: 2,
        results: [
          { path: "$['book'][2]['title']", value: 'The Lord of the Rings' },
          { path: "$['book'][2]['category']", value: 'fiction' },
        ],
      },
    },
    { args: { json: [1, 2, 3], query: '$[?length(@) > 0]', answer: 'paths' }, expect: { count: 0, results: [] } },
  ],
  handler: ({ json, query, answer = 'values', limit = 100 }: Arguments) => {
    const nodes = evaluateQuery(parseQuery(query), typeof json === 'string' ? parseDocument(json) : json);
    const results = nodes
      .slice(0, Math.max(0, limit))
      .map((node) => (answer === 'values' ? node.value : answer === 'paths' ? node.path : node));
    return { count: nodes.length, results };
  },
};

function parseDocument(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new SyntaxError(`The document is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}
