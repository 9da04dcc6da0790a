import { inspect } from '../util/show.ts';

/** What is compared and how. */
export interface AssertionFacts {
  readonly actual?: unknown;
  readonly expected?: unknown;
  readonly operator: string;
  readonly message?: string | undefined;
}

/** The error of node:assert. */
export class AssertionError extends Error {
  readonly code = 'ERR_ASSERTION';
  readonly actual: unknown;
  readonly expected: unknown;
  readonly operator: string;
  readonly generatedMessage: boolean;

  constructor(facts: AssertionFacts) {
    super(
      facts.message ??
        `Expected values to be ${facts.operator}:\n\n${inspect(facts.actual)}\n\nshould be ${facts.operator} to\n\n${inspect(facts.expected)}`,
    );
    this.name = 'AssertionError';
    this.actual = facts.actual;
    this.expected = facts.expected;
    this.operator = facts.operator;
    this.generatedMessage = facts.message === undefined;
  }
}
