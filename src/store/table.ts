import type { DatabaseSync, SQLInputValue, SQLOutputValue } from 'node:sqlite';
import type { JournalEntry } from './journal.ts';
import { writeNow } from './sqlite-error.ts';

/** One row as SQLite hands it out. */
export type SqlRow = Readonly<Record<string, SQLOutputValue>>;

/** What a member of a row may hold. */
type Held = string | number | boolean | null;

const maxJournalChars = 16_384;

/** One column: its name in SQLite, and how its value is read. */
interface Column<Value extends Held> {
  readonly name: string;
  readonly read: (row: SqlRow) => Value;
}

type Columns<Row> = { readonly [Member in keyof Row]: Row[Member] extends Held ? Column<Row[Member]> : never };

/** The rows of a table that was defined. */
export type RowOf<Table> = Table extends { read(row: SqlRow): infer Row } ? Readonly<Row> : never;

/** What stands in a column, by its name in SQLite. */
export const column = {
  text: (name: string): Column<string> => ({ name, read: (row) => readText(row, name) }),
  textOrNull: (name: string): Column<string | null> => ({ name, read: (row) => readTextOrNull(row, name) }),
  number: (name: string): Column<number> => ({ name, read: (row) => readNumber(row, name) }),
  numberOrNull: (name: string): Column<number | null> => ({ name, read: (row) => readNumberOrNull(row, name) }),
  /** 0 or 1. */
  flag: (name: string): Column<boolean> => ({ name, read: (row) => readNumber(row, name) === 1 }),
  /** A text that the schema's CHECK, or whoever writes it, keeps to a few words. */
  word: <Word extends string>(name: string, words: readonly Word[]): Column<Word> => ({
    name,
    read: (row) => readWord(row, name, words),
  }),
};

/** A table described once: its rows are read and written by the names that they have in the daemon. */
export function defineTable<Row extends Readonly<Record<keyof Row, Held>>>(name: string, columns: Columns<Row>) {
  const members = Object.keys(columns).filter((member): member is Extract<keyof Row, string> => Object.hasOwn(columns, member));
  const names = members.map((member) => columns[member].name);
  const places = members.map(() => '?').join(', ');
  const insertion = `insert into ${name} (${names.join(', ')}) values (${places})`;
  const selection = `select ${names.map((each) => `${name}.${each}`).join(', ')} from ${name}`;

  const isWhole = (row: Partial<Row>): row is Row => members.every((member) => member in row);

  function read(row: SqlRow): Row {
    const found: Partial<Row> = {};
    for (const member of members) found[member] = columns[member].read(row);
    if (!isWhole(found)) throw new TypeError(`A row of ${name} is not whole.`);
    return found;
  }

  /** The values of a row in the order of the columns. */
  function valuesOf(row: Row): (string | number | null)[] {
    return members.map((member) => {
      const value: Held = row[member];
      return typeof value === 'boolean' ? Number(value) : value;
    });
  }

  /** Prepares the insertion of whole rows; what follows it says what happens where there is one already. Returns how many were written. */
  function prepareInsert(database: DatabaseSync, onConflict = ''): (row: Row) => number {
    const statement = database.prepare(`${insertion} ${onConflict}`);
    return (row) => Number(statement.run(...valuesOf(row)).changes);
  }

  /** Prepares the insertion of whole rows; a row with this primary key becomes the new one. */
  function preparePut(database: DatabaseSync, ...key: readonly string[]): (row: Row) => number {
    const others = names.filter((each) => !key.includes(each)).map((each) => `${each} = excluded.${each}`);
    return prepareInsert(database, `on conflict (${key.join(', ')}) do update set ${others.join(', ')}`);
  }

  /** Prepares a query for whole rows; `rest` is what follows the name of the table. */
  function prepareSelect(database: DatabaseSync, rest: string) {
    const statement = database.prepare(`${selection} ${rest}`);
    return {
      all: (...values: SQLInputValue[]): Row[] => statement.all(...values).map(read),
      first(...values: SQLInputValue[]): Row | undefined {
        const row = statement.get(...values);
        return row && read(row);
      },
    };
  }

  return {
    name,
    read,
    /** The row as the journal keeps it; undefined when it is so long that it goes straight into the database. */
    entryOf(row: Row): JournalEntry | undefined {
      const values = valuesOf(row);
      let chars = 0;
      for (const value of values) if (typeof value === 'string') chars += value.length;
      return chars > maxJournalChars ? undefined : [name, ...values];
    },
    valuesOf,
    prepareInsert,
    /**
     * Prepares the writing of rows over those that may be there, each from its values in the order of the columns. One of an older version
     * lacks the last columns: they are null. Throws where they are no row.
     */
    prepareRestore(database: DatabaseSync): (values: readonly unknown[]) => void {
      const statement = database.prepare(insertion.replace('insert', 'insert or replace'));
      return (values) => {
        const row = Object.fromEntries(names.map((each, index) => [each, readOutput(values[index] ?? null)]));
        statement.run(...valuesOf(read(row)));
      };
    },
    preparePut,
    prepareSelect,
    /** Prepares what is done with rows that have a primary key, each write at once; `order` is that of the list. */
    prepareKeyed(database: DatabaseSync, key: readonly string[], order = `order by ${key.join(', ')}`) {
      const all = prepareSelect(database, order);
      const put = preparePut(database, ...key);
      const remove = database.prepare(`delete from ${name} where ${key.map((each) => `${each} = ?`).join(' and ')}`);
      return {
        list: (): Row[] => all.all(),
        put: (row: Row): void => void writeNow(() => put(row)),
        /** False when there was none. */
        remove: (...values: string[]): boolean => writeNow(() => remove.run(...values)).changes === 1,
      };
    },
  };
}

function readOutput(value: unknown): string | number | null {
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  throw new TypeError(`A value of a row is ${typeof value}.`);
}

/** Writes several rows at once, in one step: all of them, or none. What SQLite throws becomes a HotcellError. */
export function writeTogether(database: DatabaseSync, write: () => void): void {
  writeNow(() => {
    database.exec('savepoint together');
    try {
      write();
      database.exec('release together');
    } catch (error) {
      // Some failures take the whole transaction back.
      if (database.isTransaction) database.exec('rollback to together; release together');
      throw error;
    }
  });
}

/** The columns are declared STRICT, so another type than the asked one is a bug or a damaged file. */
function refuse(row: SqlRow, column: string, wanted: string): never {
  throw new TypeError(`Column ${column} should be ${wanted} and is ${typeof row[column]}.`);
}

export function readText(row: SqlRow, column: string): string {
  const value = row[column];
  return typeof value === 'string' ? value : refuse(row, column, 'text');
}

export function readTextOrNull(row: SqlRow, column: string): string | null {
  return row[column] === null ? null : readText(row, column);
}

export function readNumber(row: SqlRow, column: string): number {
  const value = row[column];
  return typeof value === 'number' ? value : refuse(row, column, 'a number');
}

export function readNumberOrNull(row: SqlRow, column: string): number | null {
  return row[column] === null ? null : readNumber(row, column);
}

export function readBytes(row: SqlRow, column: string): Uint8Array {
  const value = row[column];
  return value instanceof Uint8Array ? value : refuse(row, column, 'bytes');
}

/** Reads a text that the schema's CHECK keeps to a few words. */
export function readWord<Word extends string>(row: SqlRow, column: string, words: readonly Word[]): Word {
  const word = words.find((candidate) => candidate === row[column]);
  return word ?? refuse(row, column, words.join(' or '));
}
