import { createHash } from 'node:crypto';
import { canonicalJson } from '../../tools/canonical-json.ts';
import type { ToolEntry } from '../../tools/tool-types.ts';

/** What makes two calls the same: the tool and the caller are part of every idempotency key anyway. */
export interface SameCall {
  readonly session: string;
  readonly arguments: unknown;
}

/**
 * The idempotency key of a call of a tool marked isSideEffect that came without one: a model that says the same thing
 * twice does it once. Null for other tools, and for arguments that are nested too deeply to be compared.
 */
export function sideEffectKeyOf({ manifest }: Pick<ToolEntry, 'manifest'>, call: SameCall): string | null {
  if (!manifest.flags.isSideEffect) return null;
  try {
    const text = canonicalJson([call.session, call.arguments]);
    return `effect:${createHash('sha256').update(text).digest('base64url')}`;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
