import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EngineNeed } from '../../src/engines/engine.ts';
import {
  type BuildFacts,
  decideBuild,
  decideRun,
  type EngineState,
  type EscalationDecision,
  type EscalationEngine,
  type EscalationEngines,
  type RunFacts,
} from '../../src/engines/escalation.ts';
import { denoTraits } from '../../src/engines/process/deno/deno-engine.ts';
import { dockerTraits } from '../../src/engines/process/docker/engine/docker-engine.ts';
import { quickJsTraits } from '../../src/engines/quickjs/engine.ts';

const names: readonly EscalationEngine[] = ['quickjs', 'deno', 'docker'];
const height: Readonly<Record<string, number>> = { quickjs: 0, deno: 1, docker: 2 };
const files: EngineNeed = { kind: 'builtin', name: 'fs' };
const programs: EngineNeed = { kind: 'processes', name: 'child_process' };
const addon: EngineNeed = { kind: 'native-addon' };

function enginesWith(...usable: EscalationEngine[]): EscalationEngines {
  const traits = { quickjs: quickJsTraits, deno: denoTraits, docker: dockerTraits };
  const state = (name: EscalationEngine): EngineState =>
    usable.includes(name)
      ? { ...traits[name], usable: true }
      : { ...traits[name], usable: false, reason: `Install ${name} first.` };
  return new Map(names.map((name) => [name, state(name)]));
}

const all = enginesWith(...names);
const build: BuildFacts = {
  engine: 'quickjs',
  needs: [files],
  engines: all,
  escalation: 'ask',
  approved: [],
  isOperators: true,
};
const run: RunFacts = {
  trouble: 'cpu-limit',
  engine: 'quickjs',
  engines: all,
  escalation: 'auto',
  isOperators: true,
  isIdempotent: true,
  hasEffects: false,
  isolation: 'call',
  hasMoved: false,
  leftMs: 10_000,
};

const short = (decision: EscalationDecision): string =>
  decision.action === 'stay' ? 'stay' : `${decision.action} ${decision.engine}`;

describe('decideBuild', () => {
  it.each<[string, Partial<BuildFacts>, string]>([
    ['asks for the lowest engine that has it', {}, 'ask deno'],
    ['moves by itself under auto', { escalation: 'auto' }, 'move deno'],
    ['only says so under never', { escalation: 'never' }, 'suggest deno'],
    ['moves where a person let it', { approved: ['deno'] }, 'move deno'],
    ['never wins over what a person let once', { escalation: 'never', approved: ['deno'] }, 'suggest deno'],
    ['does not take the leave for one engine for another', { approved: ['docker'] }, 'ask deno'],
    ['goes to containers for programs', { needs: [programs] }, 'ask docker'],
    ['goes to containers for native add-ons', { needs: [addon], escalation: 'auto' }, 'move docker'],
    ['takes the engine that has all of it', { needs: [files, addon] }, 'ask docker'],
    ['stays where one thing is nowhere', { needs: [programs, addon], engine: 'docker' }, 'stay'],
    ['moves from Deno, too', { engine: 'deno', needs: [programs] }, 'ask docker'],
    ['takes the next engine that is there', { engines: enginesWith('quickjs', 'docker') }, 'ask docker'],
    ['names the engine to install when none is there', { engines: enginesWith('quickjs'), escalation: 'auto' }, 'suggest deno'],
    ['stays on the highest engine', { engine: 'docker', needs: [addon] }, 'stay'],
    ['has no engine above a WebAssembly module', { engine: 'extism' }, 'stay'],
    ['does not move what the operator did not write by itself', { escalation: 'auto', isOperators: false }, 'ask deno'],
    ['moves what another wrote when a person let it', { isOperators: false, approved: ['deno'] }, 'move deno'],
    ['stays when nothing is wanted', { needs: [] }, 'stay'],
  ])('%s', (_what, facts, expected) => {
    expect(short(decideBuild({ ...build, ...facts }))).toBe(expected);
  });

  it('says what is wanted, what the engine brings, and what is missing', () => {
    expect(decideBuild({ ...build, needs: [files, programs, addon] }).reason).toBe(
      'It imports "node:fs" and "node:child_process" and a native add-on (.node), which the engine "quickjs" does not have; "docker" does: a container with the programs and packages of its image, network only through the daemon.',
    );
    expect(decideBuild({ ...build, engines: enginesWith('quickjs') }).reason).toContain('Install deno first.');
  });

  it('goes up only, to a usable engine, and never past what was configured', () => {
    fc.assert(
      fc.property(arbitraryBuild, (facts) => {
        const decision = decideBuild(facts);
        expect(decision.reason).toMatch(/^[A-Z].*\.$/s);
        if (decision.action === 'stay') return;
        expect(height[decision.engine]).toBeGreaterThan(height[facts.engine] ?? Number.NaN);
        if (decision.action === 'suggest') return;
        expect(facts.engines.get(decision.engine)?.usable).toBe(true);
        expect(facts.escalation).not.toBe('never');
        if (decision.action === 'move' && !facts.approved.includes(decision.engine)) {
          expect(facts).toMatchObject({ escalation: 'auto', isOperators: true });
        }
      }),
    );
  });
});

