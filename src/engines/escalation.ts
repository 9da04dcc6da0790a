import type { Escalation } from '../config/config-types.ts';
import type { scriptEngineNames } from '../config/engine-names.ts';
import type { EngineName, EngineNeed, Isolation, ScriptTraits } from './engine.ts';

/** One of TypeScript and JavaScript: a plugin moves from one to the next above. */
export type EscalationEngine = (typeof scriptEngineNames)[number];

/** The engines, lowest first, and whether each may be used now: a sentence says why not, such as what to install. */
export type EscalationEngines = ReadonlyMap<EscalationEngine, EngineState>;

/** One of them. */
export type EngineState = ScriptTraits & ({ readonly usable: true } | { readonly usable: false; readonly reason: string });

/** What to do. `reason` is for people: whole sentences without host paths and without words of the plugin. */
export type EscalationDecision =
  | { readonly action: 'stay'; readonly reason: string }
  | { readonly action: 'ask' | 'move'; readonly engine: EscalationEngine; readonly reason: string }
  /** `isThere` is false when the engine would do, but may not or cannot be used now. */
  | { readonly action: 'suggest'; readonly engine: EscalationEngine; readonly isThere: boolean; readonly reason: string };

/** What is known of a plugin whose code wants what its engine does not have. */
export interface BuildFacts {
  readonly engine: EngineName;
  readonly needs: readonly EngineNeed[];
  readonly engines: EscalationEngines;
  readonly escalation: Escalation;
  /** Engines that a person let this plugin escalate to. */
  readonly approved: readonly string[];
  /** False for code of a model, a caller or a repair. */
  readonly isOperators: boolean;
}

/** Why a call ended that another engine might have ended well. */
export type RunTrouble = 'memory-limit' | 'cpu-limit' | 'time' | EngineNeed;

/** What is known of a call that used up what it may have, or reached for what its engine does not have. */
export interface RunFacts {
  readonly trouble: RunTrouble;
  readonly engine: EngineName;
  readonly engines: EscalationEngines;
  readonly escalation: Escalation;
  readonly isOperators: boolean;
  readonly isIdempotent: boolean;
  /** It asked the host for something that leaves a trace. */
  readonly hasEffects: boolean;
  readonly isolation: Isolation;
  /** It was run again on a higher engine before. */
  readonly hasMoved: boolean;
  /** Time that its deadline leaves. */
  readonly leftMs: number;
}

/** A second run that starts this close to the deadline would only be cut off. */
const leastTimeMs = 250;

/** Decides what becomes of a plugin whose code wants what its engine does not have: the lowest engine above that has it all. */
export function decideBuild(facts: BuildFacts): EscalationDecision {
  const { engine, needs, engines, escalation } = facts;
  const wants = sayNeeds(needs);
  const fitting = above(engines, engine).filter(([, { carries }]) => needs.every(({ kind }) => carries.includes(kind)));
  const [lowest] = fitting;
  if (needs.length === 0 || lowest === undefined) {
    return { action: 'stay', reason: `${wants}, which no engine above "${engine}" has.` };
  }
  const found = fitting.find(([, { usable }]) => usable);
  if (found === undefined) {
    const [name, state] = lowest;
    const reason = `${wants}; the engine "${name}" would do. ${sayMissing(state)}`;
    return { action: 'suggest', engine: name, isThere: false, reason };
  }
  const [name, { brings }] = found;
  const reason = `${wants}, which the engine "${engine}" does not have; "${name}" does: ${brings}.`;
  if (escalation === 'never') return { action: 'suggest', engine: name, isThere: true, reason };
  const mayMove = facts.approved.includes(name) || (escalation === 'auto' && facts.isOperators);
  return { action: mayMove ? 'move' : 'ask', engine: name, reason };
}

