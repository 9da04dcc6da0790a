import { describe, expect, it } from 'vitest';
import { type AdmissionFacts, decideAdmission } from '../../../src/calls/accept/admission.ts';

const flags = {
  isResearch: false,
  isSideEffect: false,
  isDeep: false,
  isDangerous: false,
  isElevated: false,
  isParallelSafe: false,
};
const facts: AdmissionFacts = {
  tool: 'wipe',
  plugin: 'disk',
  areToolsEnabled: true,
  isCustomEnabled: true,
  source: 'plugin',
  isDraining: false,
  safeMode: 'off',
  mode: 'on',
  flags,
  who: undefined,
  role: 'caller',
  isForModel: false,
  isolation: 'call',
  needsEngine: undefined,
  granted: () => ({}),
  findFull: () => undefined,
};

describe('decideAdmission', () => {
  it.each<[string, Partial<AdmissionFacts>, string | undefined]>([
    ['lets an ordinary call in', {}, undefined],
    ['lets tools in mode auto be called', { mode: 'auto' }, undefined],
    ['refuses while the daemon stops', { isDraining: true }, 'shutting-down'],
    ['refuses while tools are switched off', { areToolsEnabled: false }, 'tools-disabled'],
    ['refuses a tool that is off', { mode: 'off' }, 'tool-off'],
    ['refuses an elevated tool to a caller', { flags: { ...flags, isElevated: true } }, 'forbidden'],
    ['lets an admin call an elevated tool', { flags: { ...flags, isElevated: true }, role: 'admin' }, undefined],
    ['lets a dangerous tool in, for which a person is asked later', { flags: { ...flags, isDangerous: true } }, undefined],
    ['refuses a tool for people to a caller', { who: 'person' }, 'forbidden'],
    ['lets an admin call a tool for people', { who: 'person', role: 'admin' }, undefined],
    [
      'lets no model call a tool for people, whoever it acts for',
      { who: 'person', role: 'admin', isForModel: true },
      'forbidden',
    ],
    [
      'refuses a dangerous tool to everybody in safe mode',
      { flags: { ...flags, isDangerous: true }, role: 'admin', safeMode: 'dangerous' },
      'tool-off',
    ],
    ['lets other tools in while safe mode is on', { safeMode: 'dangerous' }, undefined],
    ['refuses a shared cell that is not granted', { isolation: 'plugin' }, 'permission-denied'],
    ['refuses an engine that was taken back', { needsEngine: ['deno'] }, 'permission-denied'],
    ['lets a granted engine in', { needsEngine: ['deno'], granted: () => ({ engine: ['deno'] }) }, undefined],
    ['lets a granted shared cell in', { isolation: 'plugin', granted: () => ({ sharedCell: true }) }, undefined],
    ['refuses when the queue is full', { findFull: () => ({ bound: 'all', calls: '10 calls', max: 10 }) }, 'queue-full'],
    [
      'refuses when the share of the caller is full',
      { findFull: () => ({ bound: 'caller', calls: '5 calls of this caller', max: 5 }) },
      'queue-full',
    ],
  ])('%s', (_title, changed, code) => {
    expect(decideAdmission({ ...facts, ...changed })?.code).toBe(code);
  });
});
