import { type Message, textOf } from '../../conversation/conversation.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { ModelRoom } from '../decide-next.ts';
import { type AskModel, composeRequest, say } from './ask-model.ts';
import { applyBlocks } from './blocks.ts';
import { createFence, readApiTypes } from './prompt.ts';
import type { ProposeByModel } from './propose-by-model.ts';

/** What a model is to write. */
export interface WriteOrder {
  readonly model: string;
  readonly file: string;
  readonly wish: string;
  /** What there is of it already; a model changes it as it is wished. */
  readonly begun?: string | undefined;
  /** Read before each question; throws when nothing is left. */
  readonly room: () => ModelRoom;
  readonly onUse: Parameters<ProposeByModel>[0]['onUse'];
  /** What is wrong with a text; undefined when it passes its trial. */
  readonly findProblem: (text: string) => Promise<string | undefined>;
}

const maxRounds = 4;
/** The most that a plugin of a model may have. */
export const maxTextChars = 40_000;
const never = new AbortController().signal;
const next =
  'Write it yourself: hotcell plugin new NAME; say more of what it is to do; or name another model: repair.model in the config.';

/** A model writes a plugin; what does not pass its trial is an answer to learn from. Throws `model-failed`, or `compile-failed` where none of its texts passes. */
export async function writeByModel(ask: AskModel, order: WriteOrder): Promise<string> {
  const { model, file, wish, begun } = order;
  const fence = createFence();
  const task = `You write one plugin of Hotcell: a TypeScript module with a default export, typed arguments, and at least two examples: [{ args, expect }]. Ask for no permission that it does not need. Answer with one block:\n<<<<<<< WHOLE ${file}\nthe text\n>>>>>>> END\n${fence.rule}`;
  const given =
    begun === undefined ? [] : [fence.wrap('the plugin as it is: change it as it is wished, reach for nothing more', begun)];
  const types = fence.wrap('types of the plugin API', readApiTypes());
  const said: Message[] = [say([fence.wrap('what is wished for', wish), ...given, types].join('\n\n'))];
  let last = '';
  for (let round = 0; round < maxRounds; round++) {
    const request = composeRequest({ model, task, messages: [...said], tools: [], maxTokens: 8192 });
    const asked = await ask(request, order.room(), never);
    order.onUse(asked);
    if (asked.failure !== undefined)
      throw new HotcellError('model-failed', `The model ${model} did not answer: ${asked.failure}`, {
        fix: 'See which models answer: hotcell models. Then ask again.',
      });
    const refusal = asked.answer.parts.find(({ type }) => type === 'refusal');
    const answer = textOf(asked.answer.parts);
    if (refusal !== undefined) throw new HotcellError('model-failed', `The model ${model} refuses to write it.`, { fix: next });
    const applied = applyBlocks(answer, new Map([[file, begun ?? '']]));
    const text = applied.ok ? (applied.texts.get(file) ?? '') : '';
    const problem = applied.ok ? await order.findProblem(text) : applied.problem;
    if (problem === undefined) return text;
    last = problem;
    said.push(
      say(answer.slice(0, maxTextChars) || '(nothing)', 'assistant'),
      say(`${fence.wrap('what is wrong', problem)}\nWrite the whole block again.`),
    );
  }
  throw new HotcellError(
    'compile-failed',
    `The model ${model} wrote no plugin that passes its trial in ${maxRounds} tries. The last: ${last.slice(0, 500)}`,
    { fix: next },
  );
}
