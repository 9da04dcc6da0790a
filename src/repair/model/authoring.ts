import { basename } from 'node:path';
import type { ApiOrder, AuthoringAnswer, PluginAuthoring } from '../../builtins/authoring.ts';
import { countedAs } from '../../config/counted-callers.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { describePermissions } from '../../permissions/decision.ts';
import type { PluginSource } from '../../plugins/discovery/plugin-source.ts';
import type { PluginStanding } from '../../plugins/supervisor/mending.ts';
import type { ToolEntry } from '../../tools/tool-types.ts';
import { type DescriptionReader, isAddress, type ReadDescription } from '../api/description-reader.ts';
import type { MakePlugin } from '../api/make-plugin.ts';
import { readOrigin, usualReaches } from '../api/write-plugin.ts';
import { decideModelRoom, decideProposalRoom, type ModelRoom } from '../decide-next.ts';
import type { JourneyParts } from '../journey.ts';
import type { KeptProposal, Repair } from '../repair.ts';
import type { Repairs } from '../repairs.ts';
import { maxDiffChars } from '../text-difference.ts';
import type { TrialReport, TrialRequest } from '../trial/trial.ts';
import { keepProposal } from '../try-and-decide.ts';
import type { AskModel } from './ask-model.ts';
import { applyToSources } from './blocks.ts';
import { listAsks, listReaches, looksOf } from './scan.ts';
import { maxTextChars, writeByModel } from './write-by-model.ts';

/** Classes of what is no repair: a plugin that is new, and a change of one that is well. */
type AuthoringClass = 'creation' | 'tweak';

export interface AuthoringParts extends Pick<JourneyParts, 'book' | 'mending' | 'diagnose' | 'tryProposal'> {
  /** Epoch ms. */
  readonly now: () => number;
  readonly settings: () => JourneyParts['settings'];
  readonly plugins: { pathOf(name: string): string };
  readonly repairs: Pick<Repairs, 'apply' | 'begin'>;
  readonly ask: AskModel;
  readonly descriptions: Pick<DescriptionReader, 'fetch' | 'open'>;
  readonly makePlugin: MakePlugin;
  readonly tools: () => readonly Pick<ToolEntry, 'name' | 'served'>[];
}

type Wish = Parameters<PluginAuthoring['create']>[0];
type Author = KeptProposal['author'];

/** A text for a new plugin. */
interface Draft {
  readonly text: string;
  readonly note: string;
  readonly author: Author;
  /** What it may reach for without a word to a person. */
  readonly usual: ReadonlySet<string>;
}

/** A plugin as it is, for whoever changes it. */
interface OpenPlugin extends PluginStanding {
  readonly sources: ReadonlyMap<string, string>;
}

const dayMs = 86_400_000;
const historyRows = 1000;
const maxNoteChars = 4000;
const never = new AbortController().signal;

