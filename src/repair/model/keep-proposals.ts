import type { AuthoringAnswer } from '../../builtins/authoring.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { describePermissions } from '../../permissions/decision.ts';
import type { PluginSource } from '../../plugins/discovery/plugin-source.ts';
import type { PluginStanding } from '../../plugins/supervisor/mending.ts';
import type { ToolEntry } from '../../tools/tool-types.ts';
import type { JourneyParts } from '../journey.ts';
import type { KeptProposal, Repair } from '../repair.ts';
import type { Repairs } from '../repairs.ts';
import { maxDiffChars } from '../text-difference.ts';
import type { TrialReport, TrialRequest } from '../trial/trial.ts';
import { keepProposal } from '../try-and-decide.ts';
import { listAsks, listReaches, looksOf } from './scan.ts';

/** What proposals are tried and kept with. */
export interface ProposalKeeperParts extends Pick<JourneyParts, 'book' | 'mending' | 'diagnose' | 'tryProposal'> {
  readonly settings: () => JourneyParts['settings'];
  readonly plugins: { pathOf(name: string): string };
  readonly repairs: Pick<Repairs, 'apply'>;
  readonly tools: () => readonly Pick<ToolEntry, 'name' | 'served'>[];
}

/** Classes of what is no repair: a plugin that is new, and a change of one that is well. */
type AuthoringClass = 'creation' | 'tweak';

/** A text for a new plugin. */
export interface Draft {
  readonly text: string;
  readonly note: string;
  readonly author: KeptProposal['author'];
  /** What it may reach for without a word to a person. */
  readonly usual: ReadonlySet<string>;
}

/** A plugin as it is, for whoever changes it. */
interface OpenPlugin extends PluginStanding {
  readonly sources: ReadonlyMap<string, string>;
}

const never = new AbortController().signal;

