import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { askForOneOf, findNearNames } from '../../errors/near-names.ts';
import { renderTable } from '../render/table.ts';
import type { CliSession } from '../session.ts';
import { addCommand } from './command.ts';

/** The pages lie beside the program, in a checkout as well as in the package. */
const folder = fileURLToPath(new URL('../../../docs/', import.meta.url));

/** Adds `hotcell docs`: the pages of this very version, also without a network. */
export function registerDocs(program: Command, session: CliSession): void {
  addCommand(program, {
    name: 'docs',
    arguments: { '[topic]': 'a page, as the list names it' },
    json: false,
    run: ({ topic }) => {
      const topics = readdirSync(folder).flatMap((file) => /^(?!README)([\w-]+)\.md$/.exec(file)?.[1] ?? []);
      if (topic === undefined) {
        const columns = [
          { head: 'TOPIC', text: (row: string) => row, paint: session.style.bold },
          { head: 'ABOUT', text: (row: string) => /^# (.+)$/m.exec(readPage(row))?.[1] ?? '' },
        ];
        session.print(`${renderTable(topics.sort(), columns, session.io.columns)}\nRead one: hotcell docs TOPIC\n`);
        return;
      }
      if (!topics.includes(topic)) {
        const near = askForOneOf(findNearNames(topic, topics, 3, 2)) || nameThoseThatSay(topic, topics);
        throw new HotcellError('usage-wrong', `There is no page "${topic.slice(0, 64)}".${near}`, {
          fix: 'List the pages: hotcell docs',
        });
      }
      session.print(readPage(topic));
    },
  });
}

function readPage(name: string): string {
  return readFileSync(join(folder, `${name}.md`), 'utf8');
}

/** The pages that have the word most often. */
function nameThoseThatSay(word: string, topics: readonly string[]): string {
  const counts = topics.map((name) => ({ name, count: readPage(name).toLowerCase().split(word.toLowerCase()).length - 1 }));
  const telling = counts.filter(({ count }) => count > 0).sort((one, other) => other.count - one.count);
  const names = telling.slice(0, 3).map(({ name }) => name);
  return names.length === 0 ? '' : ` Pages that speak of it: ${names.join(', ')}.`;
}
