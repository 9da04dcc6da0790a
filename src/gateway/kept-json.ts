import { isObject } from '../config/json-object.ts';
import type { Message } from '../conversation/conversation.ts';

/** Messages that were kept; undefined when there are none, or another version wrote them. */
export function readMessages(text: string | undefined): Message[] | undefined {
  const value = readJson(text);
  return isMessages(value) ? value : undefined;
}

/** What is no JSON is undefined. */
export function readJson(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Rows are written by this daemon alone; what is checked is that it is not something else. */
export function isMessages(value: unknown): value is Message[] {
  return Array.isArray(value) && value.every((one) => isObject(one) && typeof one.role === 'string' && Array.isArray(one.parts));
}
