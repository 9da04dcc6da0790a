import type { ApprovalRow } from '../../store/tables/access/approvals.ts';

/**
 * What a person is asked: to grant permissions, to let a call run, to answer a question of a running call with yes or no or with more
 * (`ask`), to let a hook run, to use an MCP server.
 */
export type ApprovalKind = ApprovalRow['kind'];

/** Where a question stands. `withdrawn`: what asked is over, so nobody needs the answer. */
export type ApprovalStatus = ApprovalRow['status'];

/** A question to a person. */
export interface ApprovalRequest {
  readonly kind: ApprovalKind;
  /** What is asked: asking the same key again finds the earlier question with its answer, also after a restart. */
  readonly askKey: string;
  readonly unitPath: string;
  readonly plugin: string;
  readonly tool?: string;
  readonly executionId?: string;
  /** The executions above that one: who follows one of them hears of the question. */
  readonly above?: readonly string[] | undefined;
  /** Who caused it: this key cannot answer, unless the operator allowed it to. */
  readonly caller?: string;
  /** An admin caused it: the reserve is for these. */
  readonly isAdmin?: boolean;
  readonly session?: string;
  /** Why somebody must be asked. */
  readonly reason: ApprovalRow['reason'];
  /** One sentence. Of the kinds `confirm` and `ask` it is the plugin's own text, and every door shows it as such. */
  readonly question: string;
  /** SHA-256 (hex) of what the answer binds: canonical arguments, or the permissions that are asked for. */
  readonly argumentsHash: string;
  /** What a person needs to judge: all of the arguments, permissions as words, the content hash of the generation. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** A question as it is kept. */
export interface Approval extends Omit<ApprovalRequest, 'isAdmin' | 'above'> {
  readonly id: string;
  readonly status: ApprovalStatus;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly answeredAtMs?: number;
  readonly answeredBy?: string;
  /** What a question of kind `ask` was answered with; gone once its call is over. */
  readonly content?: AnswerContent;
}

/** Who answers. */
export interface Answerer {
  readonly id: string;
  readonly role: 'admin' | 'caller';
  /** Whether this key and another are of one line: makers and what they made. */
  readonly isOfLineOf?: (callerId: string) => boolean;
  /** The operator allowed this key to answer what it caused itself (a chat front end with a person behind it). */
  readonly mayAnswer: boolean;
  /** The door vouches that a person answers: a terminal that asked, the TUI, the console. Counts for the operator's own token alone. */
  readonly isPerson: boolean;
}

/** What a question for more than yes or no was answered with. */
export type AnswerContent = Readonly<Record<string, unknown>>;

/** What goes with an answer. */
export interface GivenAnswer {
  /** The hash of what was shown. */
  readonly shown?: string | undefined;
  /** What a question of kind `ask` is answered with. */
  readonly content?: unknown;
}
