import type { Escalation } from '../config/config-types.ts';
import { scriptEngineNames } from '../config/engine-names.ts';
import type { EngineName, Isolation } from './engine.ts';

/** What code wants that not every engine has. `builtin` is a name of Node's own modules, without `node:`. */
export type EngineNeed =
  | { readonly kind: 'global'; readonly name: string }
  | { readonly kind: 'builtin'; readonly name: string }
  | { readonly kind: 'processes'; readonly name: string }
  | { readonly kind: 'native-addon' };

/** One of TypeScript and JavaScript: a plugin moves from one to the next above. */
export type EscalationEngine = (typeof scriptEngineNames)[number];

/** Whether an engine may be used now: a sentence says why not, such as what to install. */
export type EscalationEngines = Readonly<
  Record<EscalationEngine, { readonly usable: true } | { readonly usable: false; readonly reason: string }>
>;

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

const names: readonly string[] = scriptEngineNames;

const carries: Readonly<Record<EscalationEngine, ReadonlySet<EngineNeed['kind']>>> = {
  quickjs: new Set(),
  deno: new Set(['builtin', 'global']),
  docker: new Set(['builtin', 'global', 'processes', 'native-addon']),
};

/** What a person lets happen who allows an engine. */
const brings: Readonly<Record<EscalationEngine, string>> = {
  quickjs: 'a sandbox in WebAssembly',
  deno: "a process of its own with Node's built-ins, files only as granted, network only through the daemon",
  docker: 'a container with the programs and packages of its image, network only through the daemon',
};

/** Engines that compile JavaScript to machine code: the same call takes them less time, and often less memory. */
const compiles: ReadonlySet<EngineName> = new Set(['deno', 'docker']);

/** A second run that starts this close to the deadline would only be cut off. */
const leastTimeMs = 250;

/** Decides what becomes of a plugin whose code wants what its engine does not have: the lowest engine above that has it all. */
export function decideBuild(facts: BuildFacts): EscalationDecision {
  const { engine, needs, engines, escalation } = facts;
  const wants = sayNeeds(needs);
  const fitting = above(engine).filter((higher) => needs.every(({ kind }) => carries[higher].has(kind)));
  const [lowest] = fitting;
  if (needs.length === 0 || lowest === undefined) {
    return { action: 'stay', reason: `${wants}, which no engine above "${engine}" has.` };
  }
  const usable = fitting.find((higher) => engines[higher].usable);
  if (usable === undefined) {
    return {
      action: 'suggest',
      engine: lowest,
      isThere: false,
      reason: `${wants}; the engine "${lowest}" would do. ${sayMissing(engines, lowest)}`,
    };
  }
  const reason = `${wants}, which the engine "${engine}" does not have; "${usable}" does: ${brings[usable]}.`;
  if (escalation === 'never') return { action: 'suggest', engine: usable, isThere: true, reason };
  const mayMove = facts.approved.includes(usable) || (escalation === 'auto' && facts.isOperators);
  return { action: mayMove ? 'move' : 'ask', engine: usable, reason };
}

/** Decides whether a call is run again on a higher engine, once; a suggestion is for the error of the call. */
export function decideRun(facts: RunFacts): EscalationDecision {
  const { engine, engines, trouble } = facts;
  const stay = (reason: string): EscalationDecision => ({ action: 'stay', reason });
  if (trouble === 'time') return stay('The time of the call ran out, which runs as fast on every engine.');
  if (facts.hasMoved) return stay('The call was run again on another engine before.');
  const next = above(engine).find((higher) => engines[higher].usable && isBetter(higher, engine, trouble));
  if (next === undefined && typeof trouble === 'object') {
    const missing = above(engine).find((higher) => isBetter(higher, engine, trouble));
    if (missing !== undefined)
      return {
        action: 'suggest',
        engine: missing,
        isThere: false,
        reason: `${sayGain(missing, trouble)}. ${sayMissing(engines, missing)}`,
      };
  }
  if (next === undefined) return stay(`No engine above "${engine}" that may be used would do better.`);
  const gain = sayGain(next, trouble);
  if (typeof trouble === 'object' && facts.escalation === 'ask') {
    return {
      action: 'ask',
      engine: next,
      reason: `The call asked for ${nameNeed(trouble)}, which the engine "${engine}" does not have; "${next}" does: ${brings[next]}.`,
    };
  }
  const obstacle = findObstacle(facts);
  if (obstacle !== undefined) return { action: 'suggest', engine: next, isThere: true, reason: `${gain}; ${obstacle}.` };
  return { action: 'move', engine: next, reason: `The call ${sayTrouble(trouble)}. ${gain}.` };
}

function isBetter(higher: EscalationEngine, engine: EngineName, trouble: Exclude<RunTrouble, 'time'>): boolean {
  return typeof trouble === 'object' ? carries[higher].has(trouble.kind) : compiles.has(higher) && !compiles.has(engine);
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

function above(engine: EngineName): readonly EscalationEngine[] {
  const at = names.indexOf(engine);
  return at < 0 ? [] : scriptEngineNames.slice(at + 1);
}

function sayMissing(engines: EscalationEngines, engine: EscalationEngine): string {
  const state = engines[engine];
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
