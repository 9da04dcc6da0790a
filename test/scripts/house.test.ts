import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { findProblems, readHouse } from '../../scripts/house.ts';

const roots: string[] = [];

afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true });
});

function findProblemsOf(files: Readonly<Record<string, string>>): readonly string[] {
  const root = mkdtempSync(join(tmpdir(), 'hotcell-house-'));
  roots.push(root);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return findProblems(readHouse(root));
}

describe('findProblems', () => {
  it('has nothing against imports that go down and names that exist once', () => {
    const files = {
      'plugin.ts': "export { place } from './concurrency/place.ts';",
      'calls/call.ts': "import { place } from '../concurrency/place.ts';\nexport const call = place;",
      'concurrency/place.ts': 'export const place = 1;',
    };
    expect(findProblemsOf(files)).toEqual([]);
  });

  it('finds an import from a higher floor, be it only of a type, and one from a folder that has no floor', () => {
    const problems = findProblemsOf({
      'concurrency/place.ts': "import type { Call } from '../calls/call.ts';\nexport type Place = Call;",
      'calls/call.ts': "import { attic } from '../attic/attic.ts';\nexport interface Call { readonly id: typeof attic }",
      'attic/attic.ts': 'export const attic = 1;',
    });
    expect(problems).toHaveLength(2);
    expect(problems.join('\n')).toContain('concurrency/place.ts -> calls/call.ts');
    expect(problems.join('\n')).toContain('calls/call.ts -> attic/attic.ts');
  });

  it('finds files that import types of each other', () => {
    const [problem, ...others] = findProblemsOf({
      'calls/call.ts': "import type { Turn } from './turn.ts';\nexport interface Call { readonly turn: Turn }",
      'calls/turn.ts': "import type { Wait } from './wait.ts';\nexport interface Turn { readonly wait: Wait }",
      'calls/wait.ts': "import type { Call } from './call.ts';\nexport interface Wait { readonly call: Call }",
    });
    expect(others).toEqual([]);
    expect(problem).toContain('calls/call.ts calls/turn.ts calls/wait.ts');
  });

  it('finds folders that import each other through different files', () => {
    const problems = findProblemsOf({
      'calls/call.ts': 'export const call = 1;',
      'calls/turn.ts': "import { place } from '../concurrency/place.ts';\nexport const turn = place;",
      'concurrency/place.ts': 'export const place = 1;',
      'concurrency/line.ts': "import { call } from '../calls/call.ts';\nexport const line = call;",
    });
    expect(problems.join('\n')).toContain('Folders that import each other: calls concurrency');
  });

  it('finds a name that two files export, and leaves out what stands in for the platform and what is handed on', () => {
    const problems = findProblemsOf({
      'calls/call.ts': 'export interface Slots { readonly free: number }',
      'concurrency/slots.ts': "export function Slots(): void {}\nexport { other } from './other.ts';",
      'concurrency/other.ts': 'export const other = 1;',
      'guests/cell/web/url.ts': 'export class URL {}',
      'guests/node/url.ts': 'export class URL {}',
    });
    expect(problems).toEqual(['A name that is exported twice: Slots, by calls/call.ts concurrency/slots.ts']);
  });
});
