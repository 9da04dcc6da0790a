import type { AuthoringAnswer, PluginAuthoring } from '../../builtins/authoring.ts';
import type { Message } from '../../conversation/conversation.ts';
import type { ConversationRequest } from '../../conversation/request.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { describePermissions } from '../../permissions/decision.ts';
import type { PluginSource } from '../../plugins/discovery/plugin-source.ts';
import type { DiagnosisOrder, JourneyParts } from '../journey.ts';
import { describeChange } from '../patch-text.ts';
import type { KeptProposal, Repair } from '../repair.ts';
import type { Repairs } from '../repairs.ts';
import type { TrialReport } from '../trial/trial.ts';
import { applyBlocks } from './blocks.ts';
import { createFence, nameFiles, readApiTypes } from './prompt.ts';
import type { AskModel } from './propose-by-model.ts';
import { listAsks, listReaches } from './scan.ts';

/** Classes of what is no repair: a plugin that is new, and a change of one that is well. */
export type AuthoringClass = 'creation' | 'tweak';

export interface AuthoringParts extends Pick<JourneyParts, 'book' | 'mending' | 'diagnose' | 'tryProposal'> {
  readonly settings: () => JourneyParts['settings'];
  readonly plugins: { pathOf(name: string): string };
  readonly repairs: Pick<Repairs, 'apply' | 'begin'>;
  readonly ask: AskModel;
}

const maxPerCaller = 10;
const maxTextChars = 40_000;
const maxRounds = 4;
const never = new AbortController().signal;

/** Writes and changes plugins for models. Nothing of it serves before it was tried, and nothing is written before the config or a person says so. */
export function createAuthoring(parts: AuthoringParts): PluginAuthoring {
  const { book, mending } = parts;

  function requireRoom(by: string): void {
    const { create, maxProposals } = parts.settings();
    if (create === 'off')
      throw new HotcellError('tools-disabled', 'Models write no plugins here.', { fix: 'Set repair.create in the config.' });
    const open = book.list({ states: ['proposed'], limit: maxProposals });
    const own = open.filter(({ failureKey }) => failureKey === `by ${by}`).length;
    if (open.length < maxProposals && own < maxPerCaller) return;
    throw new HotcellError('queue-full', `${open.length} proposals wait for a person, ${own} of them from this caller.`, {
      fix: 'Answer some: hotcell repair list --state proposed.',
    });
  }

  function keep(
    what: AuthoringClass,
    path: string,
    plugin: string,
    by: string,
    proposal: KeptProposal,
    contentHash: string,
  ): Repair {
    const failure = { code: 'none', message: proposal.note, fix: '' };
    const { id } = book.open({ path, plugin, class: what, failureKey: `by ${by}`, failure, contentHash });
    const reason = `It waits for a person: hotcell repair show ${id}; then: hotcell repair apply ${id}.`;
    return book.move(id, 'proposed', { reason, author: 'model', proposal });
  }

  /** A text for a new file, tried; throws what keeps it from being a plugin. */
  async function tryNew(source: PluginSource, text: string): Promise<TrialReport> {
    const proposal = { files: new Map([[source.realEntry, text]]), by: 'model', sureness: 'maybe', note: '' } as const;
    const failure = { class: 'does-not-load', key: 'creation' } as const;
    return parts.tryProposal({ source, proposal, diagnosed: undefined, failure, signal: never });
  }

  /** The model of the daemon writes it; what does not pass its trial is an answer to learn from. */
  async function writeByModel(source: PluginSource, file: string, wish: string): Promise<string> {
    const { model, tokensPerDay: tokens, costPerDay: cost } = parts.settings();
    if (model === '')
      throw new HotcellError('model-not-configured', 'No model writes plugins.', {
        fix: 'Name one: repair.model in the config.',
      });
    const fence = createFence();
    const task = `You write one plugin of Hotcell: a TypeScript module with a default export, typed arguments, and at least two examples: [{ args, expect }]. Ask for no permission that it does not need. Answer with one block:\n<<<<<<< WHOLE ${file}\nthe text\n>>>>>>> END\n${fence.rule}`;
    const said: string[] = [
      `${fence.wrap('what is wished for', wish)}\n\n${fence.wrap('types of the plugin API', readApiTypes())}`,
    ];
    let left = { tokens, cost };
    for (let round = 0; round < maxRounds && left.tokens > 0 && left.cost > 0; round++) {
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
      const asked = await parts.ask(request, left, never);
      left = { tokens: left.tokens - asked.tokens, cost: left.cost - asked.cost };
      if (asked.failure !== undefined) throw new HotcellError('model-failed', asked.failure);
      const answer = asked.answer.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
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
    async create({ name, description, code, examples = [] }, by) {
      requireRoom(by);
      const file = `${name}.ts`;
      const source = mending.newSource(file);
      if (source === undefined)
        throw new HotcellError('conflict', `There is a plugin or a file "${name}" already.`, {
          fix: 'Choose another name, or use tweak_skill.',
        });
      const text =
        code === undefined
          ? await writeByModel(source, file, `${name}: ${description}`)
          : asModule(name, description, code, examples);
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
      );
      if (parts.settings().create !== 'auto' || asks.length > 0) return answerOf(repair);
      return answerOf(await parts.repairs.apply(repair.id, 'model'));
    },
    async tweak({ plugin, blocks, note }, by) {
      requireRoom(by);
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
        [...names].flatMap(([real, shown]) =>
          applied.texts.has(shown) ? [[real, applied.texts.get(shown) ?? ''] as const] : [],
        ),
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
    },
    repair: async (plugin) => answerOf(await parts.repairs.begin(plugin, false)),
  };
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
