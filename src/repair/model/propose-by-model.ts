import type { ConversationAnswer } from '../../conversation/answer.ts';
import { type Message, type ToolCallPart, type ToolResultPart, textOf } from '../../conversation/conversation.ts';
import type { ToolDeclaration } from '../../conversation/request.ts';
import type { ModelRoom } from '../decide-next.ts';
import type { Diagnosis } from '../diagnosis/diagnosis.ts';
import type { Proposal } from '../repair.ts';
import type { Tried } from '../try-and-decide.ts';
import { type AskModel, composeRequest, say } from './ask-model.ts';
import { applyToSources, nameFiles } from './blocks.ts';
import { createFence, describeDiagnosis, describeTask, type Fence } from './prompt.ts';

/** What a model is asked to mend. */
export interface ProposalRequest {
  readonly diagnosis: Diagnosis;
  readonly room: ModelRoom;
  readonly signal: AbortSignal;
  readonly onUse: (used: { readonly tokens: number; readonly cost: number }) => void;
  /** Undefined for what was tried before, or changes nothing that may be changed. */
  readonly tryPatch: (proposal: Proposal) => Promise<Tried | undefined>;
  readonly isOver: () => boolean;
}

/** Has a model propose until a proposal mends, or its room is used up; says why it ended otherwise. */
export type ProposeByModel = (request: ProposalRequest) => Promise<string | undefined>;

const maxRounds = 8;
const maxCallsPerRound = 4;
const maxAnswerTokens = 8192;
const maxQuoteChars = 300;
const textSchema = (name: string, about: string) => ({
  type: 'object',
  properties: { [name]: { type: 'string', description: about } },
  required: [name],
  additionalProperties: false,
});

const repairTools: readonly ToolDeclaration[] = [
  {
    name: 'read_source',
    description: 'Reads a file of the plugin.',
    parameters: textSchema('file', 'its name, as it was shown'),
  },
  {
    name: 'read_declaration',
    description: 'Reads the declaration of a type that the errors speak of.',
    parameters: textSchema('name', 'the name of the type'),
  },
  {
    name: 'try_proposal',
    description: 'Tries a change in a sandbox, with the examples and recorded calls of the plugin, and says what came of it.',
    parameters: textSchema('blocks', 'the change, as blocks'),
  },
];

/** Creates what asks the model of that name. */
export function createModelProposer(parts: { readonly model: () => string; readonly ask: AskModel }): ProposeByModel {
  return async ({ diagnosis, room, signal, onUse, tryPatch, isOver }) => {
    const fence = createFence();
    const model = parts.model();
    const messages: Message[] = [say(describeDiagnosis(diagnosis, fence))];
    let left = room;
    for (let round = 0; round < maxRounds; round++) {
      const maxTokens = Math.min(maxAnswerTokens, Math.max(1, left.tokens));
      const request = composeRequest({
        model,
        task: describeTask(fence),
        messages: [...messages],
        tools: repairTools,
        maxTokens,
      });
      const asked = await parts.ask(request, left, signal);
      onUse(asked);
      left = { tokens: left.tokens - asked.tokens, cost: left.cost - asked.cost };
      if (asked.failure !== undefined) return `The model ${model} did not answer: ${asked.failure}`;
      const reply = await takeAnswer(asked.answer, { diagnosis, model, fence, tryPatch });
      if (isOver()) return undefined;
      if (reply === undefined) return `The model ${model} has no change to propose${quote(asked.answer)}.`;
      if (left.tokens <= 0 || left.cost <= 0) return `The model ${model} used up what a plugin may use in a day.`;
      messages.push({ role: 'assistant', parts: asked.answer.parts }, ...reply);
    }
    return `The model ${model} did not mend it in ${maxRounds} rounds.`;
  };
}

interface TakeParts extends Pick<ProposalRequest, 'diagnosis' | 'tryPatch'> {
  readonly model: string;
  readonly fence: Fence;
}

