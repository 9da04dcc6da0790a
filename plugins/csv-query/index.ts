import { type Cell, guessDelimiter, parseCsv, type Row, writeCsv } from './csv-text.ts';

/** One condition; all of a query's conditions must hold. */
interface Condition {
  /** Column name */
  column: string;
  /** Comparison; contains, startsWith and matches (a regular expression) work on text and ignore case */
  is: '=' | '!=' | '<' | '<=' | '>' | '>=' | 'contains' | 'startsWith' | 'matches' | 'empty' | 'notEmpty';
  /** What to compare with; not needed for empty and notEmpty */
  value?: string | number | boolean;
}

interface Aggregate {
  /** What to compute over the rows of a group */
  function: 'count' | 'sum' | 'avg' | 'min' | 'max' | 'distinct';
  /** Column to compute over; not needed for count */
  column?: string;
}

interface Arguments {
  /** CSV text (RFC 4180), first line with column names unless hasHeader is false */
  csv: string;
  /** Separator; found out when absent (comma, semicolon, tab or bar) */
  delimiter?: string;
  /** Without a header the columns are called c1, c2, … */
  hasHeader?: boolean;
  /** Keep only rows for which all conditions hold */
  where?: Condition[];
  /** Columns to group by */
  groupBy?: string[];
  /** Computed columns, by the name that they get; without groupBy over all rows */
  aggregate?: Record<string, Aggregate>;
  /** Sort keys in order; a leading "-" sorts downwards: ["-amount", "name"] */
  sort?: string[];
  /** Columns to answer, in this order */
  select?: string[];
  /** Rows to skip and to answer at most; default 0 and 100 */
  offset?: number;
  limit?: number;
  /** Answer rows as JSON (default) or as CSV text */
  format?: 'json' | 'csv';
}

const orders =
  'date,region,product,amount\n2024-01-02,north,"Tea, green",30\n2024-01-03,south,Coffee,12.5\n2024-01-05,north,Coffee,7\n';

export default {
  name: 'csv_query',
  version: '1.0.0',
  description:
    'Queries CSV text: filter, group and aggregate, sort, select, page. Use for questions about tables and for sums over them; ' +
    'do not add up rows yourself.',
  tags: ['data'],
  isParallelSafe: true,
  examples: [
    {
      args: { csv: orders, where: [{ column: 'amount', is: '>', value: 10 }], select: ['product', 'amount'], sort: ['amount'] },
      expect: {
        columns: ['product', 'amount'],
        total: 2,
        rows: [
          { product: 'Coffee', amount: 12.5 },
          { product: 'Tea, green', amount: 30 },
        ],
      },
    },
    {
      args: {
        csv: orders,
        groupBy: ['region'],
        aggregate: { sales: { function: 'sum', column: 'amount' } },
        sort: ['-sales'],
        format: 'csv',
      },
      expect: 'region,sales\r\nnorth,37\r\nsouth,12.5\r\n',
    },
    {
      args: { csv: 'a;b\n1;"x ""y"""\n', where: [{ column: 'b', is: 'contains', value: 'Y' }] },
      expect: { columns: ['a', 'b'], total: 1, rows: [{ a: 1, b: 'x "y"' }] },
    },
  ],
  handler: (args: Arguments) => {
    const table = readTable(args);
    const kept = filterRows(table, args.where ?? []);
    const grouped =
      args.groupBy || args.aggregate ? groupRows(table.columns, kept, args) : { columns: table.columns, rows: kept };
    const sorted = sortRows(grouped, args.sort ?? []);
    const offset = Math.max(0, args.offset ?? 0);
    const page = sorted.slice(offset, offset + Math.max(0, args.limit ?? 100));
    const columns = args.select ?? grouped.columns;
    requireColumns(grouped.columns, columns);
    const rows = page.map((row) => Object.fromEntries(columns.map((column) => [column, row[column] ?? null])));
    return args.format === 'csv' ? writeCsv(columns, rows) : { columns, total: sorted.length, rows };
  },
};

interface Table {
  readonly columns: string[];
  readonly rows: Row[];
}

function readTable({ csv, delimiter, hasHeader = true }: Arguments): Table {
  const records = parseCsv(csv.replace(/^\uFEFF/, ''), delimiter ?? guessDelimiter(csv));
  const first = records[0];
  if (!first) return { columns: [], rows: [] };
  const columns = nameColumns(hasHeader ? first : first.map(() => ''));
  const rows = records.slice(hasHeader ? 1 : 0).map((record, index) => {
    if (record.length > columns.length) {
      throw new SyntaxError(`Row ${index + 1} has ${record.length} fields, and the header has ${columns.length}.`);
    }
    return Object.fromEntries(columns.map((column, position) => [column, readCell(record[position] ?? '')]));
  });
  return { columns, rows };
}

/** Empty names become c1, c2, …; a name that comes twice gets a number. */
function nameColumns(header: readonly string[]): string[] {
  const taken = new Set<string>();
  return header.map((name, index) => {
    const base = name.trim() || `c${index + 1}`;
    let unique = base;
    for (let number = 2; taken.has(unique); number++) unique = `${base}_${number}`;
    taken.add(unique);
    return unique;
  });
}

