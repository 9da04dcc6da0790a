import { askText } from './bytes.ts';
import { DOMException } from './dom-exception.ts';

/** Base64 of a text whose characters are bytes. */
export function btoa(data: unknown): string {
  return need(askText('base64.write', String(data)), 'btoa expects characters up to U+00FF');
}

/** The bytes of base64 as a text of characters up to U+00FF. */
export function atob(data: unknown): string {
  return need(askText('base64.read', String(data)), 'atob expects valid base64');
}

function need(text: string | undefined, complaint: string): string {
  if (text === undefined) throw new DOMException(complaint, 'InvalidCharacterError');
  return text;
}
