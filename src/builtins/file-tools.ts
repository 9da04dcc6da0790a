import { Type } from 'typebox';
import Value from 'typebox/value';
import type { CapabilityTable } from '../border/capability.ts';
import type { BuiltinSettings } from '../config/settings/builtin-settings.ts';
import { askCapability } from '../tools/hosted/capability-calls.ts';
import type { HostedTool } from '../tools/hosted/hosted-types.ts';

/** What tools over files work with. */
export interface FileToolParts {
  readonly answer: CapabilityTable['answer'];
  readonly who: BuiltinSettings['who'];
}

const strict = { additionalProperties: false };
const path = Type.String({ minLength: 1, maxLength: 4096, description: 'A path in the workspace, such as notes/today.md.' });
const encoding = Type.Optional(
  Type.Enum(['utf8', 'base64'], { default: 'utf8', description: 'How the content is written; base64 for what is no text.' }),
);
const readInput = Type.Object({ path, encoding }, strict);
const readOutput = Type.Object({ path: Type.String(), content: Type.String(), size: Type.Integer({ description: 'In bytes.' }) });
const writeInput = Type.Object({ path, content: Type.String({ description: 'All of the file.' }), encoding }, strict);
const writeOutput = Type.Object({ path: Type.String(), size: Type.Integer({ description: 'In bytes.' }) });
const timeoutMs = 30_000;

/** `file_read`: a file of the caller's workspace, as far as it is granted. */
export function createFileRead({ answer, who }: FileToolParts): HostedTool {
  return {
    name: 'file_read',
    description: 'Reads a file of the workspace.',
    input: { ...readInput },
    output: { ...readOutput },
    tags: ['files'],
    who: who.file_read,
    flags: { isParallelSafe: true },
    timeoutMs,
    async run(args, call) {
      const { path, encoding = 'utf8' } = Value.Parse(readInput, args);
      const { body } = await askCapability(answer, call, { op: 'files.read', payload: { path, as: 'bytes' } });
      const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
      return { path, content: bytes.toString(encoding), size: bytes.length };
    },
  };
}

/** `file_write`: puts a file in the caller's workspace whole, or not at all. */
export function createFileWrite({ answer, who }: FileToolParts): HostedTool {
  return {
    name: 'file_write',
    description: 'Writes a file of the workspace; folders are made, and what the file held before is replaced.',
    input: { ...writeInput },
    output: { ...writeOutput },
    tags: ['files'],
    who: who.file_write,
    timeoutMs,
    async run(args, call) {
      const { path, content, encoding = 'utf8' } = Value.Parse(writeInput, args);
      const body = Buffer.from(content, encoding);
      await askCapability(answer, call, { op: 'files.write', payload: { path }, body });
      return { path, size: body.length };
    },
  };
}
