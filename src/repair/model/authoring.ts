import { basename, relative } from 'node:path';
import type { ApiOrder, AuthoringAnswer, PluginAuthoring } from '../../builtins/authoring.ts';
import { countedAs } from '../../config/anonymous.ts';
import { budgets } from '../../config/budgets.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { describePermissions } from '../../permissions/decision.ts';
import type { PluginSource } from '../../plugins/discovery/plugin-source.ts';
import type { ToolEntry } from '../../tools/tool-types.ts';
import { type DescriptionReader, isAddress, type ReadDescription } from '../api/description-reader.ts';
import type { MakePlugin } from '../api/make-plugin.ts';
import { readOrigin, usualReaches } from '../api/write-plugin.ts';
import { decideModelRoom, type ModelRoom } from '../decide-next.ts';
import type { DiagnosisOrder, JourneyParts } from '../journey.ts';
import type { KeptProposal, Repair } from '../repair.ts';
import type { Repairs } from '../repairs.ts';
import { describeDifference, maxDiffChars } from '../text-difference.ts';
import type { TrialReport } from '../trial/trial.ts';
import { applyBlocks } from './blocks.ts';
import { nameFiles } from './prompt.ts';
import type { AskModel } from './propose-by-model.ts';
import { listAsks, listReaches, looksOf } from './scan.ts';
import { type WriteOrder, writeByModel } from './write-by-model.ts';

/** Classes of what is no repair: a plugin that is new, and a change of one that is well. */
export type AuthoringClass = 'creation' | 'tweak';

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
type Change = Parameters<PluginAuthoring['tweak']>[0];

const dayMs = 86_400_000;
const historyRows = 1000;
const maxPerCaller = budgets['repairs.proposals'].perCaller;
const maxTextChars = 40_000;
const never = new AbortController().signal;

