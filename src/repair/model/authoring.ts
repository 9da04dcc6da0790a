import type { AuthoringAnswer, PluginAuthoring } from '../../builtins/authoring.ts';
import { countedAs } from '../../config/anonymous.ts';
import { type Message, textOf } from '../../conversation/conversation.ts';
import type { ConversationRequest } from '../../conversation/request.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { describePermissions } from '../../permissions/decision.ts';
import type { PluginSource } from '../../plugins/discovery/plugin-source.ts';
import { decideModelRoom, type ModelRoom } from '../decide-next.ts';
import type { DiagnosisOrder, JourneyParts } from '../journey.ts';
import { describeChange } from '../patch-text.ts';
import type { KeptProposal, Repair } from '../repair.ts';
import type { Repairs } from '../repairs.ts';
import type { TrialReport } from '../trial/trial.ts';
import { applyBlocks } from './blocks.ts';
import { createFence, nameFiles, readApiTypes } from './prompt.ts';
import type { AskModel, ProposeByModel } from './propose-by-model.ts';
import { listAsks, listReaches } from './scan.ts';

/** Classes of what is no repair: a plugin that is new, and a change of one that is well. */
export type AuthoringClass = 'creation' | 'tweak';

export interface AuthoringParts extends Pick<JourneyParts, 'book' | 'mending' | 'diagnose' | 'tryProposal'> {
  /** Epoch ms. */
  readonly now: () => number;
  readonly settings: () => JourneyParts['settings'];
  readonly plugins: { pathOf(name: string): string };
  readonly repairs: Pick<Repairs, 'apply' | 'begin'>;
  readonly ask: AskModel;
}

type Wish = Parameters<PluginAuthoring['create']>[0];
type Change = Parameters<PluginAuthoring['tweak']>[0];
type OnUse = Parameters<ProposeByModel>[0]['onUse'];

const dayMs = 86_400_000;
const historyRows = 1000;
const maxPerCaller = 10;
const maxTextChars = 40_000;
const maxRounds = 4;
const never = new AbortController().signal;