/** Writes and changes plugins for models. Nothing of it serves before it was tried, and nothing is written before the config or a person says so. */
export function createAuthoring(parts: AuthoringParts): PluginAuthoring {
  const { book, mending } = parts;
  /** Who has a proposal in the making, once for each. */
  const making: string[] = [];
  /** One after the other, so that each knows what the one before has used. */
  let writing: Promise<unknown> = Promise.resolve();

  return {
    create: (wish, by) =>
      withRoom(by, async (counted) => {
        if (wish.api !== undefined) return createForApi(wish, wish.api, counted);
        return wish.code === undefined ? write(wish, counted) : propose(wish.name, draftOf(wish, wish.code), counted);
      }),
    tweak: ({ plugin, blocks, note }, by) =>
      withRoom(by, async (counted) => {
        const open = await openPlugin(plugin);
        const applied = applyToSources(blocks, { plugin: open, sources: open.sources });
        if (!applied.ok) throw new HotcellError('arguments-invalid', applied.problem);
        return proposeChange(open, { files: applied.files, note, author: 'model', asks: [], by: counted });
      }),
    refresh: (plugin, api, by) => withRoom(by, (counted) => refresh(plugin, api, counted)),
    repair: async (plugin) => answerOf(await parts.repairs.begin(plugin, false)),
  };

  /** What is in the making counts as a proposal that waits, so that many at once are no more than there is room for. */
  async function withRoom<Answer>(given: string, make: (by: string) => Promise<Answer>): Promise<Answer> {
    const by = countedAs(given);
    const { create, maxProposals, proposalMs } = parts.settings();
    if (create === 'off')
      throw new HotcellError('tools-disabled', 'Models write no plugins here.', { fix: 'Set repair.create in the config.' });
    book.expire(parts.now() - proposalMs);
    const own = book.count(['proposed'], `by ${by}`) + making.filter((each) => each === by).length;
    const all = book.count(['proposed']) + making.length;
    if (!decideProposalRoom({ own, all, maxProposals, by }))
      throw new HotcellError('queue-full', `${all} proposals wait for a person, ${own} of them from this caller.`, {
        fix: 'Answer some: hotcell repair list --state proposed.',
      });
    making.push(by);
    try {
      return await make(by);
    } finally {
      making.splice(making.indexOf(by), 1);
    }
  }

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

  /** Where the description of an API lies is looked up only as far as whoever asks may. */
  async function readDescription({ source = '', text, isPublic }: ApiOrder, folder: string): Promise<Partial<ReadDescription>> {
    if (text !== undefined) return isAddress(source) ? { text, source: new URL(source).href } : { text };
    if (isAddress(source)) return parts.descriptions.fetch(source, { isPublic });
    return parts.descriptions.open(source, folder);
  }

  async function createForApi(wish: Wish, api: ApiOrder, by: string): Promise<AuthoringAnswer> {
    const { name, description } = wish;
    const { text = '', source } = await readDescription(api, requireFree(name).root.path);
    const { operations, server } = api;
    const made = await parts.makePlugin({ text, name, source, operations, server });
    const isLeft = made.text.length > maxTextChars || parts.settings().model === '';
    const note = [
      `Made from ${source ?? 'the description of an API'}.`,
      ...made.notes,
      ...(isLeft && description !== undefined
        ? ['No model changed it: none is configured (repair.model), or it is too long for one.']
        : []),
    ].join(' ');
    const draft: Draft = { text: made.text, note, author: 'repair', usual: new Set(listReaches(usualReaches)) };
    if (description !== undefined && !isLeft) return write(wish, by, draft);
    return propose(name, { ...draft, note: note.slice(0, maxNoteChars) }, by);
  }

  /** What became of the description since: never written by itself, whoever changed it. */
  async function refresh(plugin: string, api: ApiOrder, by: string): Promise<AuthoringAnswer | undefined> {
    const open = await openPlugin(plugin);
    const { name, source } = open;
    const now = open.sources.get(source.realEntry) ?? '';
    const origin = readOrigin(now);
    const from = api.source ?? origin?.source;
    if (origin === undefined || (from === undefined && api.text === undefined))
      throw new HotcellError('conflict', `"${name}" does not say from which description of an API it was made.`, {
        fix: `Make one: hotcell plugin new NAME --from FILE|URL; or name it: hotcell plugin refresh ${name} --from FILE|URL.`,
      });
    const read = await readDescription({ ...api, ...(from !== undefined && { source: from }) }, source.root.path);
    const { operations, server } = origin;
    const own = basename(source.name).replace(/\.[^.]*$/, '');
    const made = await parts.makePlugin({ text: read.text ?? '', name: own, source: read.source, operations, server });
    if (made.text === now) return undefined;
    const note = [`What changed of ${read.source ?? 'the description of the API'} since.`, ...made.notes].join(' ');
    return proposeChange(open, {
      files: new Map([[source.realEntry, made.text]]),
      note: note.slice(0, maxNoteChars),
      author: 'repair',
      asks: origin.isUntouched ? [] : ['it takes the place of what a person wrote into the file'],
      by,
    });
  }

  /** New plugins together may use as much of models in a day as one plugin: names cost nothing. */
  function requireModelRoom(): ModelRoom {
    if (parts.settings().model === '')
      throw new HotcellError('model-not-configured', 'No model writes plugins here: the config names none.', {
        fix: 'Name one of those that hotcell models lists, in the config: repair: { model: provider/model }. Or write it yourself: hotcell plugin new NAME.',
      });
    const sinceMs = parts.now() - dayMs;
    const written = book.list({ limit: historyRows }).filter((each) => each.class === 'creation' && each.startedAtMs >= sinceMs);
    const sum = (of: 'tokens' | 'cost') => written.reduce((total, each) => total + each[of], 0);
    const room = decideModelRoom({ tokens: sum('tokens'), cost: sum('cost') }, parts.settings());
    if (room !== undefined) return room;
    throw new HotcellError('model-budget-exceeded', 'The tokens or the money for new plugins of today are used up.', {
      fix: 'Wait, or raise repair.tokensPerDay or repair.costPerDay in the config.',
    });
  }

  /** What the model uses is in a repair of its own, also where nothing comes of it. `made`: what there is without the model. */
  function write(wish: Wish, by: string, made?: Draft): Promise<AuthoringAnswer> {
    const turn = writing.then(async () => {
      const { name, description = '' } = wish;
      const source = requireFree(name);
      requireModelRoom();
      const of = { path: source.path, plugin: name, contentHash: '' };
      const begun = begin('creation', of, by, description.slice(0, 300));
      try {
        const written = await writeByModel(parts.ask, {
          model: parts.settings().model,
          file: `${name}.ts`,
          wish: `${name}: ${description}`,
          begun: made?.text,
          room: requireModelRoom,
          onUse: (used) => book.addUse(begun.id, used),
          findProblem: async (text) => findProblem(await tryNew(source, text)),
        }).catch((error: unknown): Draft => {
          if (made === undefined || !(error instanceof HotcellError)) throw error;
          return { ...made, note: `${made.note} It is as it was made: ${error.message}` };
        });
        const draft = typeof written === 'string' ? draftOf(wish, written, made) : written;
        return await propose(name, draft, by, begun);
      } catch (error) {
        if (book.get(begun.id).state === 'running')
          book.move(begun.id, 'given-up', {
            reason: error instanceof HotcellError ? `${error.message} ${error.fix}` : 'The daemon failed.',
          });
        throw error;
      }
    });
    writing = turn.catch(() => {});
    return turn;
  }
}

