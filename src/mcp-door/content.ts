import { type CallToolResult, ProtocolError, ProtocolErrorCode, type Tool } from '@modelcontextprotocol/server';
import type { HotcellError } from '../errors/hotcell-error.ts';
import { type Ended, sayFailure, textBlock, toContent } from '../operations/calling/call-content.ts';
import { describeForModel } from '../operations/calling/tool-book.ts';
import type { ApprovalView } from '../operations/contracts/access/approvals.ts';
import type { ToolView } from '../operations/contracts/tools.ts';

/** A tool as MCP clients see it. */
export function describeTool(view: ToolView, legalName: string): Tool {
  const { name, input, output, flags, idempotent } = view;
  const has = (flag: string): boolean => flags.includes(flag);
  const readsOnly = has('isResearch') && !has('isSideEffect') && !has('isDangerous');
  return {
    name: legalName,
    ...(legalName === name ? {} : { title: name }),
    description: describeForModel(view),
    inputSchema: { ...input, type: 'object' },
    ...(output === undefined ? {} : { outputSchema: output }),
    annotations: {
      ...(readsOnly ? { readOnlyHint: true } : {}),
      ...(has('isSideEffect') || has('isDangerous') ? { readOnlyHint: false } : {}),
      ...(has('isDangerous') ? { destructiveHint: true } : {}),
      ...(idempotent ? { idempotentHint: true } : {}),
      ...(has('isResearch') ? { openWorldHint: true } : {}),
    },
  };
}

/** The result of a tool for an MCP client; `schema` is what the tool says of its output. */
export function toToolResult(ended: Ended, schema: ToolView['output'] | undefined): CallToolResult {
  if (ended.status !== 'success') return { isError: true, content: [textBlock(sayFailure(ended))] };
  const { output, warnings = [] } = ended;
  const content = [...toContent(output), ...warnings.map((warning) => textBlock(`Warning: ${warning}`))];
  // What a schema promises is sent as data, too: clients check it against the schema.
  return schema === undefined ? { content } : { content, structuredContent: output };
}

/** Tells a model whom to ask where its client cannot: the call waits, and the same call again finds it. */
export function sayElsewhere(questions: readonly ApprovalView[]): CallToolResult {
  const lines = questions.map(({ id, question }) => `${question} A person answers it with: hotcell approve ${id}`);
  const words = [
    'This call waits for a person, whom this client cannot ask.',
    ...lines,
    'Tell the user. Once it is answered, call the tool again with the same arguments: that gives the result of this very call.',
  ].join('\n');
  return { isError: true, content: [textBlock(words)] };
}

/** An error of ours in the words of the protocol. */
export function toProtocolError(error: HotcellError): ProtocolError {
  const code = error.status >= 500 ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams;
  return new ProtocolError(code, `${error.message} ${error.fix}`, { code: error.code, ...error.facts });
}
