import type { Escalation } from '../../../config/config-types.ts';
import type { PermissionSet } from '../../../config/permission-set.ts';
import type { EngineName, EngineNeed } from '../../../engines/engine.ts';
import {
  decideBuild,
  type EscalationDecision,
  type EscalationEngine,
  type EscalationEngines,
} from '../../../engines/escalation.ts';
import type { Asking } from '../../../permissions/grant-registry.ts';
import { describeGrantCommand } from '../../../permissions/permission-words.ts';
import type { Author } from '../../../units/unit.ts';
import { nameFromFile } from '../../discovery/entry-names.ts';
import type { PluginSource } from '../../discovery/plugin-source.ts';
import type { EscalatedFrom, PluginManifest } from '../../generations/generation.ts';
import type { Diagnostic } from '../../plugin-types.ts';
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

/** A build that failed for nothing but its engine. */
export interface EscalatingBuild<Compiled> {
  readonly source: PluginSource;
  readonly author: Author;
  readonly engine: EngineName;
  readonly needs: readonly EngineNeed[];
  readonly failed: Failed;
  /** Compiles for another engine; nothing of the plugin runs. */
  readonly compile: (
    engine: EscalationEngine,
  ) => Promise<(Compiled & { readonly ok: true; readonly contentHash: string }) | Failed>;
  /** What the file exports, as far as it can be seen on no higher engine: a build of it, or what is wrong with it. */
  readonly look: () => Promise<{ readonly manifest: PluginManifest } | Diagnostic | undefined>;
  /** Loads what was compiled and makes the build of it. */
  readonly finish: (compiled: Compiled, escalated: EscalatedFrom) => Promise<BuildOutcome>;
}

/**
 * What becomes of a plugin that its engine cannot run: it stays failed, with the engine that would do in its diagnostic; it
 * waits for a person; or it is built for a higher engine. Its code runs there only once that is decided.
 */
export async function escalateBuild<Compiled>(parts: EscalationParts, build: EscalatingBuild<Compiled>): Promise<BuildOutcome> {
  const { source, author, engine, needs, failed } = build;
  const escalation = parts.escalationOf(source.path);
  const facts = { engine, needs, engines: await parts.engines(), escalation, isOperators: author === 'operator' };
  const decision = decideBuild({ ...facts, approved: [] });
  if (decision.action === 'stay') return failed;
  if (decision.action === 'suggest') {
    const seen = await build.look();
    return isDiagnostic(seen) ? { ...failed, diagnostic: seen } : advise(failed, decision);
  }
  const compiled = await build.compile(decision.engine);
  // Another engine would not help: what is wrong there is wrong with the plugin.
  if (!compiled.ok) return failed;
  const escalated = { from: engine, reason: decision.reason };
  if (decision.action === 'move') return build.finish(compiled, escalated);
  // What it says of itself counts once it was built.
  const name = nameFromFile(source.name);
  const engineOnly = askForEngine({ source, author, contentHash: compiled.contentHash }, { name }, decision.engine);
  const isAllowed = parts.isAllowed(engineOnly);
  const { action } = decideBuild({ ...facts, approved: isAllowed ? [decision.engine] : [] });
  if (action === 'move') return build.finish(compiled, { ...escalated, isGranted: true });
  // Nobody is asked for the sake of a file that is no plugin, and one question holds all that it asks for.
  const seen = await build.look();
  if (isDiagnostic(seen)) return { ...failed, diagnostic: seen };
  const permissions = { ...seen?.manifest.permissions, ...engineOnly.manifest.permissions };
  const asked = { ...engineOnly, manifest: { name: engineOnly.manifest.name, permissions } };
  const { permissionsSource = 'inferred' } = seen?.manifest ?? {};
  const request = { ...asked, reason: decision.reason, permissionsSource };
  return { ...failed, diagnostic: describeRequest(failed, request, decision), escalation: request };
}

function isDiagnostic(seen: { readonly manifest: PluginManifest } | Diagnostic | undefined): seen is Diagnostic {
  return seen !== undefined && 'message' in seen;
}

/** What a person is asked before a build may have an engine. */
export function askForEngine(
  build: { readonly source: { readonly path: string }; readonly author: Author; readonly contentHash: string },
  { name, permissions }: { readonly name: string; readonly permissions?: PermissionSet },
  engine: EscalationEngine,
): Asking {
  const { source, author, contentHash } = build;
  return { path: source.path, contentHash, author, manifest: { name, permissions: { ...permissions, engine: [engine] } } };
}

function advise(failed: Failed, decision: EscalationDecision): Failed {
  const { diagnostic } = failed;
  const { reason } = decision;
  const how =
    decision.action === 'suggest' && decision.isThere
      ? ` Write engine: '${decision.engine}' in the plugin, or let it move there: see escalation in the config.`
      : '';
  return { ...failed, diagnostic: { ...diagnostic, fix: `${diagnostic.fix} ${reason}${how}` } };
}

function describeRequest({ diagnostic }: Failed, { manifest }: Asking, { reason }: EscalationDecision): Failed['diagnostic'] {
  const command = describeGrantCommand(manifest.name, manifest.permissions);
  return {
    ...diagnostic,
    code: 'engine-pending',
    message: `The plugin waits for a person to let it have another engine. ${reason}`,
    fix: `Answer the question: hotcell approve ${manifest.name}, or allow it with: ${command}. Or do without: ${diagnostic.fix}`,
  };
}
