import type { Message, Part } from '../../conversation/conversation.ts';
import type { ConversationRequest, ToolChoice } from '../../conversation/request.ts';
import { encodeCallId, encodeToolName } from './tool-names.ts';

interface Provider {
  /** Ids of calls may have this many characters. */
  readonly maxIdChars: number;
  /** The format has a place for calls that were run on the way. */
  readonly hasRanCalls?: boolean;
}

/** A request as a provider takes it: with names and ids that are legal there, and calls that were run on the way as usual ones. */
export function fitForProvider(request: ConversationRequest, { maxIdChars, hasRanCalls = false }: Provider): ConversationRequest {
  const { tools, toolChoice, messages } = request;
  const fitPart = (part: Part): Part => {
    if (part.type === 'tool-call') return { ...part, id: encodeCallId(part.id, maxIdChars), name: encodeToolName(part.name) };
    if (part.type !== 'tool-result') return part;
    const named = part.name ? { name: encodeToolName(part.name) } : {};
    return { ...part, callId: encodeCallId(part.callId, maxIdChars), ...named };
  };
  const expanded = hasRanCalls ? messages : messages.flatMap(expandRanCalls);
  return {
    ...request,
    tools: tools.map((tool) => ({ ...tool, name: encodeToolName(tool.name) })),
    ...(toolChoice && { toolChoice: fitChoice(toolChoice) }),
    messages: expanded.map((message) => ({ ...message, parts: message.parts.map(fitPart) })),
  };
}

function fitChoice(choice: ToolChoice): ToolChoice {
  if (choice.kind === 'tool') return { ...choice, name: encodeToolName(choice.name) };
  return choice.kind === 'some' ? { ...choice, names: choice.names.map(encodeToolName) } : choice;
}

/** To a model they are calls like any other. Calls that wait for a result come last, since nothing may stand before it. */
function expandRanCalls(message: Message): Message[] {
  if (!message.parts.some(({ type }) => type === 'ran-call')) return [message];
  const expanded: { role: Message['role']; parts: Part[] }[] = [];
  const add = (role: Message['role'], part: Part): void => {
    const last = expanded.at(-1);
    if (last?.role === role) last.parts.push(part);
    else expanded.push({ role, parts: [part] });
  };
  for (const part of message.parts) {
    if (part.type === 'ran-call') {
      const { id, name, output, error } = part;
      add('assistant', { type: 'tool-call', id, name, arguments: part.arguments });
      const content: Part[] = [{ type: 'text', text: error ?? output ?? '' }];
      add('tool', { type: 'tool-result', callId: id, name, content, isError: error !== undefined });
    } else if (part.type !== 'tool-call') add(message.role, part);
  }
  for (const part of message.parts) if (part.type === 'tool-call') add(message.role, part);
  return expanded.map((one, index) => (index === 0 && message.kept ? { ...one, kept: message.kept } : one));
}
