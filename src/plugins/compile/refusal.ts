import type { PartialMessage } from 'esbuild';
import type { ErrorCode } from '../../errors/catalog.ts';

/** Why the guard refused an import; travels through esbuild as the `detail` of a message. */
export class ImportRefusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly fix: string;

  constructor(code: ErrorCode, message: string, fix: string) {
    this.code = code;
    this.message = message;
    this.fix = fix;
  }

  /** The refusal as an error for esbuild, which adds the place of the import. */
  toMessage(): PartialMessage {
    return { text: this.message, detail: this };
  }
}
