import { isObject } from '../../config/json-object.ts';
import { suggestNearNames } from '../../errors/near-names.ts';
import type { Diagnostic } from '../plugin-types.ts';

/** What the adapter of an adapted build found in a tool file. */
export type OtherShape =
  | {
      readonly isFound: true;
      /** Whose formats the tools are written in, such as "AI SDK". */
      readonly name: string;
      /** The exports as those of a plugin. */
      readonly exported: unknown;
      /** Options that a class looked for and did not get. */
      readonly options: readonly string[];
      /** Sentences about keys that nobody reads and that look misspelt. */
      readonly misspelt: readonly string[];
    }
  | { readonly isFound: false; readonly advice: Pick<Diagnostic, 'message' | 'fix'> | undefined };

const maxNameChars = 60;
const mostTools = 64;
const right = 'Write: export default { description, parameters, handler: async (args, context) => … }.';

/** Reads what an adapted build exports. Nothing of it is believed: it is a plugin's word. */
export function readOtherShape(exported: unknown): OtherShape {
  const main = isObject(exported) && isObject(exported.default) ? exported.default : {};
  const { $shape: shape, ...plugin } = main;
  if (!isObject(shape)) return { isFound: false, advice: undefined };
  if (isObject(shape.nothing)) return { isFound: false, advice: advise(shape.nothing) };
  const name = typeof shape.name === 'string' ? shape.name.replace(/[^\w ,.-]/g, '').slice(0, maxNameChars) : '';
  return {
    isFound: true,
    name: name || 'other',
    exported: { default: plugin, named: {} },
    options: readNames(shape.options),
    misspelt: (Array.isArray(shape.unread) ? shape.unread : []).slice(0, mostTools).flatMap(describeUnread),
  };
}

function describeUnread(unread: unknown): string[] {
  if (!isObject(unread)) return [];
  return readNames(unread.keys).flatMap((key) => {
    const meant = suggestNearNames(key, readNames(unread.lacks));
    return meant === '' ? [] : [`Key "${key}" of a tool is not read.${meant}`];
  });
}

/** One sentence about what the file is, and one with what to write instead. */
function advise(nothing: Readonly<Record<string, unknown>>): Pick<Diagnostic, 'message' | 'fix'> | undefined {
  const [failure] = readNames(nothing.failures, 200);
  const definitions = readNames(nothing.definitions);
  const workers = readNames(nothing.workers);
  const classes = readNames(nothing.classes);
  const makers = readNames(nothing.makers);
  const functions = readNames(nothing.functions);
  const other = readNames(nothing.other);
  if (definitions.length > 0 && workers.length > 0) {
    return {
      message: `The file describes tools (${list(definitions)}) apart from the functions that do their work (${list(workers)}).`,
      fix: `Put them together: export default { tools: { NAME: { description, parameters, handler: (args, context) => ${workers[0]}(args) } } }.`,
    };
  }
  if (definitions.length > 0) {
    return {
      message: `The file describes tools (${list(definitions)}) without the functions that do their work.`,
      fix: 'Write each as { description, parameters: its inputSchema, handler: (args, context) => … } in export default { tools: { … } }.',
    };
  }
  if (classes.length > 0) {
    return {
      message: `The file exports the class ${list(classes)}, of which no instance could be made without options.`,
      fix: `Export an instance: export default new ${classes[0] ?? 'Tool'}({ … }).`,
    };
  }
  if (failure !== undefined) {
    return {
      message: `The file makes its tools in a function that failed without its own host: ${failure.replace(/\.$/, '')}.`,
      fix: `${right} Move what needs the host out of the way, or make the tools without it.`,
    };
  }
  if (makers.length > 0) {
    return {
      message: `The file makes its tools in a function that wants options: ${list(makers)}.`,
      fix: `Export what it makes: export default ${makers[0] ?? 'createTool'}({ … }).`,
    };
  }
  if (isSome(nothing.unreadable)) {
    return {
      message: 'The file registers tools that its own host makes: their descriptions, parameters and work are not in the file.',
      fix: right,
    };
  }
  if (other.includes('registerCommand') || other.includes('on')) {
    return {
      message:
        'The file is an extension that registers no tool, only commands, events or parts of a screen, which Hotcell does not have.',
      fix: `${right} For what happens before or after calls write a hook: hotcell hook --help.`,
    };
  }
  if (functions.length > 0) {
    return {
      message: `The file exports functions (${list(functions)}), but none of them is described as a tool.`,
      fix: `Add: export default { tools: { ${functions[0] ?? 'name'}: { description: '…', handler: (args) => ${functions[0] ?? 'name'}(…) } } }.`,
    };
  }
  if (isSome(nothing.servers)) {
    return {
      message: 'The file makes an MCP server that has no tools.',
      fix: 'Register one: server.registerTool(name, { description, inputSchema }, async (args) => …).',
    };
  }
  if (nothing.exports === 0) {
    return {
      message: 'The file exports nothing, and hands its tools to nothing either.',
      fix: `Export them: export default { tools: { … } }. ${right}`,
    };
  }
  return undefined;
}

function isSome(count: unknown): boolean {
  return typeof count === 'number' && count > 0;
}

function list(names: readonly string[]): string {
  const shown = names.slice(0, 3).join(', ');
  return names.length > 3 ? `${shown} and ${names.length - 3} more` : shown;
}

function readNames(value: unknown, maxChars = maxNameChars): string[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((each) => (typeof each === 'string' ? [each.replace(/\s+/g, ' ').slice(0, maxChars)] : [])).slice(0, 20);
}