/** Writes and changes plugins for models. Nothing of it serves before it was tried, and nothing is written before the config or a person says so. */
export function createAuthoring(parts: AuthoringParts): PluginAuthoring {
  const { book, mending } = parts;
  /** Who has a proposal in the making, once for each. */
  const making: string[] = [];
  /** One after the other, so that each knows what the one before has used. */
  let writing: Promise<unknown> = Promise.resolve();

  /** What is in the making counts as a proposal that waits, so that many at once are no more than there is room for. */
  async function withRoom(given: string, make: (by: string) => Promise<AuthoringAnswer>): Promise<AuthoringAnswer> {
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
    const { create, maxProposals } = parts.settings();
    if (create === 'off')
      throw new HotcellError('tools-disabled', 'Models write no plugins here.', { fix: 'Set repair.create in the config.' });
    const open = book.list({ states: ['proposed'], limit: maxProposals });
    const ownMaking = making.filter((each) => each === by).length;
    const own = open.filter(({ failureKey }) => failureKey === `by ${by}`).length + ownMaking;
    const all = open.length + making.length;
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
    return book.move(id, 'proposed', { reason, author: 'model', proposal });
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
      throw new HotcellError('model-not-configured', 'No model writes plugins.', {
        fix: 'Name one: repair.model in the config.',
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

  /** The model of the daemon writes it; what does not pass its trial is an answer to learn from. */
  async function writeByModel(source: PluginSource, file: string, wish: string, onUse: OnUse): Promise<string> {
    const { model } = parts.settings();
    const fence = createFence();
    const task = `You write one plugin of Hotcell: a TypeScript module with a default export, typed arguments, and at least two examples: [{ args, expect }]. Ask for no permission that it does not need. Answer with one block:\n<<<<<<< WHOLE ${file}\nthe text\n>>>>>>> END\n${fence.rule}`;
    const said: string[] = [
      `${fence.wrap('what is wished for', wish)}\n\n${fence.wrap('types of the plugin API', readApiTypes())}`,
    ];
    for (let round = 0; round < maxRounds; round++) {
      const messages = said.map(
        (text, at): Message => ({
          role: at % 2 === 0 ? 'user' : 'assistant',
          parts: [{ type: 'text', text }],
        }),
      );
      const request: ConversationRequest = {
        model,
        system: [{ type: 'text', text: task }],
        messages,
        tools: [],
        nativeTools: [],
        sampling: {},
        maxTokens: 8192,
        isStreamed: true,
      };
      const asked = await parts.ask(request, requireModelRoom(), never);
      onUse(asked);
      if (asked.failure !== undefined) throw new HotcellError('model-failed', asked.failure);
      const answer = textOf(asked.answer.parts);
      const applied = applyBlocks(answer, new Map([[file, '']]));
      const text = applied.ok ? (applied.texts.get(file) ?? '') : '';
      const report = applied.ok ? await tryNew(source, text) : undefined;
      report?.candidate?.release();
      const problem = applied.ok ? report && findProblem(report) : applied.problem;
      if (problem === undefined) return text;
      said.push(
        answer.slice(0, maxTextChars) || '(nothing)',
        `${fence.wrap('what is wrong', problem)}\nWrite the whole block again.`,
      );
    }
    throw new HotcellError('model-failed', `The model ${model} wrote no plugin that passes its trial.`);
  }

  return {
    create: (wish, by) =>
      withRoom(by, (counted) => (wish.code === undefined ? write(wish, counted) : create(wish, wish.code, counted))),
    tweak: (wish, by) => withRoom(by, (counted) => tweak(wish, counted)),
    repair: async (plugin) => answerOf(await parts.repairs.begin(plugin, false)),
  };

  async function create(
    { name, description, examples = [] }: Wish,
    code: string,
    by: string,
    begun?: Repair,
  ): Promise<AuthoringAnswer> {
    const source = requireFree(name);
    const text = asModule(name, description, code, examples);
    if (text.length > maxTextChars)
      throw new HotcellError('payload-too-large', `A plugin of a model may have ${maxTextChars} characters.`);
    const report = await tryNew(source, text);
    report.candidate?.release();
    const problem = findProblem(report);
    if (problem !== undefined) throw new HotcellError('compile-failed', `The plugin is not taken: ${problem}`);
    const asked = describePermissions(report.candidate?.build.manifest.permissions ?? {});
    const asks = [...(asked === '' ? [] : [`permissions: ${asked}`]), ...listReaches(text)];
    const files = [{ path: source.path, before: null, after: text }];
    const diff = describeChange(new Map(), new Map([[source.realEntry, text]]), source);
    const repair = keep(
      'creation',
      source.path,
      name,
      by,
      { by, author: 'model', sureness: 'maybe', note: description.slice(0, 300), diff, asks, files },
      '',
      begun,
    );
    if (parts.settings().create !== 'auto' || asks.length > 0) return answerOf(repair);
    return answerOf(await parts.repairs.apply(repair.id, 'model'));
  }

  async function tweak({ plugin, blocks, note }: Change, by: string): Promise<AuthoringAnswer> {
    const standing = mending.find(parts.plugins.pathOf(plugin));
    if (standing === undefined) throw new HotcellError('plugin-unknown', `There is no plugin "${plugin}".`);
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
    if (problem !== undefined) throw new HotcellError('compile-failed', `The change is not taken: ${problem}`);
    const asks = [
      ...(report.more === undefined ? [] : [`permissions: ${describePermissions(report.more)}`]),
      ...listAsks(sources, changed),
    ];
    const files = [...changed].map(([file, after]) => ({ path: file, before: sources.get(file) ?? null, after }));
    const diff = describeChange(sources, changed, source);
    return answerOf(
      keep('tweak', path, name, by, { by, author: 'model', sureness: 'maybe', note, diff, asks, files }, contentHash),
    );
  }

  function requireFree(name: string): PluginSource {
    const source = mending.newSource(`${name}.ts`);
    if (source !== undefined) return source;
    throw new HotcellError('conflict', `There is a plugin or a file "${name}" already.`, {
      fix: 'Choose another name, or use tweak_skill.',
    });
  }

  /** What the model uses is in a repair of its own, also where nothing comes of it. */
  async function write(wish: Wish, by: string): Promise<AuthoringAnswer> {
    const { name, description } = wish;
    const turn = writing.then(async () => {
      const source = requireFree(name);
      requireModelRoom();
      const begun = begin('creation', source.path, name, by, description.slice(0, 300), '');
      try {
        const onUse: OnUse = (used) => book.addUse(begun.id, used);
        return await create(wish, await writeByModel(source, `${name}.ts`, `${name}: ${description}`, onUse), by, begun);
      } catch (error) {
        if (book.get(begun.id).state === 'running')
          book.move(begun.id, 'given-up', { reason: error instanceof HotcellError ? error.message : 'The daemon failed.' });
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
  if (/^\s*export\s+default\b/m.test(code)) return code;
  const shown = examples.length === 0 ? '' : `  examples: ${JSON.stringify(examples)},\n`;
  return `export default {\n  name: ${JSON.stringify(name)},\n  description: ${JSON.stringify(description)},\n${shown}  handler: async (args: any, context: any) => {\n${code}\n  },\n};\n`;
}
