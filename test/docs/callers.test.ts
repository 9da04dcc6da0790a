import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ticketContract } from '../../src/http/admission/tickets.ts';
import { type Door, openDoor } from '../http/door-parts.ts';
import { readPage, repository } from './markdown.ts';

let door: Door;
beforeAll(async () => {
  door = await openDoor();
});
afterAll(() => door.close());

describe('docs/callers.md', () => {
  it('says of every operation who may use it', () => {
    const rows = [...door.operations, ticketContract].map(({ name, summary, role, isForAnonymous }) => {
      const mark = (may: boolean) => (may ? 'yes' : '-');
      return `| \`${name}\` | yes | ${mark(role !== 'admin')} | ${mark(isForAnonymous === true)} | ${summary} |`;
    });
    const table = ['| Operation | admin | caller | anonymous | What it does |', '|---|---|---|---|---|', ...rows].join('\n');
    const [intro = '', rest = ''] = readPage('docs/callers.md').split(/(?<=writes it anew -->\n)/);
    const wanted = `${intro}${table}\n${rest.slice(rest.indexOf('<!-- end -->'))}`;
    if (process.env.UPDATE_DOCS === '1') writeFileSync(join(repository, 'docs/callers.md'), wanted);
    expect(readPage('docs/callers.md')).toBe(wanted);
  });
});
