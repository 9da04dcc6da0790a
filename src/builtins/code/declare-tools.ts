import type { ToolEntry } from '../../tools/tool-types.ts';
import type { ToolManifest } from '../../units/tool-manifest.ts';
import { writeComment, writeMemberName, writeSchemaType } from './schema-type.ts';

/** What all declarations together may hold: a model reads them, and the output of a call is bounded. */
const maxDeclaredChars = 200_000;
const maxToolChars = 20_000;
const maxDescriptionChars = 1000;

const memberByManifest = new WeakMap<ToolManifest, string>();

/** The TypeScript declarations of tools as a model reads them. `total` is how many there are that fit what it looked for. */
export function declareTools(entries: readonly ToolEntry[], total: number): string {
  const members: string[] = [];
  let chars = 0;
  for (const entry of entries) {
    const member = declareTool(entry);
    chars += member.length;
    if (chars > maxDeclaredChars && members.length > 0) break;
    members.push(member);
  }
  if (members.length === 0) return '// No tool fits. Say it in other words.';
  const more = total > members.length ? `// ${members.length} of ${total} tools that fit, best first.\n` : '';
  return `${more}declare const tools: {\n${members.join('\n')}\n};`;
}

/** Declarations of tools for the check of a script: in full those that its text names, the others by their names, for what it misspells. */
export function declareForScript(entries: readonly ToolEntry[], code: string): string {
  const seen = new Set<string>();
  const members: string[] = [];
  for (const entry of entries) {
    // The highest of several versions comes first, and is the one that is called.
    if (seen.has(entry.name)) continue;
    seen.add(entry.name);
    members.push(code.includes(entry.name) ? declareTool(entry) : `  ${writeMemberName(entry.name)}(args?: any): Promise<any>;`);
  }
  return `interface Tools {\n${members.join('\n')}\n}\ndeclare const tools: Tools;\n${sandboxTypes}`;
}

/** A tool as a member; the same text as long as its manifest is the same. */
function declareTool({ name, manifest }: ToolEntry): string {
  const known = memberByManifest.get(manifest);
  if (known !== undefined) return known;
  const { input, output, description } = manifest;
  const args = writeSchemaType(input);
  const isOptional = !Array.isArray(input.required) || input.required.length === 0;
  const result = output === undefined ? 'any' : writeSchemaType(output, 'any');
  const about = writeComment(description, maxDescriptionChars).trim();
  const comment = about === '' ? '' : `  ${about}\n`;
  const whole = `${comment}  ${writeMemberName(name)}(args${isOptional ? '?' : ''}: ${args}): Promise<${result}>;`;
  const member = whole.length <= maxToolChars ? whole : `${comment}  ${writeMemberName(name)}(args?: any): Promise<any>;`;
  memberByManifest.set(manifest, member);
  return member;
}

/** What a script has beside the language itself. */
const sandboxTypes = `
interface Console { log(...values: unknown[]): void; info(...values: unknown[]): void; warn(...values: unknown[]): void;
  error(...values: unknown[]): void; debug(...values: unknown[]): void }
declare const console: Console;
declare function setTimeout(run: (...args: any[]) => void, ms?: number, ...args: any[]): number;
declare function clearTimeout(id?: number): void;
declare function setInterval(run: (...args: any[]) => void, ms?: number, ...args: any[]): number;
declare function clearInterval(id?: number): void;
declare function queueMicrotask(run: () => void): void;
declare function structuredClone<Value>(value: Value): Value;
declare function atob(text: string): string;
declare function btoa(text: string): string;
declare const performance: { now(): number };
declare const crypto: { randomUUID(): string; getRandomValues<Bytes>(bytes: Bytes): Bytes; readonly subtle: any };
declare class TextEncoder { encode(text?: string): Uint8Array }
declare class TextDecoder { constructor(label?: string); decode(bytes?: ArrayBuffer | ArrayBufferView): string }
declare class URLSearchParams implements Iterable<[string, string]> { constructor(init?: string | Record<string, string> | Iterable<[string, string]>);
  get(name: string): string | null; getAll(name: string): string[]; has(name: string): boolean; set(name: string, value: string): void;
  append(name: string, value: string): void; delete(name: string): void; toString(): string; [Symbol.iterator](): IterableIterator<[string, string]> }
declare class URL { constructor(url: string, base?: string | URL); href: string; origin: string; protocol: string; host: string; hostname: string;
  port: string; pathname: string; search: string; hash: string; readonly searchParams: URLSearchParams; toString(): string }
declare namespace Intl { interface DateTimeFormat { format(date?: Date | number): string } }
`;
