import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';

/** What the daemon asks its reading process. */
export interface ReadRequest {
  readonly id: number;
  readonly files: ReadonlyArray<{ readonly path: string; readonly text: string }>;
  readonly entry: string;
}

const positionSchema = Type.Object({ line: Type.Number(), column: Type.Number() });
const handlerSchema = Type.Object({
  input: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  warnings: Type.Array(Type.String()),
  description: Type.Optional(Type.String()),
});
const answerSchema = Type.Object({
  id: Type.Number(),
  result: Type.Object({
    handlers: Type.Record(Type.String(), handlerSchema),
    permissions: Type.Object({ net: Type.Optional(Type.Array(Type.String())), env: Type.Optional(Type.Array(Type.String())) }),
    positions: Type.Record(Type.String(), positionSchema),
    sourceUrl: Type.Optional(Type.String()),
    warnings: Type.Array(Type.String()),
  }),
});

const answer = Compile(answerSchema);

/** What comes back. */
export type ReadAnswer = Static<typeof answerSchema>;

/** Whether a message of the reading process is an answer. */
export function isReadAnswer(message: unknown): message is ReadAnswer {
  return answer.Check(message);
}
