/** What handlers of other shapes return, brought to what a plugin returns. */
import { isRecord } from './late.ts';

/** Text parts of MCP become text, an error of MCP is thrown; everything else is returned as it is. */
export function toOutput(result: unknown): unknown {
  if (!isRecord(result) || !Array.isArray(result.content) || !result.content.every(isPart)) return result;
  const texts = result.content.flatMap((part: unknown) => (isText(part) ? [part.text] : []));
  if (result.isError === true) throw new Error(texts.join('\n') || 'The tool says that it failed.');
  if (isRecord(result.structuredContent)) return result.structuredContent;
  if (texts.length !== result.content.length) return { content: result.content };
  return texts.join('\n');
}

function isPart(part: unknown): boolean {
  return isRecord(part) && typeof part.type === 'string';
}

function isText(part: unknown): part is { readonly text: string } {
  return isRecord(part) && part.type === 'text' && typeof part.text === 'string';
}
