import type { Escalation } from '../../../config/config-types.ts';
import type { PermissionSet } from '../../../config/permission-set.ts';
import type { EscalationDecision, EscalationEngine, EscalationEngines } from '../../../engines/escalation.ts';
import type { Asking } from '../../../permissions/grant-registry.ts';
import { describeGrantCommand } from '../../../permissions/permission-words.ts';
import type { Author } from '../../../units/unit.ts';
import type { BuildOutcome } from './builder-types.ts';

/** What decides whether a plugin may run on a higher engine than the one it asks for. */
export interface EscalationParts {
  /** Which engines may be used now. */
  readonly engines: () => Promise<EscalationEngines>;
  /** What the operator's config says for a file; the plugin has no say in it. */
  readonly escalationOf: (pluginPath: string) => Escalation;
  /** Whether a person let this build have the engine that it asks for. */
  readonly isAllowed: (asking: Asking) => boolean;
}

type Failed = Extract<BuildOutcome, { ok: false }>;

/** What a person is asked before a build may have an engine. */
export function askForEngine(
  build: { readonly source: { readonly path: string }; readonly author: Author; readonly contentHash: string },
  { name, permissions }: { readonly name: string; readonly permissions?: PermissionSet },
  engine: EscalationEngine,
): Asking {
  const { source, author, contentHash } = build;
  return { path: source.path, contentHash, author, manifest: { name, permissions: { ...permissions, engine: [engine] } } };
}

/** A failure that names the engine that would do. */
export function advise(failed: Failed, decision: EscalationDecision): Failed {
  const { diagnostic } = failed;
  const { reason } = decision;
  const how =
    decision.action === 'suggest' && decision.isThere
      ? ` Write engine: '${decision.engine}' in the plugin, or let it move there: see escalation in the config.`
      : '';
  return { ...failed, diagnostic: { ...diagnostic, fix: `${diagnostic.fix} ${reason}${how}` } };
}

/** A failure that waits for an answer. */
export function describeEngineRequest(
  { diagnostic }: Failed,
  { manifest }: Asking,
  { reason }: EscalationDecision,
): Failed['diagnostic'] {
  const command = describeGrantCommand(manifest.name, manifest.permissions);
  return {
    ...diagnostic,
    code: 'engine-pending',
    message: `The plugin waits for a person to let it have another engine. ${reason}`,
    fix: `Answer the question: hotcell approve ${manifest.name}, or allow it with: ${command}. Or do without: ${diagnostic.fix}`,
  };
}
