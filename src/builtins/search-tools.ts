import { Type } from 'typebox';
import Value from 'typebox/value';
import type { HostedTool } from '../tools/hosted/hosted-types.ts';
import { metaTools } from '../tools/offered-tools.ts';
import type { ToolEntry } from '../tools/tool-types.ts';
import { type MetaToolParts, requireOutermostCaller } from './call-tool.ts';

const input = Type.Object(
  {
    query: Type.String({ minLength: 1, maxLength: 1000, description: 'What the tool should do, in a few words, or its name.' }),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: 10, description: 'Tools at most.' })),
  },
  { additionalProperties: false },
);

const found = Type.Object({
  name: Type.String({ description: 'For call_tool.' }),
  description: Type.String(),
  input: Type.Unknown({ description: 'The JSON Schema of its arguments.' }),
});
const output = Type.Object({
  tools: Type.Array(found, { description: 'Best first.' }),
  total: Type.Integer({ description: 'How many there are that fit.' }),
});

/** What all of an answer may hold: the output of a call is bounded, and so is what a model reads. */
const maxChars = 200_000;

/** `search_tools`: finds tools by what they do, as they are at that moment. */
export function createSearchTools(parts: MetaToolParts): HostedTool {
  const { offered, index } = parts;
  return {
    name: 'search_tools',
    description:
      'Finds tools by what they do, and answers their names, descriptions and argument schemas. The answer is always current: search anew when a tool is missing, and call what was found with call_tool.',
    input: { ...input },
    output: { ...output },
    tags: ['tools'],
    flags: { isParallelSafe: true },
    timeoutMs: 30_000,
    async run(args, { user }) {
      const { query, limit = 10 } = Value.Parse(input, args);
      const caller = requireOutermostCaller(parts, user);
      const seen = offered.list(caller).filter((tool) => !metaTools.has(tool.name));
      const { tools, total } = await index.search(offered.all(), { text: query, limit, seen });
      return { tools: showFirst(tools), total };
    },
  };
}

function showFirst(entries: readonly ToolEntry[]): { name: string; description: string; input: unknown }[] {
  const shown = [];
  let chars = 0;
  for (const { name: tool, manifest } of entries) {
    chars += manifest.description.length + JSON.stringify(manifest.input).length;
    if (chars > maxChars && shown.length > 0) break;
    shown.push({ name: tool, description: manifest.description, input: manifest.input });
  }
  return shown;
}
