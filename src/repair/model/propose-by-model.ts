import type { ModelRoom } from '../decide-next.ts';
import type { Diagnosis } from '../diagnosis/diagnosis.ts';
import type { Proposal } from '../proposal.ts';
import type { Tried } from '../trials.ts';

/** What a model is asked to mend. */
export interface PatchRequest {
  readonly diagnosis: Diagnosis;
  readonly room: ModelRoom;
  readonly signal: AbortSignal;
  readonly onUse: (used: { readonly tokens: number; readonly cost: number }) => void;
  /** Undefined for what was tried before, or changes nothing that may be changed. */
  readonly tryPatch: (proposal: Proposal) => Promise<Tried | undefined>;
  readonly isOver: () => boolean;
}

/** Has a model propose patches until one mends, or its room is used up; says why it ended otherwise. */
export type ProposeByModel = (request: PatchRequest) => Promise<string | undefined>;
