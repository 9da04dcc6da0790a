import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ticketContract } from '../../src/http/admission/tickets.ts';
import { type Door, openDoor } from './door-parts.ts';

let door: Door;
beforeAll(async () => {
  door = await openDoor();
});
afterAll(() => door.close());

describe('docs/http.md', () => {
  it('lists every operation with its route and role, and no other', () => {
    const page = readFileSync(new URL('../../docs/http.md', import.meta.url), 'utf8');
    const listed = page.split('\n').filter((line) => /^\| `\w+\.\w+`/.test(line));
    const served = [...door.operations, ticketContract].map(
      ({ name, http, role }) => `| \`${name}\` | ${http.method} \`${http.path}\` | ${role} |`,
    );
    expect(listed.sort()).toEqual(served.sort());
  });
});
