import { relative } from 'node:path';
import type { Recording } from '../../border/border.ts';
import type { Execution } from '../../calls/call-types.ts';
import { omitUndefined } from '../../config/json-object.ts';
import { hashInputs } from '../../plugins/compile/input-ledger.ts';
import { displayPath } from '../../plugins/discovery/plugin-roots.ts';
import type { PluginSource } from '../../plugins/discovery/plugin-source.ts';
import { hashBytes } from '../../plugins/generations/artifact-files.ts';
import type { BuildOutcome, PluginBuilder } from '../../plugins/supervisor/build/builder-types.ts';
import type { TypeChecker } from '../../typescript/checker.ts';
import { classifyDiagnostic } from '../failures/classify-failure.ts';
import type { Failure } from '../failures/failure.ts';
import type { Attempt } from '../repair.ts';
import { cutText, describeDifference } from '../text-difference.ts';
import type { Diagnosis, FailingCall, LastGood } from './diagnosis.ts';
import { createInspect, listNearby, policyOf, readPluginTexts } from './plugin-texts.ts';

/** What a diagnosis is made with. */
export interface DiagnosisParts {
  readonly checker: Pick<TypeChecker, 'inspect'>;
  readonly builder: Pick<PluginBuilder, 'build'>;
  /** Forgets the cells of a build that is thrown away, unless a generation that is kept is the same program. */
  readonly discard: (source: PluginSource, build: Extract<BuildOutcome, { ok: true }>) => void;
  readonly sharedDirs: () => readonly string[];
}

/** What a diagnosis begins with. */
export interface DiagnosisRequest {
  readonly source: PluginSource;
  readonly name: string;
  readonly failure: Failure;
  readonly lastGood?: LastGood;
  readonly failingCall?: FailingCall;
  readonly earlierAttempts?: readonly Attempt[];
  readonly signal: AbortSignal;
}

/** What became of changed texts. */
export interface CheckedTexts {
  /** They compile, load and have a valid manifest. */
  readonly builds: boolean;
  /** Of the changed texts; its failure is the old one when they build. */
  readonly diagnosis: Diagnosis;
}

/** Diagnoses failures, and changed texts; nothing is written or published. */
export interface Diagnoser {
  diagnose(request: DiagnosisRequest): Promise<Diagnosis>;
  /** `files`: whole texts by real path, instead of those of the diagnosis. */
  check(diagnosis: Diagnosis, files: ReadonlyMap<string, string>, signal: AbortSignal): Promise<CheckedTexts>;
}

const maxShownDiffChars = 16_000;
const maxMessageChars = 4000;
const maxArgumentChars = 8000;
const maxAttempts = 5;

/** Creates the diagnoser. */
export function createDiagnoser(parts: DiagnosisParts): Diagnoser {
  const inspect = createInspect(parts.checker, 'repair');

  return {
    async diagnose({ source, name, failure, lastGood, failingCall, earlierAttempts = [], signal }) {
      const sharedDirs = parts.sharedDirs();
      const policy = policyOf(source, sharedDirs);
      const sources = readPluginTexts(source, policy);
      const { packageDirs } = policy;
      const seen = await inspect(sources, { packageDirs, declarations: true, signal });
      const show = (path: string) => displayPath(source.root, path);
      const isImport = failure.code.startsWith('import-') || failure.code === 'builtin-refused';
      return {
        plugin: { source, name, contentHash: hashTexts(source, sources) },
        failure: { ...failure, message: cutText(failure.message, maxMessageChars) },
        sources,
        typeErrors: seen?.faults,
        declarations: seen?.declarations ?? [],
        packageDirs,
        nearby: isImport ? listNearby(source, policy, sharedDirs) : { files: [], packages: [] },
        ...omitUndefined({
          failingCall,
          lastGood: lastGood && { ...lastGood, diff: describeDifference(lastGood.sources, sources, show, maxShownDiffChars) },
        }),
        earlierAttempts: earlierAttempts.slice(-maxAttempts),
      };
    },
    async check(diagnosis, changed, signal) {
      const { source } = diagnosis.plugin;
      const texts = new Map([...diagnosis.sources, ...changed]);
      // A changed import may lead to a file that no text led to before.
      const sources = new Map([...texts, ...readPluginTexts(source, policyOf(source, parts.sharedDirs()), texts)]);
      const [built, seen] = await Promise.all([
        parts.builder.build(source, signal, { author: 'repair', proposed: changed }),
        inspect(sources, { packageDirs: diagnosis.packageDirs, signal }),
      ]);
      if (built.ok) parts.discard(source, built);
      const judged = built.ok ? undefined : classifyDiagnostic(diagnosis.failure.path, built.diagnostic);
      // What is nobody's fault now was hidden behind the failure: it is not mended, and no fixer has anything to say.
      const failure = judged !== undefined && 'failure' in judged ? judged.failure : diagnosis.failure;
      const plugin = { ...diagnosis.plugin, contentHash: hashTexts(source, sources) };
      return { builds: built.ok, diagnosis: { ...diagnosis, plugin, failure, sources, typeErrors: seen?.faults } };
    },
  };
}

/** The failing call of a diagnosis, with bounded arguments. */
export function describeFailingCall(
  { tool, arguments: given }: Pick<Execution, 'tool' | 'arguments'>,
  recording: Recording | undefined,
): FailingCall {
  const text = cutText(JSON.stringify(given) ?? 'null', maxArgumentChars);
  return { tool, arguments: text, ...omitUndefined({ recording }) };
}

function hashTexts(source: PluginSource, sources: ReadonlyMap<string, string>): string {
  const inputs = [...sources].map(([path, text]) => ({ path, sha256: hashBytes(text), signature: '' }));
  return hashInputs(inputs, (path) => relative(source.root.path, path));
}