/** Decides whether a call is run again on a higher engine, once; a suggestion is for the error of the call. */
export function decideRun(facts: RunFacts): EscalationDecision {
  const { engine, engines, trouble } = facts;
  const stay = (reason: string): EscalationDecision => ({ action: 'stay', reason });
  if (trouble === 'time') return stay('The time of the call ran out, which runs as fast on every engine.');
  if (facts.hasMoved) return stay('The call was run again on another engine before.');
  const isCompiled = [...engines].some(([name, { compiles }]) => name === engine && compiles);
  const better = above(engines, engine).filter(([, { carries, compiles }]) =>
    typeof trouble === 'object' ? carries.includes(trouble.kind) : compiles && !isCompiled,
  );
  const [lowest] = better;
  const found = better.find(([, { usable }]) => usable);
  if (found === undefined && lowest !== undefined && typeof trouble === 'object') {
    const [name, state] = lowest;
    return { action: 'suggest', engine: name, isThere: false, reason: `${sayGain(name, trouble)}. ${sayMissing(state)}` };
  }
  if (found === undefined) return stay(`No engine above "${engine}" that may be used would do better.`);
  const [next, { brings }] = found;
  const gain = sayGain(next, trouble);
  if (typeof trouble === 'object' && facts.escalation === 'ask') {
    const reason = `The call asked for ${nameNeed(trouble)}, which the engine "${engine}" does not have; "${next}" does: ${brings}.`;
    return { action: 'ask', engine: next, reason };
  }
  const obstacle = findObstacle(facts);
  if (obstacle !== undefined) return { action: 'suggest', engine: next, isThere: true, reason: `${gain}; ${obstacle}.` };
  return { action: 'move', engine: next, reason: `The call ${sayTrouble(trouble)}. ${gain}.` };
}

function sayTrouble(trouble: Exclude<RunTrouble, 'time'>): string {
  if (typeof trouble === 'object') return `asked for ${nameNeed(trouble)}`;
  return trouble === 'cpu-limit' ? 'reached its limit of processor time' : 'reached its limit of memory';
}

function sayGain(higher: EscalationEngine, trouble: Exclude<RunTrouble, 'time'>): string {
  if (typeof trouble === 'object') return `The engine "${higher}" has ${nameNeed(trouble)}`;
  const gain = trouble === 'cpu-limit' ? 'needs less time on the processor for the same work' : 'has more room for the same data';
  return `The engine "${higher}" ${gain}`;
}

/** Why a call is not run again by itself although an engine above may do better. */
function findObstacle({ escalation, isOperators, isIdempotent, hasEffects, isolation, leftMs }: RunFacts): string | undefined {
  if (escalation !== 'auto') return `calls move by themselves only with escalation: auto, and it is ${escalation}`;
  if (!isOperators) return 'calls of code that the operator did not write do not move by themselves';
  if (!isIdempotent) return 'only calls of tools marked idempotent are run again';
  if (hasEffects) return 'this call had effects already, so it was not run again';
  if (isolation !== 'call') return `its cell belongs to the ${isolation}, so it was not run again elsewhere`;
  if (leftMs < leastTimeMs) return 'no time was left to run it again';
  return undefined;
}

function above(engines: EscalationEngines, engine: EngineName): (readonly [EscalationEngine, EngineState])[] {
  const all = [...engines];
  const at = all.findIndex(([name]) => name === engine);
  return at < 0 ? [] : all.slice(at + 1);
}

function sayMissing(state: EngineState): string {
  return state.usable ? '' : state.reason;
}

const maxNamed = 5;

/** The needs as the beginning of a sentence. */
function sayNeeds(needs: readonly EngineNeed[]): string {
  const all = [...new Set(needs.map(nameNeed))];
  const shown = all.length > maxNamed ? [...all.slice(0, maxNamed), `${all.length - maxNamed} more`] : all;
  return shown.length === 0
    ? 'It asks for nothing'
    : `It ${needs.some(({ kind }) => kind === 'global') ? 'uses' : 'imports'} ${shown.join(' and ')}`;
}

function nameNeed(need: EngineNeed): string {
  if (need.kind === 'native-addon') return 'a native add-on (.node)';
  return need.kind === 'global' ? `the global "${need.name}"` : `"node:${need.name}"`;
}
