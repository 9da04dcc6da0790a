import type { PartialMessage } from 'esbuild';
import type { EngineNeed } from '../../engines/escalation.ts';
import type { ErrorCode } from '../../errors/catalog.ts';

/** Why the guard refused an import; travels through esbuild as the `detail` of a message. */
export class ImportRefusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly fix: string;
  /** What another engine may have; undefined when none could help. */
  readonly need: EngineNeed | undefined;

  constructor(code: ErrorCode, message: string, fix: string, need?: EngineNeed) {
    this.code = code;
    this.message = message;
    this.fix = fix;
    this.need = need;
  }

  /** The refusal as an error for esbuild, which adds the place of the import. */
  toMessage(): PartialMessage {
    return { text: this.message, detail: this };
  }
}
