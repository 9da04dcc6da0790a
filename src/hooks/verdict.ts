import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { cleanUntrustedText } from '../permissions/untrusted-text.ts';

/** What a hook says about a call that is about to begin. */
export type Verdict =
  | { readonly kind: 'pass' }
  | { readonly kind: 'veto'; readonly reason: string }
  | { readonly kind: 'change'; readonly arguments: Readonly<Record<string, unknown>> };

const maxReasonChars = 500;

// The second spelling is that of hooks in the wild: block, blockReason or reason, params.
const answer = Compile(
  Type.Object(
    {
      veto: Type.Optional(Type.String()),
      arguments: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
      block: Type.Optional(Type.Boolean()),
      blockReason: Type.Optional(Type.String()),
      reason: Type.Optional(Type.String()),
      params: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    },
    { additionalProperties: false },
  ),
);

/**
 * Reads what a handler of `tool:before` returned: nothing lets the call pass, `{ veto: "…" }` stops it, `{ arguments: {…} }`
 * changes it. Undefined for anything else, which must stop the call too: a veto with a typing error is no leave to go on.
 */
export function readVerdict(output: unknown): Verdict | undefined {
  if (output === undefined || output === null) return { kind: 'pass' };
  if (!answer.Check(output)) return undefined;
  if (output.veto !== undefined) return { kind: 'veto', reason: bound(output.veto) };
  if (output.block === true) return { kind: 'veto', reason: bound(output.blockReason ?? output.reason ?? '') };
  const changed = output.arguments ?? output.params;
  return changed === undefined ? { kind: 'pass' } : { kind: 'change', arguments: changed };
}

/** One line that hides nothing: a model and a terminal read it. */
function bound(text: string): string {
  return cleanUntrustedText(text, maxReasonChars) || 'it gave no reason.';
}
