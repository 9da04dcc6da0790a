import type { Message, Part } from '../../conversation/conversation.ts';

/**
 * Calls that were run on the way become a call and its result: to a model they are nothing else, and most formats have no other place for
 * them.
 */
export function expandRanCalls(messages: readonly Message[]): Message[] {
  return messages.flatMap((message) => {
    if (!message.parts.some(({ type }) => type === 'ran-call')) return [message];
    const expanded: { role: Message['role']; parts: Part[] }[] = [];
    const add = (role: Message['role'], part: Part): void => {
      const last = expanded.at(-1);
      if (last?.role === role) last.parts.push(part);
      else expanded.push({ role, parts: [part] });
    };
    for (const part of message.parts) {
      if (part.type !== 'ran-call') {
        add(message.role, part);
        continue;
      }
      const { id, name, output, error } = part;
      add('assistant', { type: 'tool-call', id, name, arguments: part.arguments });
      const content: Part[] = [{ type: 'text', text: error ?? output ?? '' }];
      add('tool', { type: 'tool-result', callId: id, name, content, isError: error !== undefined });
    }
    return expanded.map((one, index) => (index === 0 && message.kept ? { ...one, kept: message.kept } : one));
  });
}
