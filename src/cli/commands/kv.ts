import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import { Check } from 'typebox/value';
import type { Client } from '../../client/client.ts';
import { omitUndefined } from '../../config/json-object.ts';
import { maxInputDepth, nestsDeeper, nestsTooDeep } from '../../config/read/json-nesting.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { type KvEntryView, kvContracts, kvEntry } from '../../operations/contracts/kv.ts';
import type { CliSession } from '../session.ts';
import { addClientCommand, addListing, addOperation } from './command.ts';

const callerHelp = 'whose values: a caller id, or * for those that all share';
const ofPlugin = { arguments: { '<plugin>': 'its name' }, options: { '--caller <id>': callerHelp } } as const;
const maxBatchEntries = 500;
const maxBatchChars = 256 * 1024;

/** Adds `hotcell kv …`. */
export function registerKv(program: Command, session: CliSession): void {
  const kv = program.command('kv');
  const { style, io } = session;

  addListing(kv, session, {
    ...ofPlugin,
    name: 'list',
    about: 'list the keys of a plugin with their sizes',
    reach: 'alone',
    contract: kvContracts.list,
    empty: ({ plugin }) => `"${plugin}" keeps no values.\n`,
    columns: [
      { head: 'CALLER', text: (row) => row.caller },
      { head: 'BYTES', text: (row) => String(row.bytes) },
      { head: 'KEY', text: (row) => row.key },
    ],
    before({ items, owners, next }) {
      if (items.length === 0) return;
      const total = owners.reduce((sum, { bytes }) => sum + bytes, 0);
      session.note(style.dim(`${total} bytes in all${next === undefined ? '' : '; there are more keys: hotcell kv export'}.\n`));
    },
  });

  addClientCommand(kv, session, {
    ...ofPlugin,
    name: 'export',
    about: 'write the values of a plugin to the standard output, one JSON object a line',
    json: false,
    reach: 'alone',
    run: async ({ plugin, caller }, client) => {
      let cursor: string | undefined;
      do {
        const query = omitUndefined({ plugin, caller, cursor });
        const page: { items: KvEntryView[]; next?: string } = await client.invoke(kvContracts.export, query);
        for (const entry of page.items) session.print(`${JSON.stringify(entry)}\n`);
        cursor = page.next;
      } while (cursor !== undefined);
    },
  });

  addClientCommand(kv, session, {
    name: 'import',
    about: 'read values of a plugin, as export writes them',
    arguments: { '<plugin>': 'its name', '[file]': 'a file; the standard input when left out, or -' },
    options: { '--caller <id>': `${callerHelp}; wins over the lines` },
    reach: 'keeps',
    run: async ({ plugin, file, caller, json }, client) => {
      const lines = file === undefined || file === '-' ? (await io.readStdin()).split('\n') : readLines(resolve(io.cwd, file));
      const written = await importLines(client, omitUndefined({ plugin, caller }), lines);
      if (json) session.printJson({ plugin, written });
      else session.print(`${style.green('✓')} written: ${written}\n`);
    },
  });

  addOperation(kv, session, {
    name: 'delete',
    about: 'delete values of a plugin',
    arguments: { '<plugin>': 'its name' },
    options: {
      '--key <key>': 'this one',
      '--prefix <text>': 'all whose keys begin so; "" for all',
      '--caller <id>': callerHelp,
    },
    reach: 'keeps',
    contract: kvContracts.delete,
    input({ plugin, caller, key, prefix }) {
      if ((key === undefined) === (prefix === undefined)) {
        throw new HotcellError('usage-wrong', 'Expected either --key KEY or --prefix TEXT.', {
          fix: 'Use --prefix "" for all keys.',
        });
      }
      return omitUndefined({ plugin, caller, key, prefix });
    },
    show: ({ deleted }) => `deleted: ${deleted}\n`,
  });
}
/** Sends the lines in batches of bounded size, in their order; returns how many entries were written. */
async function importLines(
  client: Client,
  target: { plugin: string; caller?: string },
  lines: Iterable<string> | AsyncIterable<string>,
): Promise<number> {
  let written = 0;
  let number = 0;
  let batch: KvEntryView[] = [];
  let chars = 0;
  const send = async (): Promise<void> => {
    if (batch.length > 0) written += (await client.invoke(kvContracts.import, { ...target, entries: batch })).written;
    batch = [];
    chars = 0;
  };
  for await (const line of lines) {
    number++;
    if (line.trim() === '') continue;
    if (batch.length >= maxBatchEntries || (batch.length > 0 && chars + line.length > maxBatchChars)) await send();
    batch.push(readEntry(line, number));
    chars += line.length;
  }
  await send();
  return written;
}

function readEntry(line: string, number: number): KvEntryView {
  if (nestsDeeper(line, maxInputDepth))
    throw new HotcellError('usage-wrong', `Line ${number} cannot be imported. ${nestsTooDeep}`);
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new HotcellError('usage-wrong', `Line ${number} is not JSON.`, { fix: 'Import what hotcell kv export wrote.' });
  }
  if (Check(kvEntry, value)) return value;
  const example = '{"key":"a","value":1}';
  throw new HotcellError('usage-wrong', `Line ${number} is not an entry such as ${example}.`, {
    fix: 'Import what hotcell kv export wrote.',
  });
}

async function* readLines(path: string): AsyncIterable<string> {
  try {
    yield* createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
  } catch (cause) {
    throw new HotcellError('usage-wrong', `The file ${path} cannot be read.`, { fix: 'Name a file that is there.', cause });
  }
}
