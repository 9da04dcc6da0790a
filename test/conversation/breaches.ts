import type { Message, Part } from '../../src/conversation/conversation.ts';

/** What is wrong with a conversation, and at which message. */
export interface Breach {
  readonly message: number;
  readonly rule: 'part-in-wrong-role' | 'call-id-twice' | 'result-without-call' | 'result-twice' | 'call-without-result';
  /** The call that it is about. */
  readonly callId?: string;
}

const rolesByType: Readonly<Partial<Record<Part['type'], Message['role']>>> = {
  reasoning: 'assistant',
  refusal: 'assistant',
  'tool-call': 'assistant',
  'ran-call': 'assistant',
  'tool-result': 'tool',
};

/**
 * Where messages break the rules of a conversation: parts stand in the role that may say them, every call has an id of its own and exactly
 * one result, after it and before anybody else speaks. Calls of the last message may be without.
 */
export function findBreaches(messages: readonly Message[]): Breach[] {
  const breaches: Breach[] = [];
  const callIds = new Set<string>();
  const answered = new Set<string>();
  let waiting: string[] = [];
  messages.forEach(({ role, parts }, message) => {
    if (role === 'user' || role === 'assistant') {
      breaches.push(...waiting.map((callId) => ({ message, rule: 'call-without-result' as const, callId })));
      waiting = [];
    }
    for (const part of parts) {
      const expected = rolesByType[part.type];
      if ((expected ?? role) !== role) breaches.push({ message, rule: 'part-in-wrong-role' });
      if (part.type === 'tool-call') {
        if (callIds.has(part.id)) breaches.push({ message, rule: 'call-id-twice', callId: part.id });
        else waiting.push(part.id);
        callIds.add(part.id);
      }
      if (part.type === 'tool-result') {
        const { callId } = part;
        if (!callIds.has(callId)) breaches.push({ message, rule: 'result-without-call', callId });
        else if (answered.has(callId)) breaches.push({ message, rule: 'result-twice', callId });
        answered.add(callId);
        waiting = waiting.filter((id) => id !== callId);
      }
    }
  });
  return breaches;
}