/** What is said back to an answer; undefined when the model has nothing to propose. */
async function takeAnswer(answer: ConversationAnswer, parts: TakeParts): Promise<Message[] | undefined> {
  const calls = answer.parts.filter((part) => part.type === 'tool-call');
  const text = textOf(answer.parts);
  if (calls.length > 0) return [{ role: 'tool', parts: await runCalls(calls, parts) }];
  if (answer.parts.some(({ type }) => type === 'refusal')) return undefined;
  const isEmpty = !/^[<>]{7}/m.test(text);
  // Who was cut off in the middle of a block had something to propose.
  if (isEmpty && answer.stop.kind !== 'max-tokens') return undefined;
  return [say(await tryBlocks(text, parts))];
}

/** One after the other: each is tried on the plugin as it is. */
async function runCalls(calls: readonly ToolCallPart[], parts: TakeParts): Promise<ToolResultPart[]> {
  const results: ToolResultPart[] = [];
  for (const [index, call] of calls.entries()) {
    const text =
      index < maxCallsPerRound ? await runCall(call, parts) : `At most ${maxCallsPerRound} calls of one answer are run.`;
    results.push({ type: 'tool-result', callId: call.id, name: call.name, content: [{ type: 'text', text }], isError: false });
  }
  return results;
}

async function runCall({ name, arguments: given }: ToolCallPart, parts: TakeParts): Promise<string> {
  if (given.state === 'broken') return `The arguments cannot be read: ${given.problem}`;
  const { file, name: type, blocks } = given.value;
  const { diagnosis, fence } = parts;
  if (name === 'read_source') {
    const [path] = [...nameFiles(diagnosis)].find(([, shown]) => shown === file) ?? [];
    const text = path === undefined ? undefined : diagnosis.sources.get(path);
    return text === undefined
      ? `There is no such file; there are: ${[...nameFiles(diagnosis).values()].join(', ')}.`
      : fence.wrap(`file ${String(file)}`, text);
  }
  if (name === 'read_declaration') {
    const found = diagnosis.declarations.find((declaration) => declaration.name === type);
    return found === undefined ? 'No declaration of that name is known.' : fence.wrap('declaration', found.text);
  }
  if (name === 'try_proposal') return tryBlocks(typeof blocks === 'string' ? blocks : '', parts);
  return `There is no tool "${name.slice(0, 64)}"; there are: ${repairTools.map((tool) => tool.name).join(', ')}.`;
}

/** Tries blocks and says what came of it; what is malformed is an answer to learn from. */
async function tryBlocks(text: string, { diagnosis, model, fence, tryPatch }: TakeParts): Promise<string> {
  const applied = applyToSources(text, diagnosis);
  if (!applied.ok) return `Nothing was tried. ${applied.problem}`;
  const { files } = applied;
  const names = nameFiles(diagnosis);
  const note = `A change of ${[...files.keys()].map((path) => names.get(path)).join(', ')} that a model wrote.`;
  const tried = await tryPatch({ files, by: model, sureness: 'maybe', note });
  if (tried === undefined) return 'Nothing was tried: this very change was tried before, or it is too large.';
  const { verdict, checks } = tried.report;
  const said = checks.map(({ name, outcome, detail }) => `${name}: ${outcome}. ${detail}`).join('\n');
  return `Tried: ${verdict}.\n${fence.wrap('what the checks say', said.slice(0, 8000))}`;
}

/** The words of a model, as such and bounded: they say why, and vouch for nothing. */
function quote({ parts }: ConversationAnswer): string {
  const text = parts.map((part) => (part.type === 'text' || part.type === 'refusal' ? part.text : '')).join(' ');
  const words = text.replace(/\s+/g, ' ').trim();
  if (words === '') return '';
  return `; it says: "${words.length <= maxQuoteChars ? words : `${words.slice(0, maxQuoteChars)}…`}"`;
}