/** Plain decimal numbers become numbers; "007" and "1e5" stay text, as identifiers look like that. */
function readCell(text: string): Cell {
  const trimmed = text.trim();
  if (/^-?(?:0|[1-9]\d{0,14})(?:\.\d+)?$/.test(trimmed)) return Number(trimmed);
  if (/^(?:true|false)$/i.test(trimmed)) return trimmed.toLowerCase() === 'true';
  return text;
}

function filterRows({ columns, rows }: Table, conditions: readonly Condition[]): Row[] {
  requireColumns(
    columns,
    conditions.map((condition) => condition.column),
  );
  const tests = conditions.map((condition) => [condition.column, createTest(condition)] as const);
  return rows.filter((row) => tests.every(([column, holds]) => holds(row[column] ?? null)));
}

function createTest({ column, is, value }: Condition): (cell: Cell) => boolean {
  if (is === 'empty') return (cell) => cell === '' || cell === null;
  if (is === 'notEmpty') return (cell) => cell !== '' && cell !== null;
  if (value === undefined) throw new TypeError(`The condition on "${column}" needs a value for "${is}".`);
  const wanted = typeof value === 'string' ? readCell(value) : value;
  const text = String(value).toLowerCase();
  switch (is) {
    case '=':
      return (cell) => compareCells(cell, wanted) === 0;
    case '!=':
      return (cell) => compareCells(cell, wanted) !== 0;
    case '<':
      return (cell) => compareCells(cell, wanted) < 0;
    case '<=':
      return (cell) => compareCells(cell, wanted) <= 0;
    case '>':
      return (cell) => compareCells(cell, wanted) > 0;
    case '>=':
      return (cell) => compareCells(cell, wanted) >= 0;
    case 'contains':
      return (cell) => String(cell).toLowerCase().includes(text);
    case 'startsWith':
      return (cell) => String(cell).toLowerCase().startsWith(text);
    case 'matches': {
      const pattern = new RegExp(String(value), 'iu');
      return (cell) => pattern.test(String(cell));
    }
  }
}

/** Numbers by size and before text; text by its characters. */
function compareCells(left: Cell, right: Cell): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  if (typeof left === 'number') return -1;
  if (typeof right === 'number') return 1;
  const [a, b] = [String(left ?? ''), String(right ?? '')];
  return a < b ? -1 : a > b ? 1 : 0;
}

function groupRows(columns: readonly string[], rows: readonly Row[], { groupBy = [], aggregate = {} }: Arguments): Table {
  const computed = Object.entries(aggregate);
  requireColumns(columns, [...groupBy, ...computed.flatMap(([, { column }]) => column ?? [])]);
  const groups = new Map<string, Row[]>(groupBy.length === 0 ? [['[]', []]] : []);
  for (const row of rows) {
    const key = JSON.stringify(groupBy.map((column) => row[column]));
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  return {
    columns: [...groupBy, ...computed.map(([name]) => name)],
    rows: [...groups.values()].map((group) => ({
      ...Object.fromEntries(groupBy.map((column) => [column, group[0]?.[column] ?? null])),
      ...Object.fromEntries(computed.map(([name, spec]) => [name, computeAggregate(group, spec)])),
    })),
  };
}

function computeAggregate(rows: readonly Row[], { function: name, column }: Aggregate): Cell {
  if (name === 'count' && column === undefined) return rows.length;
  if (column === undefined) throw new TypeError(`"${name}" needs a column.`);
  const cells = rows.map((row) => row[column] ?? null).filter((cell) => cell !== null && cell !== '');
  if (name === 'count') return cells.length;
  if (name === 'distinct') return new Set(cells).size;
  if (name === 'min' || name === 'max') {
    const sorted = cells.toSorted(compareCells);
    return (name === 'min' ? sorted[0] : sorted.at(-1)) ?? null;
  }
  const text = cells.find((cell) => typeof cell !== 'number');
  if (text !== undefined) throw new TypeError(`"${name}" of "${column}" needs numbers, and there is ${JSON.stringify(text)}.`);
  const sum = cells.reduce<number>((total, cell) => total + Number(cell), 0);
  if (name === 'sum') return tidy(sum);
  return cells.length === 0 ? null : tidy(sum / cells.length);
}

/** Takes off what binary fractions add: 0.1 + 0.2 is 0.3. */
function tidy(value: number): number {
  return Number(value.toPrecision(14));
}

function sortRows({ columns, rows }: Table, keys: readonly string[]): Row[] {
  const parsed = keys.map((key) => (key.startsWith('-') ? { column: key.slice(1), sign: -1 } : { column: key, sign: 1 }));
  requireColumns(
    columns,
    parsed.map((key) => key.column),
  );
  return rows.toSorted((a, b) => {
    for (const { column, sign } of parsed) {
      const order = compareCells(a[column] ?? null, b[column] ?? null);
      if (order !== 0) return order * sign;
    }
    return 0;
  });
}

function requireColumns(columns: readonly string[], wanted: readonly string[]): void {
  const missing = wanted.find((column) => !columns.includes(column));
  if (missing !== undefined) throw new TypeError(`There is no column "${missing}"; the columns are ${columns.join(', ')}.`);
}