/** A change of what is well is looked at as a repair is: with what serves as the measure. */
function changeOf(path: string) {
  return { path, class: 'runtime-error', key: 'tweak' } as const;
}

/** What a model wrote, from nothing or from what was made without it. */
function draftOf({ name, description = '', examples = [] }: Wish, written: string, made?: Draft): Draft {
  if (made !== undefined)
    return { ...made, text: written, author: 'model', usual: new Set([...made.usual, ...listReaches(made.text)]) };
  const text = asModule(name, description, written, examples);
  if (text.length > maxTextChars)
    throw new HotcellError('payload-too-large', `A plugin of a model may have ${maxTextChars} characters.`);
  return { text, note: description.slice(0, 300), author: 'model', usual: new Set() };
}

function answerOf({ id, state, reason }: Repair): AuthoringAnswer {
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

/** A body of a handler becomes a module around it; a module stays as it is. */
function asModule(name: string, description: string, code: string, examples: readonly unknown[]): string {
  if (/^[^\S\n]*export\s+default\b/m.test(code)) return code;
  const shown = examples.length === 0 ? '' : `  examples: ${JSON.stringify(examples)},\n`;
  return `export default {\n  name: ${JSON.stringify(name)},\n  description: ${JSON.stringify(description)},\n${shown}  handler: async (args: any, context: any) => {\n${code}\n  },\n};\n`;
}
