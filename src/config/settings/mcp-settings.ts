import Type, { type Static } from 'typebox';
import type { Readable } from '../json-object.ts';

const shortText = Type.String({ minLength: 1, maxLength: 4096 });
const globs = Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 1000 });
const texts = Type.Record(Type.String({ minLength: 1, maxLength: 256 }), Type.String({ maxLength: 16_384 }));

/** What a server of the Model Context Protocol is reached by: `url` or `command`. */
export const mcpServerSchema = Type.Object(
  {
    url: Type.Optional(shortText),
    transport: Type.Optional(Type.Enum(['http', 'sse'])),
    headers: Type.Optional(texts),
    net: Type.Optional(Type.Array(shortText, { maxItems: 64 })),
    auth: Type.Optional(
      Type.Object(
        {
          flow: Type.Optional(Type.Enum(['browser', 'device'])),
          clientId: Type.Optional(shortText),
          clientSecret: Type.Optional(shortText),
          clientMetadataUrl: Type.Optional(shortText),
          scope: Type.Optional(shortText),
          callbackPort: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535 })),
        },
        { additionalProperties: false },
      ),
    ),
    command: Type.Optional(shortText),
    args: Type.Optional(Type.Array(Type.String({ maxLength: 65_000 }), { maxItems: 256 })),
    env: Type.Optional(texts),
    cwd: Type.Optional(shortText),
    container: Type.Optional(shortText),
    sampling: Type.Optional(Type.Union([Type.Boolean(), Type.String({ minLength: 1, maxLength: 256 })])),
    enabled: Type.Optional(Type.Boolean()),
    mode: Type.Optional(Type.Enum(['on', 'off', 'auto'])),
    timeoutMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 3_600_000 })),
    allowTools: Type.Optional(globs),
    denyTools: Type.Optional(globs),
  },
  { additionalProperties: false },
);

/** One server of `mcp.servers`. */
export type McpServerSetting = Readable<Static<typeof mcpServerSchema>>;
