import type { CallToolResult } from '@modelcontextprotocol/client';
import { isObject } from '../../config/json-object.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { cleanUntrustedText } from '../../permissions/untrusted-text.ts';

const maxErrorChars = 4000;

/**
 * The output of a call: where the tool has an output schema the structured content, else the parts, a single text as the text
 * itself. Throws `mcp-tool-failed` for a result that says it is an error.
 */
export function readResult(result: CallToolResult, hasOutputSchema: boolean): unknown {
  const { content, structuredContent, isError } = result;
  if (isError === true) {
    const said = content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
    throw new HotcellError('mcp-tool-failed', `The tool says: ${cleanUntrustedText(said, maxErrorChars) || 'nothing'}`);
  }
  if (hasOutputSchema && structuredContent !== undefined) return structuredContent;
  const [only] = content;
  if (content.length === 1 && only?.type === 'text' && isPlain(only)) return only.text;
  if (content.length === 0 && structuredContent !== undefined) return structuredContent;
  return { content: [...content] };
}

/** A text with annotations stays a part, so that they stay. */
function isPlain(part: object): boolean {
  return Object.entries(part).every(([key, value]) => key === 'type' || key === 'text' || value === undefined || isEmpty(value));
}

function isEmpty(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length === 0;
}
