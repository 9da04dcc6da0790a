import { Type } from 'typebox';
import Value from 'typebox/value';
import type { CapabilityUser } from '../border/capability-user.ts';
import type { HostedTool } from '../tools/hosted/hosted-types.ts';
import type { FoundTools } from '../tools/search/search-index.ts';
import type { ToolEntry } from '../tools/tool-types.ts';
import { listCallable, type MetaToolParts } from './call-tool.ts';
import { declareTools } from './code/declare-tools.ts';
import type { CodeParts } from './code/run-code.ts';

const inputOf = (description: string) =>
  Type.Object(
    {
      query: Type.String({ minLength: 1, maxLength: 1000, description }),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: 10, description: 'Tools at most.' })),
    },
    { additionalProperties: false },
  );
const input = inputOf('What the tool should do, in a few words, or its name.');
const codeInput = inputOf('What the tools should do, in a few words, or a name.');

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
      const { tools, total } = await search(parts, args, user);
      return { tools: showFirst(tools), total };
    },
  };
}

/** `search_code`: finds tools as `search_tools` does, and answers how a script calls them. */
export function createSearchCode(parts: CodeParts): HostedTool {
  return {
    name: 'search_code',
    description: 'Finds tools by what they do, and answers their TypeScript declarations, for scripts of run_code.',
    input: { ...codeInput },
    tags: ['tools', 'code'],
    flags: { isParallelSafe: true },
    timeoutMs: 30_000,
    codeRule: { isForAdmins: parts.isForAdmins },
    async run(args, { user }) {
      // A script comes next.
      parts.checker.warm();
      const { tools, total } = await search(parts, args, user);
      return declareTools(tools, total);
    },
  };
}

function search(parts: MetaToolParts, args: unknown, user: CapabilityUser): Promise<FoundTools> {
  const { query, limit = 10 } = Value.Parse(input, args);
  return parts.index.search(parts.offered.all(), { text: query, limit, seen: listCallable(parts, user) });
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
