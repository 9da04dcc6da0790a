import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import { Check } from 'typebox/value';
import type { Client } from '../../client/client.ts';
import { maxInputDepth, nestsDeeper, nestsTooDeep } from '../../config/read/json-nesting.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { type KvEntryView, kvContracts, kvEntry } from '../../operations/contracts/kv.ts';
import { tame } from '../render/style.ts';
import { renderTable } from '../render/table.ts';
import type { CliSession } from '../session.ts';
import { type ListFlags, withDaemonOrAlone } from './command.ts';

interface KvFlags extends ListFlags {
  readonly caller?: string;
  readonly key?: string;
  readonly prefix?: string;
}

const callerHelp = 'whose values: a caller id, or * for those that all share';
const maxBatchEntries = 500;
const maxBatchChars = 256 * 1024;

/** Adds `hotcell kv …`. */
export function registerKv(program: Command, session: CliSession): void {
  const kv = program.command('kv');
  const { style, io } = session;

  kv.command('list')
    .description('list the keys of a plugin with their sizes')
    .argument('<plugin>', 'its name')
    .option('--caller <id>', callerHelp)
    .option('--json', 'as JSON')
    .action((plugin: string, _options: unknown, command: Command) => {
      const { caller, json, ...flags } = command.optsWithGlobals<KvFlags>();
      return withDaemonOrAlone(session, flags, async (client) => {
        const page = await client.invoke(kvContracts.list, { plugin, ...own(caller) });
        if (json) return session.printJson(page);
        if (page.items.length === 0) return session.print(`"${tame(page.plugin)}" keeps no values.\n`);
        type Row = (typeof page.items)[number];
        const columns = [
          { head: 'CALLER', text: (row: Row) => tame(row.caller) },
          { head: 'BYTES', text: (row: Row) => String(row.bytes) },
          { head: 'KEY', text: (row: Row) => tame(row.key) },
        ];
        session.print(renderTable(page.items, columns, io.columns));
        const total = page.owners.reduce((sum, { bytes }) => sum + bytes, 0);
        session.note(
          style.dim(`${total} bytes in all${page.next === undefined ? '' : '; there are more keys: hotcell kv export'}.\n`),
        );
      });
    });

  kv.command('export')
    .description('write the values of a plugin to the standard output, one JSON object a line')
    .argument('<plugin>', 'its name')
    .option('--caller <id>', callerHelp)
    .action((plugin: string, _options: unknown, command: Command) => {
      const { caller, ...flags } = command.optsWithGlobals<KvFlags>();
      return withDaemonOrAlone(session, flags, async (client) => {
        let cursor: string | undefined;
        do {
          const query = { plugin, ...own(caller), ...(cursor === undefined ? {} : { cursor }) };
          const page: { items: KvEntryView[]; next?: string } = await client.invoke(kvContracts.export, query);
          for (const entry of page.items) session.print(`${JSON.stringify(entry)}\n`);
          cursor = page.next;
        } while (cursor !== undefined);
      });
    });

  kv.command('import')
    .description('read values of a plugin, as export writes them')
    .argument('<plugin>', 'its name')
    .argument('[file]', 'a file; the standard input when left out')
    .option('--caller <id>', `${callerHelp}; wins over the lines`)
    .option('--json', 'as JSON')
    .action((plugin: string, file: string | undefined, _options: unknown, command: Command) => {
      const { caller, json, ...flags } = command.optsWithGlobals<KvFlags>();
      return withDaemonOrAlone(session, { ...flags, keeps: true }, async (client) => {
        const lines = file === undefined ? (await io.readStdin()).split('\n') : readLines(resolve(io.cwd, file));
        const written = await importLines(client, { plugin, ...own(caller) }, lines);
        if (json) session.printJson({ plugin, written });
        else session.print(`${style.green('✓')} written: ${written}\n`);
      });
    });

  kv.command('delete')
    .description('delete values of a plugin')
    .argument('<plugin>', 'its name')
    .option('--key <key>', 'this one')
    .option('--prefix <text>', 'all whose keys begin so; "" for all')
    .option('--caller <id>', callerHelp)
    .option('--json', 'as JSON')
    .action((plugin: string, _options: unknown, command: Command) => {
      const { caller, json, key, prefix, ...flags } = command.optsWithGlobals<KvFlags>();
      if ((key === undefined) === (prefix === undefined)) {
        throw new HotcellError('usage-wrong', 'Expected either --key KEY or --prefix TEXT.', {
          fix: 'Use --prefix "" for all keys.',
        });
      }
      const which = { ...(key === undefined ? {} : { key }), ...(prefix === undefined ? {} : { prefix }) };
      return withDaemonOrAlone(session, { ...flags, keeps: true }, async (client) => {
        const answer = await client.invoke(kvContracts.delete, { plugin, ...own(caller), ...which });
        if (json) session.printJson(answer);
        else session.print(`deleted: ${answer.deleted}\n`);
      });
    });
}

function own(caller: string | undefined): { caller?: string } {
  return caller === undefined ? {} : { caller };
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

function readLines(path: string): AsyncIterable<string> {
  return createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
}