/** Creates what tries new plugins, and changes of those that are well, and keeps what passes for a person. */
export function createProposalKeeper(parts: ProposalKeeperParts) {
  const { book, mending } = parts;

  /** Keeps what was tried for a person. */
  function keep(
    what: AuthoringClass,
    { path, name: plugin, contentHash }: Pick<PluginStanding, 'path' | 'name' | 'contentHash'>,
    proposal: KeptProposal,
    begun?: Repair,
  ): Repair {
    const { id } = begun ?? begin(what, { path, plugin, contentHash }, proposal.by, proposal.note);
    const reason = `It waits for a person: hotcell repair show ${id}; then: hotcell repair apply ${id}.`;
    return book.move(id, 'proposed', { reason, author: proposal.author, proposal });
  }

  /** Opens the record of what is being made, before it was tried. */
  function begin(what: AuthoringClass, of: Pick<Repair, 'path' | 'plugin' | 'contentHash'>, by: string, message: string): Repair {
    return book.open({ ...of, class: what, failureKey: `by ${by}`, failure: { code: 'none', message, fix: '' } });
  }

  /** A trial of which nothing is published. */
  async function tryOut(
    request: Pick<TrialRequest, 'source' | 'diagnosed' | 'failure'>,
    files: ReadonlyMap<string, string>,
  ): Promise<TrialReport> {
    const proposal = { files, by: 'model', sureness: 'maybe', note: '' } as const;
    const report = await parts.tryProposal({ ...request, proposal, signal: never });
    report.candidate?.release();
    return report;
  }

  function tryNew(source: PluginSource, text: string): Promise<TrialReport> {
    const failure = { class: 'does-not-load', key: 'creation' } as const;
    return tryOut({ source, diagnosed: undefined, failure }, new Map([[source.realEntry, text]]));
  }

  /** Where a new plugin of this name would lie. Throws `conflict` when there is one. */
  function requireFree(name: string): PluginSource {
    const source = mending.newSource(`${name}.ts`);
    if (source !== undefined) return source;
    throw new HotcellError('conflict', `There is a plugin or a file "${name}" already.`, {
      fix: `Choose another name. What changed of a description: hotcell plugin refresh ${name}; a model changes a plugin with tweak_skill.`,
    });
  }

  /** A new plugin that passes its trial waits for a person, or is written where it may and reaches for nothing. */
  async function propose(name: string, draft: Draft, by: string, begun?: Repair): Promise<AuthoringAnswer> {
    const { text, note, author, usual } = draft;
    const source = requireFree(name);
    const report = await tryNew(source, text);
    const problem = findProblem(report);
    if (problem !== undefined)
      throw new HotcellError('compile-failed', `The plugin is not taken: ${problem}`, {
        fix: 'Mend that in its text, and ask again.',
      });
    const { permissions = {}, tools = [] } = report.candidate?.build.manifest ?? {};
    const asked = describePermissions(permissions);
    const files = new Map([[source.path, text]]);
    const sureness = 'maybe';
    const made = keepProposal({ by, author, sureness, note, asks: [], files }, source, new Map());
    const asks = [
      ...(asked === '' ? [] : [`permissions: ${asked}`]),
      ...describeLikeness(tools),
      ...listReaches(text).filter((reach) => !usual.has(reach)),
      ...(made.diff.length > maxDiffChars ? ['it is longer than what is shown: read all of it in the repair as JSON'] : []),
    ];
    const free = { path: source.path, name, contentHash: '' };
    const repair = keep('creation', free, { ...made, asks }, begun);
    if (parts.settings().create !== 'auto' || asks.length > 0) return answerOf(repair);
    return answerOf(await parts.repairs.apply(repair.id, author));
  }

  /** Tools whose names a model could take for those of others. */
  function describeLikeness(tools: readonly { readonly name: string }[]): string[] {
    const byLooks = new Map(parts.tools().map((entry) => [looksOf(entry.name), entry]));
    return tools.flatMap(({ name }) => {
      const other = byLooks.get(looksOf(name));
      return other === undefined ? [] : [`its tool "${name}" looks like "${other.name}" of ${other.served.unit.manifest.name}`];
    });
  }

  /** A plugin as it is, with its texts. */
  async function openPlugin(plugin: string): Promise<OpenPlugin> {
    const standing = mending.find(parts.plugins.pathOf(plugin));
    if (standing === undefined) throw new HotcellError('plugin-unknown', `There is no plugin "${plugin}".`);
    const failure = { ...changeOf(standing.path), code: 'handler-threw', message: '', fix: '' } as const;
    const { sources } = await parts.diagnose({ failure, standing, lastGood: standing.live, earlier: [], signal: never });
    return { ...standing, sources };
  }

  /** Keeps a change of a plugin that is well, where it passes its trial; what a description says now is a person's choice even so. */
  async function proposeChange(
    { sources, ...standing }: OpenPlugin,
    change: Pick<KeptProposal, 'note' | 'author' | 'asks' | 'by'> & { readonly files: ReadonlyMap<string, string> },
  ): Promise<AuthoringAnswer> {
    const { files, note, author, by } = change;
    const { source, live: diagnosed } = standing;
    const report = await tryOut({ source, diagnosed, failure: changeOf(standing.path) }, files);
    const problem = author === 'model' || report.candidate === undefined ? findProblem(report) : undefined;
    if (problem !== undefined)
      throw new HotcellError('compile-failed', `The change is not taken: ${problem}`, {
        ...(author === 'model' && { fix: 'Mend that in the change, and ask again.' }),
      });
    const asks = [
      ...change.asks,
      ...(report.more === undefined ? [] : [`permissions: ${describePermissions(report.more)}`]),
      ...listFailed(report).map(({ name, detail }) => `${name}: ${detail.slice(0, 500)}`),
      ...listAsks(sources, files),
    ];
    const proposal = keepProposal({ by, author, sureness: 'maybe', note, asks, files }, source, sources);
    return answerOf(keep('tweak', standing, proposal));
  }

  return {
    begin,
    requireFree,
    propose,
    openPlugin,
    proposeChange,
    /** What keeps a text from being proposed as a new plugin. */
    findProblem: async (source: PluginSource, text: string) => findProblem(await tryNew(source, text)),
  };
}

/** A change of what is well is looked at as a repair is: with what serves as the measure. */
function changeOf(path: string) {
  return { path, class: 'runtime-error', key: 'tweak' } as const;
}

/** What a model is told of a repair. */
export function answerOf({ id, state, reason }: Repair): AuthoringAnswer {
  return { repair: id, state, message: reason };
}

/** What of a trial keeps a text from being proposed. What asks for more is proposed: a person decides about it. */
function findProblem(report: TrialReport): string | undefined {
  const failed = listFailed(report);
  if (report.candidate !== undefined && failed.length === 0 && report.verdict !== 'worse') return undefined;
  return failed.map(({ name, detail }) => `${name}: ${detail}`).join(' ') || 'its trial says that it is worse than what serves.';
}

function listFailed({ checks }: TrialReport): TrialReport['checks'] {
  return checks.filter(({ name, outcome }) => outcome === 'failed' && name !== 'permissions');
}
