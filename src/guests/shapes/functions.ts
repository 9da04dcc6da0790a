/** What the text of a function tells about how it wants to be called. */
import { isRecord } from './late.ts';

const contextNames = /^_*(?:context|ctx|extra|options|opts|config|runManager|toolContext|signal|c)$/i;

/** The names of the parameters; a parameter that is taken apart is named by its first bracket. */
export function parameterNames(fn: unknown): string[] {
  const text = String(fn);
  const single = /^(?:async\s+)?([A-Za-z_$][\w$]*)\s*=>/.exec(text)?.[1];
  if (single !== undefined) return [single];
  const start = text.indexOf('(');
  return start < 0 ? [] : splitParameters(text, start + 1);
}

function splitParameters(text: string, start: number): string[] {
  const names: string[] = [];
  let depth = 0;
  let from = start;
  const take = (to: number) => {
    const name = /^\s*(?:\.\.\.)?\s*([A-Za-z_$][\w$]*|[{[])/.exec(text.slice(from, to))?.[1];
    if (name !== undefined) names.push(name);
  };
  for (let at = start; at < text.length; at++) {
    const sign = text.charAt(at);
    if (sign === "'" || sign === '"' || sign === '`') at = endOfText(text, at);
    else if ('([{'.includes(sign)) depth += 1;
    else if (')]}'.includes(sign)) {
      if (depth === 0) {
        take(at);
        break;
      }
      depth -= 1;
    } else if (sign === ',' && depth === 0) {
      take(at);
      from = at + 1;
    }
  }
  return names;
}

function endOfText(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text.charAt(at) === '\\') at += 1;
    else if (text.charAt(at) === text.charAt(start)) return at;
  }
  return text.length;
}

/** Whether a function takes its arguments one by one rather than as one object. */
export function isPositional(names: readonly string[], args: object): boolean {
  const [first, second] = names;
  if (first === undefined || first === '{' || first === '[') return false;
  return first in args || (second !== undefined && second !== '{' && !contextNames.test(second) && !contextNames.test(first));
}

/** Whether the first parameter is something that tools are registered with: `server.registerTool(…)`, `pi.on(…)`. */
export function isRegistrar(fn: unknown): boolean {
  const [first] = parameterNames(fn);
  if (first === undefined || !/^[A-Za-z_$]/.test(first)) return false;
  const calls = new RegExp(
    `(?:^|[^\\w$.])${first.replaceAll('$', '\\$')}(?:\\.(?:server|experimental|tasks))*\\.(?:${registering.join('|')})\\s*\\(`,
  );
  return (
    calls.test(String(fn)) || new RegExp(`\\bregisterAppTool\\)?\\s*\\(\\s*${first.replaceAll('$', '\\$')}\\b`).test(String(fn))
  );
}

const registering = [
  'registerTool',
  'registerToolTask',
  'registerPrompt',
  'registerResource',
  'registerCommand',
  'registerShortcut',
  'registerFlag',
  'registerProvider',
  'tool',
  'addTool',
  'on',
  'setRequestHandler',
];

/** Whether a function of so many arguments may make tools: it speaks of what tools have. */
export function isMaker(fn: (...args: never[]) => unknown, length = 0): boolean {
  return (
    fn.length === length &&
    /\b(?:tool\(|inputSchema|execute\b|createTool\(|DynamicStructuredTool|McpServer|new Server\()/.test(String(fn))
  );
}

/** Whether a function returns hooks of opencode with tools among them. */
export function isOpencodePlugin(fn: unknown): boolean {
  return /\btool\s*:\s*\{/.test(String(fn)) && /^async\b/.test(String(fn));
}

/** Whether a value is a class whose instances are tools. */
export function isToolClass(value: unknown): value is new (options: object) => object {
  if (typeof value !== 'function' || !/^class\b/.test(String(value))) return false;
  const { prototype } = value as { prototype: unknown };
  if (Object.getPrototypeOf(value) !== Function.prototype) return true;
  const methods = ['_call', 'execute', 'invoke', 'handler', 'run', 'call'];
  return isRecord(prototype) && methods.some((method) => typeof prototype[method] === 'function');
}
