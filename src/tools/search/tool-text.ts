import type { ToolManifest } from '../../units/tool-manifest.ts';
import { splitWords, stemOf } from '../words.ts';

/** What can be found of a tool: how much each stem counts, and all of them together. */
export interface ToolText {
  readonly weights: ReadonlyMap<string, number>;
  readonly length: number;
}

const nameWeight = 4;
const tagWeight = 3;
const argumentWeight = 2;
const maxChars = 8000;
const maxSchemaNodes = 300;

/** Reads the text of a tool: the words of its name count most, then tags, names of arguments, and all else that is said. */
export function readToolText({ name, description, usage = '', tags, input }: ToolManifest): ToolText {
  const weights = new Map<string, number>();
  const { names, about } = readSchema(input);
  let length = 0;
  const add = (texts: readonly string[], weight: number): void => {
    for (const word of splitWords(texts.join('\n').slice(0, maxChars))) {
      const stem = stemOf(word);
      weights.set(stem, (weights.get(stem) ?? 0) + weight);
      length += weight;
    }
  };
  add([name], nameWeight);
  add(tags, tagWeight);
  add(names, argumentWeight);
  add([description, usage, ...about], 1);
  return { weights, length };
}

/** Names and descriptions of arguments, at any depth, as far as a schema of usual size goes. */
function readSchema(schema: unknown): { readonly names: string[]; readonly about: string[] } {
  const names: string[] = [];
  const about: string[] = [];
  const open: unknown[] = [schema];
  for (let at = 0; at < open.length && at < maxSchemaNodes; at++) {
    const node = open[at];
    if (typeof node !== 'object' || node === null) continue;
    for (const [key, value] of Object.entries(node)) {
      if (typeof value === 'string') {
        if (key === 'description' || key === 'title' || key === 'const') about.push(value);
      } else if (typeof value !== 'object' || value === null) continue;
      else if (key === 'enum') about.push(...Object.values(value).slice(0, 50).map(String));
      else {
        if (key === 'properties') names.push(...Object.keys(value).slice(0, maxSchemaNodes));
        open.push(...Object.values(value).slice(0, maxSchemaNodes));
      }
    }
  }
  return { names, about };
}
