import { type ErrorCode, errorCatalog } from './catalog.ts';

/** Facts that explain one error; they may be shown to the caller, so no secret and no host path goes in. */
export type ErrorFacts = Readonly<Record<string, unknown>>;

/**
 * The one base error. `code` is stable and looked up in the catalog for title, fix and HTTP status;
 * `message` is a whole sentence that says what was expected and what came; `fix` is the next step.
 */
export class HotcellError extends Error {
  readonly code: ErrorCode;
  readonly facts: ErrorFacts;
  readonly fix: string;

  constructor(code: ErrorCode, message: string, options: { fix?: string | undefined; facts?: ErrorFacts; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'HotcellError';
    this.code = code;
    this.facts = options.facts ?? {};
    this.fix = options.fix ?? errorCatalog[code].fix;
  }

  /** The HTTP status that the catalog gives this code. */
  get status(): number {
    return errorCatalog[this.code].status;
  }

  /** The short title that the catalog gives this code. */
  get title(): string {
    return errorCatalog[this.code].title;
  }
}
