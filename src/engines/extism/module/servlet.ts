import { isObject, readJson } from '../../../config/json-object.ts';
import { nestsDeeper } from '../../../config/read/json-nesting.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import type { GuestError } from '../../engine.ts';
import { exportKinds, listExports } from './module-sections.ts';

/** The exports of a module that describes its tools itself: `describe()` and `call(request)`. */
export const describeExport = 'describe';
export const callExport = 'call';

const maxTools = 256;
const maxDepth = 200;
/** Stands for a handler in a manifest. */
export const functionMark = { $function: true };

/** True for a module that exports both. */
export function isServlet(module: Uint8Array): boolean {
  const functions = listExports(module).filter(({ kind }) => kind === exportKinds.function);
  return [describeExport, callExport].every((wanted) => functions.some(({ name }) => name === wanted));
}

/**
 * The manifest of a servlet: what its sidecar says, with the tools that `describe` answered, `{tools: [{name, description,
 * inputSchema, outputSchema?, examples?}]}` or one such tool. Throws `manifest-invalid`.
 */
export function describeServlet(sidecar: Readonly<Record<string, unknown>>, answer: string): Record<string, unknown> {
  if (nestsDeeper(answer, maxDepth)) throw invalid(`at most ${maxDepth} levels of JSON`, 'more');
  const described = readJson(answer);
  const listed = isObject(described) && Array.isArray(described.tools) ? described.tools : [described];
  if (listed.length === 0 || listed.length > maxTools) {
    throw invalid(`at least one tool and at most ${maxTools}`, `${listed.length}`);
  }
  const tools = listed.map((tool: unknown) => readTool(tool));
  const names = new Set(tools.map(([name]) => name));
  if (names.size !== tools.length) throw invalid('names of tools that differ', 'the same name twice');
  const description = sidecar.description ?? tools.map(([, tool]) => tool.description).join(' ');
  return { description, ...sidecar, tools: Object.fromEntries(tools) };
}

/** The request that `call` gets. `argumentsJson` is JSON text. */
export function writeServletCall(tool: string, argumentsJson: string): string {
  return `{"params":{"name":${JSON.stringify(tool)},"arguments":${argumentsJson}}}`;
}

/** What `call` answered: the text of a single part as it is, other parts whole, a failure as such. */
export function readServletAnswer(text: string): { readonly output: string } | { readonly error: GuestError } {
  const answer = readJson(text);
  const content = isObject(answer) && Array.isArray(answer.content) ? answer.content : undefined;
  if (!isObject(answer) || content === undefined) {
    const message = 'Expected {"content": [{"type": "text", "text": …}], "isError"?: boolean} from the export call.';
    return { error: { code: 'output-invalid', message, frames: [] } };
  }
  const texts = content.flatMap((part: unknown) =>
    isObject(part) && (part.type === undefined || part.type === 'text') && typeof part.text === 'string' ? [part.text] : [],
  );
  if (answer.isError === true) {
    return { error: { code: 'handler-threw', message: texts.join('\n').slice(0, 4000) || 'The tool failed.', frames: [] } };
  }
  const [only] = texts;
  return { output: content.length === 1 && only !== undefined ? only : JSON.stringify({ content }) };
}

function readTool(tool: unknown): [string, Record<string, unknown>] {
  if (!isObject(tool) || typeof tool.name !== 'string') throw invalid('a tool with a name', typeof tool);
  const { name, description, inputSchema, outputSchema, examples } = tool;
  return [
    name,
    {
      description: typeof description === 'string' ? description : name,
      parameters: isObject(inputSchema) ? inputSchema : { type: 'object' },
      ...(isObject(outputSchema) && { output: outputSchema }),
      ...(Array.isArray(examples) && { examples }),
      handler: functionMark,
    },
  ];
}

function invalid(expected: string, found: string): HotcellError {
  return new HotcellError('manifest-invalid', `The export ${describeExport} answered ${found}; expected ${expected}.`, {
    fix: 'Answer {"tools": [{"name", "description", "inputSchema"}]} as JSON.',
  });
}
