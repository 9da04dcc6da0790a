import { Type } from 'typebox';
import Value from 'typebox/value';
import type { HostedTool } from '../../tools/hosted/hosted-types.ts';
import { metaTools } from '../../tools/offered-tools.ts';
import { requireOutermostCaller } from '../call-tool.ts';
import { declareTools } from './declare-tools.ts';
import type { CodeParts } from './run-code.ts';

const input = Type.Object(
  {
    query: Type.String({ minLength: 1, maxLength: 1000, description: 'What the tools should do, in a few words, or a name.' }),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: 10, description: 'Tools at most.' })),
  },
  { additionalProperties: false },
);

/** `search_code`: finds tools as `search_tools` does, and answers how a script calls them. */
export function createSearchCode(parts: CodeParts): HostedTool {
  return {
    name: 'search_code',
    description: 'Finds tools by what they do, and answers their TypeScript declarations, for scripts of run_code.',
    input: { ...input },
    tags: ['tools', 'code'],
    flags: { isParallelSafe: true },
    timeoutMs: 30_000,
    codeRule: { isForAdmins: parts.isForAdmins },
    async run(args, { user }) {
      const { query, limit = 10 } = Value.Parse(input, args);
      // A script comes next.
      parts.checker.warm();
      const seen = parts.offered.list(requireOutermostCaller(parts, user)).filter(({ name }) => !metaTools.has(name));
      const { tools, total } = await parts.index.search(parts.offered.all(), { text: query, limit, seen });
      return declareTools(tools, total);
    },
  };
}
