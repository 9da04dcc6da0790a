import type { Tool } from '@modelcontextprotocol/client';
import { isObject } from '../../config/json-object.ts';
import { cleanUntrustedText } from '../../permissions/untrusted-text.ts';
import { isBoundedSchema } from '../../tools/validation/prepare-schema.ts';
import { type JsonSchema, setFlags, type ToolFlags } from '../../units/tool-manifest.ts';
import { createPinnedList, type Pinned, pinDefinition } from '../pins.ts';

/** A tool of a server as it can be served. */
export interface ServerTool extends Pinned {
  readonly kind: 'tool';
  /** As the server calls it. */
  readonly name: string;
  readonly description: string;
  readonly input: JsonSchema;
  readonly output?: JsonSchema;
  readonly flags: ToolFlags;
  readonly idempotent: boolean;
  /** What the library reads its headers from. Outputs it does not check: the journey of the call does, with bounds. */
  readonly called: Pick<Tool, 'name' | 'inputSchema'>;
}

const maxTools = 1000;
const maxDescriptionChars = 8192;
const namePattern = /^[A-Za-z0-9_.-]{1,128}$/;

/** Reads what a server lists, and says why some of it cannot be served. All of it is untrusted: texts are tamed, what is too large or clashes is left out and named. */
export function readTools(listed: readonly Tool[]): {
  readonly tools: readonly ServerTool[];
  readonly problems: readonly string[];
} {
  const { take, taken, problems } = createPinnedList<ServerTool>('all definitions');
  for (const raw of listed.slice(0, maxTools)) take(`tool "${cleanUntrustedText(raw.name, 60)}"`, readTool(raw));
  if (listed.length > maxTools) problems.push(`The server lists more than ${maxTools} tools; the others are left out.`);
  return { tools: [...taken.values()], problems };
}

function readTool(raw: Tool): ServerTool | string {
  const { name, title, description, inputSchema, outputSchema, annotations } = raw;
  if (!namePattern.test(name)) return 'has a name that no tool can have: letters, digits, _ . - and at most 128 of them';
  if (!isBoundedSchema(inputSchema)) return 'has an input schema that is too large or nested too deep';
  if (outputSchema !== undefined && !isBoundedSchema(outputSchema))
    return 'has an output schema that is too large or nested too deep';
  const pin = pinDefinition('tool', name, { name, title, description, inputSchema, outputSchema, annotations });
  if (typeof pin === 'string') return pin;
  const { destructiveHint, readOnlyHint, idempotentHint } = annotations ?? {};
  return {
    ...pin,
    name,
    description: tameText([title ?? annotations?.title, description].filter((text) => text !== undefined).join('\n')),
    input: tameSchema(inputSchema),
    ...(outputSchema === undefined ? {} : { output: tameSchema(outputSchema) }),
    flags: setFlags((flag) => {
      if (flag === 'isDangerous') return destructiveHint === true && readOnlyHint !== true;
      return flag === 'isParallelSafe' && readOnlyHint === true;
    }),
    idempotent: readOnlyHint === true || idempotentHint === true,
    called: { name, inputSchema },
  };
}

/** Line by line, so that lists stay lists. */
function tameText(text: string): string {
  const bounded = text.slice(0, maxDescriptionChars);
  const lines = bounded.split('\n').map((line) => cleanUntrustedText(line, maxDescriptionChars));
  const tamed = lines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
  return bounded.length === text.length ? tamed : `${tamed}…`;
}

/** Only what is read as prose: names and constants are compared, so they stay as they are. */
function tameSchema(schema: Readonly<Record<string, unknown>>): JsonSchema {
  const tamed = tame(schema);
  return isObject(tamed) ? tamed : {};
}

function tame(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(tame);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => {
      const isProse = (key === 'description' || key === 'title' || key === '$comment') && typeof member === 'string';
      return [key, isProse ? tameText(member) : tame(member)];
    }),
  );
}
