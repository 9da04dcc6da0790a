import { type Static, Type } from 'typebox';
import type { Readable } from '../../config/json-object.ts';
import type { PermissionSet } from '../../config/permission-set.ts';
import type { JsonSchema } from '../../units/tool-manifest.ts';

const text = Type.String();
const texts = Type.Array(text);

const inferredHandler = Type.Object({
  // Schema of the first parameter; absent when it has no type, or one that says nothing.
  input: Type.Optional(Type.Unsafe<JsonSchema>(Type.Record(text, Type.Unknown()))),
  // It has no parameter at all, so there is nothing to describe.
  takesNothing: Type.Optional(Type.Literal(true)),
  // Types that could not be said in a schema, each named.
  warnings: texts,
  // The doc comment of the handler.
  description: Type.Optional(text),
});

// A place in the entry file, 1-based.
const sourcePosition = Type.Object({ line: Type.Number(), column: Type.Number() });

/** What the reading process answers: all that can be read off a plugin's source without running it. */
export const sourceReading = Type.Object({
  // By the key that engines know a handler by: `default`, or the key in `tools`.
  handlers: Type.Record(text, inferredHandler),
  // Hosts of literal URLs, names of config and env values, uses of the context: a request, shown as inferred.
  permissions: Type.Unsafe<PermissionSet>(Type.Object({ net: Type.Optional(texts), env: Type.Optional(texts) })),
  // Where keys of the plugin object stand in the entry, by dotted path such as `tools.add.timeoutMs`.
  positions: Type.Record(text, sourcePosition),
  // The literal `engine` of the plugin object, for which the code must be built, and its literal `name`.
  engine: Type.Optional(text),
  name: Type.Optional(text),
  // The address in a leading `// @source: URL` comment.
  sourceUrl: Type.Optional(text),
  // A sentence about variables that are read while the file loads; it is one of the warnings, too.
  earlyReads: Type.Optional(text),
  warnings: texts,
});

/** What the source tells about one handler. */
export type InferredHandler = Readable<Static<typeof inferredHandler>>;
export type SourcePosition = Readable<Static<typeof sourcePosition>>;
export type SourceReading = Readable<Static<typeof sourceReading>>;
