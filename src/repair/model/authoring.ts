import { basename } from 'node:path';
import type { ApiOrder, AuthoringAnswer, PluginAuthoring } from '../../builtins/authoring.ts';
import { countedAs } from '../../config/counted-callers.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { type DescriptionReader, isAddress, type ReadDescription } from '../api/description-reader.ts';
import type { MakePlugin } from '../api/make-plugin.ts';
import { readOrigin, usualReaches } from '../api/write-plugin.ts';
import { decideModelRoom, decideProposalRoom, type ModelRoom } from '../decide-next.ts';
import type { Repairs } from '../repairs.ts';
import type { AskModel } from './ask-model.ts';
import { applyToSources } from './blocks.ts';
import { answerOf, createProposalKeeper, type Draft, type ProposalKeeperParts } from './keep-proposals.ts';
import { listReaches } from './scan.ts';
import { maxTextChars, writeByModel } from './write-by-model.ts';

export interface AuthoringParts extends ProposalKeeperParts {
  /** Epoch ms. */
  readonly now: () => number;
  readonly repairs: Pick<Repairs, 'apply' | 'begin'>;
  readonly ask: AskModel;
  readonly descriptions: Pick<DescriptionReader, 'fetch' | 'open'>;
  readonly makePlugin: MakePlugin;
}

type Wish = Parameters<PluginAuthoring['create']>[0];

const dayMs = 86_400_000;
const historyRows = 1000;
const maxNoteChars = 4000;

/** Writes and changes plugins for models. Nothing of it serves before it was tried, and nothing is written before the config or a person says so. */
export function createAuthoring(parts: AuthoringParts): PluginAuthoring {
  const { book } = parts;
  const { begin, requireFree, propose, openPlugin, proposeChange, findProblem } = createProposalKeeper(parts);
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
          findProblem: (text) => findProblem(source, text),
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

/** What a model wrote, from nothing or from what was made without it. */
function draftOf({ name, description = '', examples = [] }: Wish, written: string, made?: Draft): Draft {
  if (made !== undefined)
    return { ...made, text: written, author: 'model', usual: new Set([...made.usual, ...listReaches(made.text)]) };
  const text = asModule(name, description, written, examples);
  if (text.length > maxTextChars)
    throw new HotcellError('payload-too-large', `A plugin of a model may have ${maxTextChars} characters.`);
  return { text, note: description.slice(0, 300), author: 'model', usual: new Set() };
}

/** A body of a handler becomes a module around it; a module stays as it is. */
function asModule(name: string, description: string, code: string, examples: readonly unknown[]): string {
  if (/^[^\S\n]*export\s+default\b/m.test(code)) return code;
  const shown = examples.length === 0 ? '' : `  examples: ${JSON.stringify(examples)},\n`;
  return `export default {\n  name: ${JSON.stringify(name)},\n  description: ${JSON.stringify(description)},\n${shown}  handler: async (args: any, context: any) => {\n${code}\n  },\n};\n`;
}
