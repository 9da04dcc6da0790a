import { defaultRepairModes, type RepairMode, type RepairSettings } from '../config/settings/repair-settings.ts';
import { maxProposalsFor } from './decide-next.ts';
import type { FailureClass } from './failures/failure.ts';
import type { Repair } from './repair.ts';

/** What keeps a repair from starting, by the name under which it is counted. */
export const repairBrakes = [
  'off',
  'mended',
  'proposed',
  'refused-by-person',
  'same-diagnosis',
  'attempts',
  'back-off',
  'proposals-full',
  'queue-full',
] as const;

export type RepairBrake = (typeof repairBrakes)[number];

/** What is known when something failed. */
export interface StartFacts {
  readonly settings: RepairSettings;
  readonly class: FailureClass;
  readonly failureKey: string;
  readonly contentHash: string;
  /** Earlier repairs of the plugin, newest first. */
  readonly history: readonly Repair[];
  /** Ids of the generations that serve. */
  readonly liveGeneration: string | undefined;
  readonly openProposals: number;
  readonly waitingRepairs: number;
  /** A person asked: what was tried in vain may be tried again. */
  readonly isForPerson: boolean;
  readonly name: string;
  readonly nowMs: number;
}

/** Starts, or says what keeps it and what a person can do. */
export type StartDecision =
  | { readonly starts: true; readonly mode: RepairMode }
  | { readonly starts: false; readonly brake: RepairBrake; readonly reason: string };

/** Repairs that may wait for their turn. */
export const maxWaitingRepairs = 64;

/** Whether a failure starts a repair. Pure. */
export function decideStart(facts: StartFacts): StartDecision {
  const { settings, history, contentHash, failureKey, isForPerson, name } = facts;
  const configured = modeOf(facts.class, settings);
  if (configured === 'off' && !isForPerson)
    return no('off', `repair.mode.${facts.class} is off; start one by hand: hotcell repair start ${name}.`);
  const ofContent = history.filter((repair) => repair.contentHash === contentHash);
  const serving = ofContent.find(
    ({ state, generation }) => state === 'published' && generation !== undefined && generation === facts.liveGeneration,
  );
  if (serving !== undefined)
    return no(
      'mended',
      `Repair ${serving.id} of this very content serves; write it into the file: hotcell repair apply ${serving.id}.`,
    );
  const proposed = ofContent.find(({ state }) => state === 'proposed');
  if (proposed !== undefined && !isForPerson)
    return no('proposed', `A proposal for this content waits: hotcell repair show ${proposed.id}.`);
  if (!isForPerson) {
    const brake = findBrake(
      facts,
      ofContent,
      history.filter((repair) => repair.failureKey === failureKey),
    );
    if (brake !== undefined) return brake;
  }
  if (proposed === undefined && facts.openProposals >= maxProposalsFor(settings, isForPerson))
    return no('proposals-full', `${facts.openProposals} proposals wait for a person; answer some: hotcell repair list.`);
  if (facts.waitingRepairs >= maxWaitingRepairs)
    return no('queue-full', `${maxWaitingRepairs} repairs wait for their turn already; later: hotcell repair start ${name}.`);
  return { starts: true, mode: configured === 'off' ? 'propose' : configured };
}

/** What stops a repair that nobody asked for: it was turned down, or did not help before. */
function findBrake(facts: StartFacts, ofContent: readonly Repair[], ofFailure: readonly Repair[]): StartDecision | undefined {
  const { settings, name, failureKey } = facts;
  const turnedDown = ofContent.find(({ state }) => state === 'rejected' || state === 'rolled-back');
  if (turnedDown !== undefined)
    return no(
      'refused-by-person',
      `Repair ${turnedDown.id} of this content was turned down; mend the file, or: hotcell repair start ${name}.`,
    );
  const inVain = ofContent.filter(isInVain);
  if (inVain.length >= settings.maxAttempts)
    return no(
      'attempts',
      `${inVain.length} repairs of this content did not help, so it is left alone; mend the file, or: hotcell repair start ${name}.`,
    );
  if (inVain.some((repair) => repair.state === 'given-up' && repair.failureKey === failureKey))
    return no(
      'same-diagnosis',
      `The same failure of the same content was not mended before; mend the file, or: hotcell repair start ${name}.`,
    );
  // One that the end of the daemon cut off says nothing of the failure.
  const finished = ofFailure.filter(({ state }) => state !== 'interrupted');
  const lastInVain = finished.findIndex(({ state }) => state !== 'given-up');
  const row = lastInVain === -1 ? finished : finished.slice(0, lastInVain);
  const [last] = row;
  const readyAtMs = (last?.endedAtMs ?? 0) + backOff(settings.backOffMs, row.length);
  if (last === undefined || facts.nowMs >= readyAtMs) return undefined;
  const seconds = Math.ceil((readyAtMs - facts.nowMs) / 1000);
  return no(
    'back-off',
    `The same failure was not mended ${row.length} times in a row; again in ${seconds} s, or now: hotcell repair start ${name}.`,
  );
}

function isInVain({ state }: Repair): boolean {
  return state === 'given-up' || state === 'interrupted';
}

/** Doubles with each repair in a row that did not help; a day at most. */
function backOff(firstMs: number, row: number): number {
  return row === 0 ? 0 : Math.min(firstMs * 2 ** (row - 1), 86_400_000);
}

/** What the config says of a class. */
export function modeOf(failureClass: FailureClass, { mode }: RepairSettings): RepairMode {
  return typeof mode === 'string' ? mode : (mode[failureClass] ?? defaultRepairModes[failureClass]);
}

function no(brake: RepairBrake, reason: string): StartDecision {
  return { starts: false, brake, reason };
}
