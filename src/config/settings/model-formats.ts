/** Headers that take the key of a provider; `authorization` takes it as `Bearer`. */
export const keyHeaders = ['authorization', 'x-api-key', 'x-goog-api-key', 'api-key', 'xi-api-key'] as const;
/** The name of one. */
export type KeyHeader = (typeof keyHeaders)[number];

/** What is known of a wire format before it is loaded; the rest says its `WireFormat` in `models/wire`. */
interface FormatRow {
  readonly name: string;
  /** Takes the key of a provider; clients of the format show that of the daemon in it. */
  readonly keyHeader: KeyHeader;
  /** What its paths begin with, and people write at the end of an address all the same. */
  readonly pathPrefix?: string;
  /** Where the door answers its clients; `*` is read by the format. */
  readonly servedAt: readonly string[];
  readonly countedAt?: string;
  /** Where its clients alone ask for models. */
  readonly listedAt?: string;
  /** Tells its clients from others at an address that formats share. */
  readonly clientHeader?: string;
}

const rows = [
  { name: 'openai-chat', keyHeader: 'authorization', servedAt: ['/v1/chat/completions'] },
  { name: 'openai-responses', keyHeader: 'authorization', servedAt: ['/v1/responses'] },
  {
    name: 'anthropic',
    keyHeader: 'x-api-key',
    pathPrefix: '/v1',
    servedAt: ['/v1/messages'],
    countedAt: '/v1/messages/count_tokens',
    clientHeader: 'anthropic-version',
  },
  {
    name: 'gemini',
    keyHeader: 'x-goog-api-key',
    servedAt: ['/v1beta/models/*', '/v1/models/*'],
    listedAt: '/v1beta/models',
    clientHeader: 'x-goog-api-key',
  },
] as const satisfies readonly FormatRow[];

/** How a provider is spoken to. */
export type ModelFormat = (typeof rows)[number]['name'];

/** All formats, by name. */
export const modelFormats: ReadonlyMap<ModelFormat, FormatRow> = new Map(rows.map((row) => [row.name, row]));
