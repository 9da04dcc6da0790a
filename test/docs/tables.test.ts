import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { floors } from '../../scripts/house.ts';
import { errorCatalog } from '../../src/errors/catalog.ts';
import { eventTypes, isEventType, rowOf } from '../../src/events/event-table.ts';
import { transition } from '../../src/plugins/lifecycle.ts';
import { listLinks, listPages, readPage, repository } from './markdown.ts';

/** Cells of the rows of a page's tables whose first cell is `code`. */
function readRows(page: string): string[][] {
  const rows = readPage(page)
    .split('\n')
    .filter((line) => /^\| `[^`]+` \|/.test(line));
  return rows.map((row) =>
    row
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim())
      .slice(1, -1),
  );
}

describe('docs/errors.md', () => {
  it('lists the catalog of errors', () => {
    const rows = Object.entries(errorCatalog).map(
      ([code, { title, fix, status }]) => `| \`${code}\` | ${status} | ${title} | ${fix} |`,
    );
    const table = ['| Code | Status | Meaning | What to do |', '|---|---|---|---|', ...rows].join('\n');
    const [intro = '', rest = ''] = readPage('docs/errors.md').split(/(?<=writes it anew -->\n)/);
    const tail = rest.slice(rest.indexOf('<!-- end -->'));
    const wanted = `${intro}${table}\n${tail}`;
    if (process.env.UPDATE_DOCS === '1') writeFileSync(join(repository, 'docs/errors.md'), wanted);
    expect(readPage('docs/errors.md')).toBe(wanted);
  });
});

describe('docs/events.md', () => {
  const rows = readRows('docs/events.md');

  it.each(eventTypes.filter(isEventType))('tells the data of %s, whether it is kept, and who sees it', (type) => {
    const row = rows.find(([name]) => name === `\`${type}\``);
    const { seenBy, isFleeting, data } = rowOf(type);
    const { properties, required } = readObject(data);
    expect(row?.[1]).toBe(properties.map((name) => `\`${name}${required.includes(name) ? '' : '?'}\``).join(', '));
    expect(row?.slice(2)).toEqual([isFleeting ? 'no' : 'yes', seenBy === 'its-caller' ? 'its caller' : seenBy]);
  });
});

describe('docs/architecture.md', () => {
  it('lists the folders in the order that the check of the house allows', () => {
    const folders = readdirSync(join(repository, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const order = floors.filter((floor) => folders.some(({ name }) => name === floor));
    expect(readRows('docs/architecture.md').map(([name]) => name?.replaceAll('`', ''))).toEqual(order);
    expect([...order].sort()).toEqual(folders.map(({ name }) => name).sort());
  });
});

describe('docs/plugins.md', () => {
  it('names every state of the lifecycle', () => {
    const states = ['absent', 'loading', 'ready', 'pending-grant', 'degraded', 'failed', 'disabled', 'quarantined'] as const;
    // Every state must be one that the lifecycle knows: an unknown one would not compile here.
    for (const state of states) transition({ state, serving: 'nothing' }, { type: 'vanished' });
    expect(readRows('docs/plugins.md').map(([name]) => name?.replaceAll('`', ''))).toEqual(states);
  });
});

describe('docs/decisions', () => {
  const files = readdirSync(join(repository, 'docs/decisions')).filter((name) => /^\d/.test(name));

  it('have a number each', () => {
    const numbers = files.map((name) => name.slice(0, 3));
    expect(new Set(numbers).size).toBe(numbers.length);
  });

  it('are all in the index, with their titles', () => {
    const rows = files.sort().map((name) => {
      const title = readPage(`docs/decisions/${name}`).split('\n', 1)[0]?.replace(/^# /, '');
      return `| [${name.slice(0, 3)}](${name}) | ${title} |`;
    });
    expect(readPage('docs/decisions/README.md').match(/^\| \[.*$/gm)).toEqual(rows);
  });
});

describe('links of the documentation', () => {
  it.each(listPages())('of %s lead to files that are there', (page) => {
    const missing = listLinks(page).filter((target) => !existsSync(join(repository, dirname(page), target)));
    expect(missing).toEqual([]);
  });
});

describe('the index of the documentation', () => {
  const linked = (page: string) => new Set(listLinks(page).map((target) => join(dirname(page), target)));

  it('leads to every page, and the readme to the index', () => {
    const index = linked('docs/README.md');
    const pages = listPages().filter((page) => /^docs\/(?!README)[^/]+$/.test(page));
    expect(pages.filter((page) => !index.has(page))).toEqual([]);
    expect([...linked('README.md')]).toContain('docs/README.md');
    expect(
      listPages().filter((page) => page.startsWith('docs/decisions/') && !linked('docs/decisions/README.md').has(page)),
    ).toEqual(['docs/decisions/README.md']);
  });
});

describe('pages that texts of the program name', () => {
  const texts = readdirSync(join(repository, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => readFileSync(join(repository, 'src', name), 'utf8').replace(/^\s*(?:\/\/|\/?\*).*$/gm, ''));

  it('are named by the command that shows them, since a package lies where nobody looks', () => {
    expect(texts.flatMap((text) => text.match(/.*docs\/[\w-]+\.md/g) ?? [])).toEqual([]);
  });

  it('are there', () => {
    const named = texts.flatMap((text) => [...text.matchAll(/hotcell docs ([a-z][a-z-]*)/g)].map(([, name]) => name ?? ''));
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((name) => !existsSync(join(repository, 'docs', `${name}.md`)))).toEqual([]);
  });
});

describe('files that the documentation names', () => {
  it.each(listPages())('in %s are there', (page) => {
    const named = readPage(page).match(/(?<![\w/.-])(?:src|test|wasm|bench)\/[\w/.-]+\.(?:ts|js|json|wasm|wat)\b/g) ?? [];
    expect(named.filter((file) => !existsSync(join(repository, file)))).toEqual([]);
  });
});

describe('words of the documentation', () => {
  it.each(listPages())('of %s belong to users, not to a workplace', (page) => {
    expect(readPage(page)).not.toMatch(/\bissue #?\d|\bTODO\b/);
  });
});

function readObject(schema: object): { properties: string[]; required: readonly unknown[] } {
  const { properties = {}, required = [] } = schema as { properties?: object; required?: readonly unknown[] };
  return { properties: Object.keys(properties), required };
}