/** Writes and changes plugins for models. Nothing of it serves before it was tried, and nothing is written before the config or a person says so. */
export function createAuthoring(parts: AuthoringParts): PluginAuthoring {
  const { book, mending } = parts;
  /** Who has a proposal in the making, once for each. */
  const making: string[] = [];
  /** One after the other, so that each knows what the one before has used. */
  let writing: Promise<unknown> = Promise.resolve();

  /** What is in the making counts as a proposal that waits, so that many at once are no more than there is room for. */
  async function withRoom<Answer>(given: string, make: (by: string) => Promise<Answer>): Promise<Answer> {
    const by = countedAs(given);
    requireRoom(by);
    making.push(by);
    try {
      return await make(by);
    } finally {
      making.splice(making.indexOf(by), 1);
    }
  }

  function requireRoom(by: string): void {
    const { create, maxProposals, proposalMs } = parts.settings();
    if (create === 'off')
      throw new HotcellError('tools-disabled', 'Models write no plugins here.', { fix: 'Set repair.create in the config.' });
    book.expire(parts.now() - proposalMs);
    const own = book.count(['proposed'], `by ${by}`) + making.filter((each) => each === by).length;
    const all = book.count(['proposed']) + making.length;
    if (all < maxProposals && own < maxPerCaller) return;
    throw new HotcellError('queue-full', `${all} proposals wait for a person, ${own} of them from this caller.`, {
      fix: 'Answer some: hotcell repair list --state proposed.',
    });
  }

  function begin(what: AuthoringClass, path: string, plugin: string, by: string, message: string, contentHash: string): Repair {
    const failure = { code: 'none', message, fix: '' };
    return book.open({ path, plugin, class: what, failureKey: `by ${by}`, failure, contentHash });
  }

  function keep(
    what: AuthoringClass,
    path: string,
    plugin: string,
    by: string,
    proposal: KeptProposal,
    contentHash: string,
    begun?: Repair,
  ): Repair {
    const { id } = begun ?? begin(what, path, plugin, by, proposal.note, contentHash);
    const reason = `It waits for a person: hotcell repair show ${id}; then: hotcell repair apply ${id}.`;
    return book.move(id, 'proposed', { reason, author: proposal.author, proposal });
  }

  /** A text for a new file, tried; throws what keeps it from being a plugin. */
  async function tryNew(source: PluginSource, text: string): Promise<TrialReport> {
    const proposal = { files: new Map([[source.realEntry, text]]), by: 'model', sureness: 'maybe', note: '' } as const;
    const failure = { class: 'does-not-load', key: 'creation' } as const;
    return parts.tryProposal({ source, proposal, diagnosed: undefined, failure, signal: never });
  }

  /** New plugins together may use as much of models in a day as one plugin: names cost nothing. */
  function requireModelRoom(): ModelRoom {
    if (parts.settings().model === '')
      throw new HotcellError('model-not-configured', 'No model writes plugins here: the config names none.', {
        fix: 'Name one of those that hotcell models lists, in the config: repair: { model: provider/model }. Or write it yourself: hotcell plugin new NAME.',
      });
    const sinceMs = parts.now() - dayMs;
    const written = book.list({ limit: historyRows }).filter((each) => each.class === 'creation' && each.startedAtMs >= sinceMs);
    const used = { tokens: 0, cost: 0 };
    for (const { tokens, cost } of written) {
      used.tokens += tokens;
      used.cost += cost;
    }
    const room = decideModelRoom(used, parts.settings());
    if (room !== undefined) return room;
    throw new HotcellError('model-budget-exceeded', 'The tokens or the money for new plugins of today are used up.', {
      fix: 'Wait, or raise repair.tokensPerDay or repair.costPerDay in the config.',
    });
  }

  return {
    create: (wish, by) =>
      withRoom(by, (counted) => {
        if (wish.api !== undefined) return createForApi(wish, wish.api, counted);
        return wish.code === undefined ? write(wish, counted) : create(wish, wish.code, counted);
      }),
    tweak: (wish, by) => withRoom(by, (counted) => tweak(wish, counted)),
    refresh: (plugin, api, by) => withRoom(by, (counted) => refresh(plugin, api, counted)),
    repair: async (plugin) => answerOf(await parts.repairs.begin(plugin, false)),
  };

  async function create(
    { name, description = '', examples = [] }: Wish,
    code: string,
    by: string,
    begun?: Repair,
  ): Promise<AuthoringAnswer> {
    const text = asModule(name, description, code, examples);
    if (text.length > maxTextChars)
      throw new HotcellError('payload-too-large', `A plugin of a model may have ${maxTextChars} characters.`);
    return propose({ name, text, note: description.slice(0, 300), by, ...(begun && { begun }) });
  }

  /** A new plugin that passes its trial waits for a person, or is written where it may and reaches for nothing. */
  async function propose(made: {
    readonly name: string;
    readonly text: string;
    readonly note: string;
    readonly by: string;
    readonly author?: 'repair' | 'model';
    /** What it may reach for without a word to a person. */
    readonly usual?: ReadonlySet<string>;
    readonly begun?: Repair;
  }): Promise<AuthoringAnswer> {
    const { name, text, note, by, author = 'model', usual = new Set(), begun } = made;
    const source = requireFree(name);
    const report = await tryNew(source, text);
    report.candidate?.release();
    const problem = findProblem(report);
    if (problem !== undefined)
      throw new HotcellError('compile-failed', `The plugin is not taken: ${problem}`, {
        fix: 'Mend that in its text, and ask again.',
      });
    const asked = describePermissions(report.candidate?.build.manifest.permissions ?? {});
    const diff = describeDifference(new Map(), new Map([[source.realEntry, text]]), (path) => relative(source.root.path, path));
    const asks = [
      ...(asked === '' ? [] : [`permissions: ${asked}`]),
      ...describeLikeness(report.candidate?.build.manifest.tools ?? []),
      ...listReaches(text).filter((reach) => !usual.has(reach)),
      ...(diff.length > maxDiffChars ? ['it is longer than what is shown: read all of it in the repair as JSON'] : []),
    ];
    const files = [{ path: source.path, before: null, after: text }];
    const proposal = { by, author, sureness: 'maybe', note, diff, asks, files } as const;
    const repair = keep('creation', source.path, name, by, { ...proposal, asks: [...asks], files: [...files] }, '', begun);
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

  /** Where the description of an API lies is looked up only as far as whoever asks may. */
  async function readDescription({ source = '', text, isPublic }: ApiOrder, folder: string): Promise<Partial<ReadDescription>> {
    if (text !== undefined) return isAddress(source) ? { text, source: new URL(source).href } : { text };
    if (isAddress(source)) return parts.descriptions.fetch(source, { isPublic });
    return parts.descriptions.open(source, folder);
  }

  async function createForApi(wish: Wish, api: ApiOrder, by: string): Promise<AuthoringAnswer> {
    const { name, description } = wish;
    const { root } = requireFree(name);
    const { text = '', source } = await readDescription(api, root.path);
    const { operations, server } = api;
    const made = await parts.makePlugin({ text, name, source, operations, server });
    const note = [`Made from ${source ?? 'the description of an API'}.`, ...made.notes];
    const usual = new Set(listReaches(usualReaches));
    if (description === undefined || made.text.length > maxTextChars || parts.settings().model === '') {
      if (description !== undefined)
        note.push('No model changed it: none is configured (repair.model), or it is too long for one.');
      return propose({ name, text: made.text, note: note.join(' ').slice(0, 4000), by, author: 'repair', usual });
    }
    return write(wish, by, { text: made.text, note: note.join(' '), usual });
  }

  /** What became of the description since: never written by itself, whoever changed it. */
  async function refresh(plugin: string, api: ApiOrder, by: string): Promise<AuthoringAnswer | undefined> {
    const standing = requirePlugin(plugin);
    const { path, name, live, source, contentHash } = standing;
    const failure = { path, class: 'runtime-error', key: 'tweak', code: 'handler-threw', message: '', fix: '' } as const;
    const { sources } = await parts.diagnose({ failure, standing, lastGood: live, earlier: [], signal: never });
    const now = sources.get(source.realEntry) ?? '';
    const origin = readOrigin(now);
    const from = api.source ?? origin?.source;
    if (origin === undefined || (from === undefined && api.text === undefined))
      throw new HotcellError('conflict', `"${name}" does not say from which description of an API it was made.`, {
        fix: `Make one: hotcell plugin new NAME --from FILE|URL; or name it: hotcell plugin refresh ${name} --from FILE|URL.`,
      });
    const { text = '', source: read } = await readDescription(
      { ...api, ...(from === undefined ? {} : { source: from }) },
      source.root.path,
    );
    const { operations, server } = origin;
    const made = await parts.makePlugin({
      text,
      name: basename(source.name).replace(/\.[^.]*$/, ''),
      source: read,
      operations,
      server,
    });
    if (made.text === now) return undefined;
    const changed = new Map([[source.realEntry, made.text]]);
    const note = [`What changed of ${read ?? 'the description of the API'} since.`, ...made.notes].join(' ').slice(0, 4000);
    const proposal = { files: changed, by, sureness: 'maybe', note } as const;
    const report = await parts.tryProposal({ source, proposal, diagnosed: live, failure, signal: never });
    report.candidate?.release();
    const failed = report.checks.filter(({ name: check, outcome }) => outcome === 'failed' && check !== 'permissions');
    if (report.candidate === undefined)
      throw new HotcellError('compile-failed', `The change is not taken: ${findProblem(report)}`);
    const asks = [
      ...(origin.isUntouched ? [] : ['it takes the place of what a person wrote into the file']),
      ...(report.more === undefined ? [] : [`permissions: ${describePermissions(report.more)}`]),
      ...failed.map(({ name: check, detail }) => `${check}: ${detail.slice(0, 500)}`),
      ...listAsks(sources, changed),
    ];
    const files = [{ path: source.realEntry, before: now, after: made.text }];
    const diff = describeDifference(sources, new Map([...sources, ...changed]), (path) => relative(source.root.path, path));
    return answerOf(
      keep('tweak', path, name, by, { by, author: 'repair', sureness: 'maybe', note, diff, asks, files }, contentHash),
    );
  }

  function requirePlugin(plugin: string) {
    const standing = mending.find(parts.plugins.pathOf(plugin));
    if (standing !== undefined) return standing;
    throw new HotcellError('plugin-unknown', `There is no plugin "${plugin}".`);
  }

  async function tweak({ plugin, blocks, note }: Change, by: string): Promise<AuthoringAnswer> {
    const standing = requirePlugin(plugin);
    const { path, name, live, source, contentHash } = standing;
    // A change of what is well is looked at as a repair is: with what serves as the measure.
    const failure = { path, class: 'runtime-error', key: 'tweak', code: 'handler-threw', message: note, fix: '' } as const;
    const order: DiagnosisOrder = { failure, standing, lastGood: live, earlier: [], signal: never };
    const { sources } = await parts.diagnose(order);
    const names = nameFiles({ plugin: { source, name, contentHash }, sources });
    const applied = applyBlocks(blocks, new Map([...names].map(([real, shown]) => [shown, sources.get(real) ?? ''])));
    if (!applied.ok) throw new HotcellError('arguments-invalid', applied.problem);
    const changed = new Map(
      [...names].flatMap(([real, shown]) => (applied.texts.has(shown) ? [[real, applied.texts.get(shown) ?? ''] as const] : [])),
    );
    const proposal = { files: changed, by, sureness: 'maybe', note } as const;
    const report = await parts.tryProposal({ source, proposal, diagnosed: live, failure, signal: never });
    report.candidate?.release();
    const problem = findProblem(report);
    if (problem !== undefined)
      throw new HotcellError('compile-failed', `The change is not taken: ${problem}`, {
        fix: 'Mend that in the change, and ask again.',
      });
    const asks = [
      ...(report.more === undefined ? [] : [`permissions: ${describePermissions(report.more)}`]),
      ...listAsks(sources, changed),
    ];
    const files = [...changed].map(([file, after]) => ({ path: file, before: sources.get(file) ?? null, after }));
    const diff = describeDifference(sources, new Map([...sources, ...changed]), (path) => relative(source.root.path, path));
    return answerOf(
      keep('tweak', path, name, by, { by, author: 'model', sureness: 'maybe', note, diff, asks, files }, contentHash),
    );
  }

  function requireFree(name: string): PluginSource {
    const source = mending.newSource(`${name}.ts`);
    if (source !== undefined) return source;
    throw new HotcellError('conflict', `There is a plugin or a file "${name}" already.`, {
      fix: `Choose another name. What changed of a description: hotcell plugin refresh ${name}; a model changes a plugin with tweak_skill.`,
    });
  }

  /** What the model uses is in a repair of its own, also where nothing comes of it. `made`: what there is without the model. */
  async function write(
    wish: Wish,
    by: string,
    made?: { readonly text: string; readonly note: string; readonly usual: ReadonlySet<string> },
  ): Promise<AuthoringAnswer> {
    const { name, description = '' } = wish;
    const turn = writing.then(async () => {
      const source = requireFree(name);
      requireModelRoom();
      const begun = begin('creation', source.path, name, by, description.slice(0, 300), '');
      const order: WriteOrder = {
        model: parts.settings().model,
        file: `${name}.ts`,
        wish: `${name}: ${description}`,
        begun: made?.text,
        room: requireModelRoom,
        onUse: (used) => book.addUse(begun.id, used),
        async findProblem(text) {
          const report = await tryNew(source, text);
          report.candidate?.release();
          return findProblem(report);
        },
      };
      try {
        const text = await writeByModel(parts.ask, order).catch((error: unknown) => {
          if (made === undefined || !(error instanceof HotcellError)) throw error;
          return error;
        });
        if (typeof text === 'string') {
          const known = made && new Set([...made.usual, ...listReaches(made.text)]);
          return await (made === undefined
            ? create(wish, text, by, begun)
            : propose({ name, text, note: made.note, by, begun, ...(known && { usual: known }) }));
        }
        const note = `${made?.note ?? ''} It is as it was made: ${text.message}`;
        return await propose({
          name,
          text: made?.text ?? '',
          note,
          by,
          author: 'repair',
          begun,
          ...(made && { usual: made.usual }),
        });
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

function answerOf({ id, state, reason }: Repair): AuthoringAnswer {
  return { repair: id, state, message: reason };
}

/** What of a trial keeps a text from being proposed. What asks for more is proposed: a person decides about it. */
function findProblem({ verdict, checks, candidate }: TrialReport): string | undefined {
  const failed = checks.filter(({ name, outcome }) => outcome === 'failed' && name !== 'permissions');
  if (candidate !== undefined && failed.length === 0 && verdict !== 'worse') return undefined;
  return failed.map(({ name, detail }) => `${name}: ${detail}`).join(' ') || 'its trial says that it is worse than what serves.';
}

/** A body of a handler becomes a module around it; a module stays as it is. */
function asModule(name: string, description: string, code: string, examples: readonly unknown[]): string {
  if (/^[^\S\n]*export\s+default\b/m.test(code)) return code;
  const shown = examples.length === 0 ? '' : `  examples: ${JSON.stringify(examples)},\n`;
  return `export default {\n  name: ${JSON.stringify(name)},\n  description: ${JSON.stringify(description)},\n${shown}  handler: async (args: any, context: any) => {\n${code}\n  },\n};\n`;
}
