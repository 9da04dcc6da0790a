import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isObject } from '../../src/config/json-object.ts';
import { toolContracts } from '../../src/operations/contracts/tools.ts';
import { repository } from '../docs/markdown.ts';
import { openIdentityHouse, operator } from '../promises/identity-house.ts';

const steps = [
  ['find_customer', 'Finds a customer by a word of the name or the mail address.'],
  ['list_orders', 'Lists the open orders of a customer, newest first.'],
  ['read_order', 'Reads the lines, the address and the state of an order.'],
  ['check_stock', 'Looks up how many pieces of each line are in which warehouse.'],
  ['reserve_stock', 'Reserves pieces in the warehouses that were found.'],
  ['price_lines', 'Prices the lines with the list that holds today.'],
  ['apply_discounts', 'Applies the discounts that the customer has agreed upon.'],
  ['compute_tax', 'Computes the tax of each line for the country of the address.'],
  ['choose_carrier', 'Chooses a carrier by weight, size and destination.'],
  ['quote_shipping', 'Asks the carrier what the shipping costs.'],
  ['book_shipping', 'Books the shipping and answers the number of the parcel.'],
  ['make_label', 'Makes the label for the parcel.'],
  ['make_invoice', 'Makes the invoice of an order with all that was found out.'],
  ['number_invoice', 'Gives the invoice the next number of the year.'],
  ['render_invoice', 'Renders the invoice as a page.'],
  ['store_invoice', 'Stores the page in the archive and answers where.'],
  ['post_entry', 'Posts the entries of the invoice into the ledger.'],
  ['notify_customer', 'Writes the customer a message about the parcel and the invoice.'],
  ['close_order', 'Closes the order.'],
  ['report_order', 'Sums up what was done, for the journal of the day.'],
] as const;

/** Tools of the usual size: each takes what the one before answered, and adds a list of its own. */
const plugin = `export default { description: 'Orders.', tools: { ${steps
  .map(
    ([name, description], index) => `${name}: {
  description: ${JSON.stringify(description)},
  parameters: { type: 'object', properties: {
    reference: { type: 'string', description: 'What the step before answered as reference; the name of the customer for the first.' },
    amount: { type: 'number', description: 'What the step before answered as amount.', default: 0 },
    note: { type: 'string', description: 'A remark for the journal, where there is something to say.' } }, required: ['reference'], additionalProperties: false },
  output: { type: 'object', properties: { reference: { type: 'string' }, amount: { type: 'number' }, lines: { type: 'array', items: { type: 'object', properties: {
    article: { type: 'string' }, pieces: { type: 'integer' }, state: { type: 'string' } }, required: ['article', 'pieces', 'state'] } } }, required: ['reference', 'amount', 'lines'] },
  handler: async ({ reference, amount = 0 }: any) => ({ reference: reference.split(':')[0] + ':${name}', amount: amount + ${index + 1},
    lines: Array.from({ length: 12 }, (_, n) => ({ article: 'A-' + (1000 + n), pieces: n + ${index}, state: 'done by ${name}' })) }),
}`,
  )
  .join(',\n')} } };`;

const script = `let at: { reference: string; amount: number } = { reference: 'Miller', amount: 0 };
for (const step of [${steps.map(([name]) => `tools.${name}`).join(', ')}]) {
  const { reference, amount } = await step({ reference: at.reference, amount: at.amount });
  at = { reference, amount };
}
return at;`;

interface Exchange {
  readonly name: string;
  readonly arguments: unknown;
  readonly result: string;
}

const tokensOf = (chars: number): number => Math.ceil(chars / 4);
const charsOf = (value: unknown): number => JSON.stringify(value).length;
const show = (tokens: number): string => `${tokens.toLocaleString('en-US')} tokens`;

/** What a model reads and writes: every turn it is sent the definitions and all that was said before. */
function countTokens(definitions: readonly unknown[], exchanges: readonly Exchange[]) {
  const read = charsOf(definitions);
  let said = 0;
  let sent = read;
  for (const exchange of exchanges) {
    said += charsOf(exchange);
    sent += read + said;
  }
  return { definitions: tokensOf(read), said: tokensOf(said), turns: exchanges.length + 1, sent: tokensOf(sent) };
}

it('costs a model the tokens that docs/code-mode.md says (UPDATE_DOCS=1 writes them anew)', async () => {
  const house = openIdentityHouse({ 'plugins/orders.ts': plugin }, { grantRequested: true });
  await house.start();
  const coder = await house.key('caller', operator, { code: true });
  const { items } = await house.invoke(toolContracts.list, { limit: 100 }, coder);
  const define = (names: readonly string[]) =>
    items
      .filter(({ name }) => names.includes(name))
      .map(({ name, description, input, output }) => ({
        name,
        description,
        inputSchema: input,
        ...(output && { outputSchema: output }),
      }));
  const call = async (name: string, args: unknown): Promise<Exchange & { readonly output: unknown }> => {
    const { output, status, error } = await house.call(name, args, coder);
    expect({ name, status, error }).toEqual({ name, status: 'success' });
    return { name, arguments: args, output, result: typeof output === 'string' ? output : JSON.stringify(output) };
  };

  const single: Exchange[] = [];
  let at: unknown = { reference: 'Miller', amount: 0 };
  for (const [name] of steps) {
    const { output, ...exchange } = await call(name, at);
    if (!isObject(output)) throw new Error('no output');
    at = { reference: output.reference, amount: output.amount };
    single.push(exchange);
  }
  const { output: declared, ...search } = await call('search_code', {
    query: 'customer order stock invoice shipping',
    limit: 30,
  });
  const { output, ...run } = await call('run_code', { code: script });
  expect(output).toEqual(at);
  for (const [name] of steps) expect(declared).toContain(`${name}(args`);

  const singly = countTokens(define(steps.map(([name]) => name)), single);
  const scripted = countTokens(define(['search_code', 'run_code']), [search, run]);
  expect(scripted.sent * 5).toBeLessThan(singly.sent);
  const rows = [
    `| definitions that the model reads | ${show(singly.definitions)} | ${show(scripted.definitions)} |`,
    `| arguments that it writes, results that it reads | ${show(singly.said)} | ${show(scripted.said)} |`,
    `| turns | ${singly.turns} | ${scripted.turns} |`,
    `| sent in all, since every turn sends what was there before | ${show(singly.sent)} | ${show(scripted.sent)} |`,
  ];
  const file = join(repository, 'docs/code-mode.md');
  const page = readFileSync(file, 'utf8');
  const wanted = page.replace(/(\| \| by single calls .*\n\|---\|---\|---\|\n)(?:\|.*\n)*/, `$1${rows.join('\n')}\n`);
  if (process.env.UPDATE_DOCS === '1') writeFileSync(file, wanted);
  expect(readFileSync(file, 'utf8')).toBe(wanted);
});
