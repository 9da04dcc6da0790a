import { type Static, Type } from 'typebox';
import { omitUndefined } from '../config/json-object.ts';
import type { Failure } from './failures/failure.ts';

/** Where a repair stands. */
export const repairStates = [
  'running',
  'publishing',
  'proposed',
  'published',
  'applying',
  'applied',
  'given-up',
  'rejected',
  'rolled-back',
  'superseded',
  'interrupted',
  'expired',
] as const;

/**
 * `publishing` and `applying` are there for the moment of the deed, and for the next start when the daemon ends in it. `proposed`
 * waits for a person, `published` serves while the file is as it was, `superseded` was overtaken by a save.
 */
export type RepairState = (typeof repairStates)[number];

/** States of which something is still to come. */
export const openStates: readonly RepairState[] = ['running', 'publishing', 'proposed', 'published', 'applying'];

/** The most that is read of the description of an API. */
export const maxDescriptionBytes = 8 * 1024 * 1024;

const text = Type.String();
const checkSchema = Type.Object({ name: text, outcome: text, detail: text });

/** Why a repair is over that somebody overtook. */
export const savedSince = 'The file was saved since, and the save counts.';

/** What a person can do about a repair whose generation serves in place of the file. */
export function describeServing(id: string, generation: number): string {
  return `Generation ${generation} serves until the file is saved. Write it into the file: hotcell repair apply ${id}; take it back: hotcell repair rollback ${id}.`;
}

/** Something that was tried; texts are bounded. */
export const attemptSchema = Type.Object({
  by: text,
  author: Type.Enum(['repair', 'model']),
  note: text,
  outcome: text,
  checks: Type.Array(checkSchema),
  diff: text,
});

/** A change that may be put into the files; `before` is null for a file that is not there yet. */
export const proposalSchema = Type.Object({
  by: text,
  author: Type.Enum(['repair', 'model']),
  sureness: Type.Enum(['sure', 'maybe']),
  note: text,
  diff: text,
  /** What a person decides with it: permissions, hosts, imports that the plugin did not have. */
  asks: Type.Array(text),
  files: Type.Array(Type.Object({ path: text, before: Type.Union([text, Type.Null()]), after: text })),
});

export const failureSchema = Type.Object({
  code: text,
  message: text,
  file: Type.Optional(text),
  line: Type.Optional(Type.Integer()),
  fix: text,
  executionId: Type.Optional(text),
});

/** What of a failure is kept, bounded. */
export function keepFailure({ code, message, fix, file, line, executionId }: Failure): Static<typeof failureSchema> {
  return { code, message: message.slice(0, 4000), fix, ...omitUndefined({ file, line, executionId }) };
}

export type Attempt = Static<typeof attemptSchema>;
export type KeptProposal = Static<typeof proposalSchema>;

/** What was tried in vain in a repair, oldest first: a person may have turned down what mended. */
export function listAttempts({ attempts, state, reason }: Pick<Repair, 'attempts' | 'state' | 'reason'>): readonly Attempt[] {
  if (state !== 'rejected' && state !== 'rolled-back') return attempts.filter(({ outcome }) => outcome !== 'mended');
  return attempts.map((each) =>
    each.outcome === 'mended' ? { ...each, outcome: 'turned down by a person', note: `${each.note} ${reason}` } : each,
  );
}

/** One repair: what failed, what was tried, what became of it. */
export interface Repair {
  readonly id: string;
  /** The identity of the plugin. */
  readonly path: string;
  readonly plugin: string;
  /** The class of the failure; `creation` for a plugin that is new. */
  readonly class: string;
  readonly failureKey: string;
  readonly failure: Static<typeof failureSchema>;
  /** Of the content in which the failure was diagnosed. */
  readonly contentHash: string;
  readonly state: RepairState;
  /** Why it stands there, and what a person can do, as a sentence. */
  readonly reason: string;
  readonly author?: 'repair' | 'model';
  /** The generation that it published, and the hash of its content. */
  readonly generation?: string;
  readonly generationHash?: string;
  readonly attempts: readonly Attempt[];
  readonly proposal?: KeptProposal;
  readonly tokens: number;
  readonly cost: number;
  readonly startedAtMs: number;
  readonly endedAtMs?: number;
}

/** How much a proposal is worth before it was tried: nothing else could have been meant, or something else could. */
export type Sureness = 'sure' | 'maybe';

/** New texts for files of a plugin; nothing of them is on the disk. */
export interface Proposal {
  /** Real path of each file that changes, to its whole new text. */
  readonly files: ReadonlyMap<string, string>;
  /** The name of the fixer or of the model. */
  readonly by: string;
  readonly sureness: Sureness;
  /** What it changes and why, in one sentence for people. */
  readonly note: string;
}