describe('decideRun', () => {
  it.each<[string, Partial<RunFacts>, string]>([
    ['runs again on a higher engine when the processor time is over', {}, 'move deno'],
    ['runs again on a higher engine when the memory is over', { trouble: 'memory-limit' }, 'move deno'],
    ['does not when the time is over', { trouble: 'time' }, 'stay'],
    ['does so once', { hasMoved: true }, 'stay'],
    ['suggests under ask', { escalation: 'ask' }, 'suggest deno'],
    ['suggests under never', { escalation: 'never' }, 'suggest deno'],
    ['suggests where the tool is not idempotent', { isIdempotent: false }, 'suggest deno'],
    ['suggests where the call had effects', { hasEffects: true }, 'suggest deno'],
    ['suggests where others share the cell', { isolation: 'session' }, 'suggest deno'],
    ['suggests where the operator did not write the code', { isOperators: false }, 'suggest deno'],
    ['suggests where no time is left', { leftMs: 10 }, 'suggest deno'],
    ['takes the next engine that is there', { engines: enginesWith('quickjs', 'docker') }, 'move docker'],
    ['stays where there is no other engine', { engines: enginesWith('quickjs') }, 'stay'],
    ['stays where the engine above is no faster', { engine: 'deno' }, 'stay'],
    ['has no engine above a WebAssembly module', { engine: 'extism' }, 'stay'],
    ['runs again where a built-in is there that it reached for', { trouble: files }, 'move deno'],
    ['passes by an engine that does not have it either', { trouble: programs }, 'move docker'],
    ['moves from Deno for programs, too', { trouble: programs, engine: 'deno' }, 'move docker'],
  ])('%s', (_what, facts, expected) => {
    expect(short(decideRun({ ...run, ...facts }))).toBe(expected);
  });

  it('runs again only what may be run twice, and only under auto', () => {
    fc.assert(
      fc.property(arbitraryRun, (facts) => {
        const decision = decideRun(facts);
        expect(decision.reason).toMatch(/^[A-Z].*\.$/s);
        if (decision.action === 'ask') expect([typeof facts.trouble, facts.escalation]).toEqual(['object', 'ask']);
        if (decision.action !== 'move') return;
        expect(facts).toMatchObject({
          escalation: 'auto',
          isOperators: true,
          isIdempotent: true,
          hasEffects: false,
          hasMoved: false,
          isolation: 'call',
        });
        expect(facts.engines.get(decision.engine)?.usable).toBe(true);
        expect(height[decision.engine]).toBeGreaterThan(height[facts.engine] ?? Number.NaN);
      }),
    );
  });
});

const arbitraryEngines: fc.Arbitrary<EscalationEngines> = fc.subarray([...names]).map((usable) => enginesWith(...usable));
const arbitraryNeed: fc.Arbitrary<EngineNeed> = fc.constantFrom(files, programs, addon);
const engine = fc.constantFrom('quickjs' as const, 'deno' as const, 'docker' as const);
const escalation = fc.constantFrom('never' as const, 'ask' as const, 'auto' as const);

const arbitraryBuild: fc.Arbitrary<BuildFacts> = fc.record({
  engine,
  needs: fc.array(arbitraryNeed, { maxLength: 4 }),
  engines: arbitraryEngines,
  escalation,
  approved: fc.subarray([...names]),
  isOperators: fc.boolean(),
});

const arbitraryRun: fc.Arbitrary<RunFacts> = fc.record({
  trouble: fc.oneof(fc.constantFrom('memory-limit' as const, 'cpu-limit' as const, 'time' as const), arbitraryNeed),
  engine,
  engines: arbitraryEngines,
  escalation,
  isOperators: fc.boolean(),
  isIdempotent: fc.boolean(),
  hasEffects: fc.boolean(),
  isolation: fc.constantFrom('call' as const, 'session' as const, 'plugin' as const),
  hasMoved: fc.boolean(),
  leftMs: fc.nat({ max: 60_000 }),
});
