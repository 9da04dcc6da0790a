import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultLimits } from '../../src/config/limits.ts';
import type { Program } from '../../src/engines/engine.ts';
import { type CellEngine, outputOf, startCellEngine } from '../engines/quickjs/cell-engine.ts';
import { type Attack, pluginOf, soundEvidence, soundness } from './escape/attack.ts';
import { borderAttacks } from './escape/border-attacks.ts';
import { languageAttacks } from './escape/language-attacks.ts';
import { loadAttacks } from './escape/load-attacks.ts';

const limits = { ...defaultLimits, cpuMs: 2000, wallMs: 6000 };
/** Of what can only run out of time. */
const shortLimits = { ...limits, cpuMs: 200 };

function limitsOf({ loadFails, fails = [], ...attempt }: Attack) {
  if (loadFails !== undefined) return loadFails.includes('time-exceeded') ? shortLimits : limits;
  return fails.includes('time-exceeded') && !('gives' in attempt) ? shortLimits : limits;
}

const longestText = 10_000;
const config = { odd: JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{}}}') };

let cells: CellEngine;
let neighbour: Program;
let loads = 0;

beforeAll(async () => {
  cells = await startCellEngine();
  neighbour = await cells.load(`{ handler: async () => ${soundness} }`);
});
afterAll(() => cells.close());

async function load({ top = '', ...attack }: Attack) {
  const code = `${top}\nglobalThis.__hotcellExports = { default: ${pluginOf(attack)} };`;
  const key = `attack-${++loads}`;
  const result = await cells.engine.load({ key, label: key, code, limits: limitsOf(attack) });
  const program = { key, label: key, readCode: async () => code, readImage: async () => undefined, saveImage: () => {} };
  return { result, program };
}

async function expectNeighbourUnharmed(): Promise<void> {
  expect(outputOf(await cells.call(neighbour))).toEqual(soundEvidence);
}

async function attack(attempt: Attack): Promise<void> {
  const { result, program } = await load(attempt);
  if (attempt.loadFails) {
    expect(result.ok ? 'loaded' : result.error.code).toBeOneOf([...attempt.loadFails]);
    if (!result.ok) expect(result.error.message.length).toBeLessThan(longestText);
    await expectNeighbourUnharmed();
    return;
  }
  expect(result).toMatchObject({ ok: true });
  const outcome = await cells.call(program, { limits: limitsOf(attempt), config });
  if (outcome.status === 'success' && 'gives' in attempt) {
    expect(outcome.output).toEqual(attempt.gives);
  } else {
    const error = outcome.status === 'success' ? { code: 'success', message: '', name: '', frames: [] } : outcome.error;
    expect({ ...error, code: attempt.fails?.includes(error.code) ? 'expected' : error.code }).toMatchObject({ code: 'expected' });
    expect(error.message.length + (error.name?.length ?? 0) + JSON.stringify(error.frames).length).toBeLessThan(longestText);
  }
  const { recording } = outcome;
  expect(JSON.stringify(recording?.crossings ?? []).length).toBeLessThan(8 * 1024 * 1024);
  await expectNeighbourUnharmed();
  const next = await cells.call(program, { args: { probe: true }, limits, config });
  if (attempt.plugin === undefined) expect(outputOf(next)).toEqual(soundEvidence);
  else if (!attempt.harmsItself) expect(next.status).toBe(outcome.status);
}

describe('a cell, attacked through the language', () => {
  it.each(languageAttacks)('$name', attack);
});

describe('a cell, attacked through forged messages', () => {
  it.each(borderAttacks)('$name', attack);
});

describe('a cell, attacked from its own image', () => {
  it.each(loadAttacks)('$name', attack);
});
