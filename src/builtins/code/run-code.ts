import { createHash } from 'node:crypto';
import { Type } from 'typebox';
import Value from 'typebox/value';
import { limitTable } from '../../config/limits.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { EngineUnit } from '../../tools/hosted/hosted-types.ts';
import type { TypeChecker } from '../../typescript/checker.ts';
import type { EngineRunner } from '../../units/unit.ts';
import { listCallable, type MetaToolParts } from '../call-tool.ts';
import { checkScript } from './check-script.ts';
import { scriptGuest } from './script-guest.ts';

/** What code mode needs of the daemon. */
export interface CodeParts extends MetaToolParts {
  readonly checker: TypeChecker;
  /** Whether admins have it by their role. */
  readonly isForAdmins: boolean;
}

const maxCodeChars = 200_000;
const version = '1.0.0';
const path = 'builtin:run_code';

const input = Type.Object(
  {
    code: Type.String({
      minLength: 1,
      maxLength: maxCodeChars,
      description:
        'TypeScript with await and return at its top level. tools.NAME(args) calls a tool and answers its output; return what is wanted of it.',
    }),
    timeoutMs: Type.Optional(
      Type.Integer({ minimum: 1, maximum: limitTable.wallMs.max, description: 'Ends it earlier than usual.' }),
    ),
  },
  { additionalProperties: false },
);
const description =
  'Runs a script that calls tools: tools.NAME(args) as search_code declares them, with await, loops and whatever JavaScript computes. ' +
  'Use it instead of many single calls: what a tool answers stays in the script, and only what it returns is answered. ' +
  'It has nothing but the tools: no network, no files. console.log goes to the log of the call.';

/**
 * `run_code`: a cell of its own for every call, over one program that is always the same, which runs the text that its call brings. So
 * there is nothing to build or to keep for a script, and one that waits for a person is kept like any other call.
 */
export function createRunCode(parts: CodeParts): EngineUnit {
  const contentHash = createHash('sha256')
    .update(JSON.stringify([path, version, input, scriptGuest]))
    .digest('hex');
  let image: Uint8Array | undefined;
  return {
    path,
    name: path,
    kind: 'builtin',
    version,
    description,
    author: 'operator',
    contentHash,
    // What it may call is what its caller may call: there is nothing to grant.
    granted: Object.freeze({ tools: Object.freeze(['*']) }),
    tools: [
      {
        name: 'run_code',
        description,
        input: { ...input },
        tags: ['tools', 'code'],
        timeoutMs: 300_000,
        codeRule: { isForAdmins: parts.isForAdmins },
      },
    ],
    runner: {
      by: 'engine',
      engine: 'quickjs',
      handsOver: false,
      program: {
        key: `script:${contentHash}`,
        label: 'run_code',
        readCode: async () => scriptGuest,
        readImage: async () => image,
        saveImage: (made) => {
          image = made;
        },
      },
      prepare: (run, user, signal) => prepareScript(parts, run, user, signal),
    },
  };
}

/** The arguments that the guest gets: the script as JavaScript whose types fit. */
const prepareScript = async (
  parts: CodeParts,
  ...[run, user, signal]: Parameters<NonNullable<EngineRunner['prepare']>>
): Promise<string> => {
  const { code, timeoutMs } = Value.Parse(input, JSON.parse(run.argumentsJson));
  if (user === undefined) throw new HotcellError('cancelled', 'The call is over.');
  if (timeoutMs !== undefined) run.deadline.shorten(timeoutMs);
  const tools = listCallable(parts, user);
  const { callerId } = run.holder;
  return JSON.stringify({ code: await checkScript({ code, tools }, parts.checker, { callerId, signal }) });
};
