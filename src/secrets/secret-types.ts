/** Where the operator lets a secret go: in one header or query parameter, to these hosts, over TLS or loopback. */
export interface SecretBinding {
  /** In the grammar of `net`: `api.example.com`, `*.example.com`, `localhost:8080`. */
  readonly hosts: readonly string[];
  /** Lower case; exactly one of `header` and `query`. */
  readonly header?: string;
  readonly query?: string;
}

/** Takes secret values out of what leaves the daemon: as they are, in base64 and base64url at every offset, URL-encoded, hex, JSON-escaped. */
export interface Redactor {
  /** True when there is nothing to look for: callers skip all work then. */
  readonly isIdle: boolean;
  /** The text with every secret replaced by `[secret NAME]`; the same string when there is none. */
  text(value: string): string;
  /** The same for bytes (of any encoding in which the secret's bytes stand as they are). */
  bytes(value: Uint8Array): Uint8Array;
  /** For bytes that come in chunks: holds back as much as could be the beginning of a secret. */
  stream(): { push(chunk: Uint8Array): Uint8Array; end(): Uint8Array };
  /** A JSON value with every string in it, keys included, redacted; the same object when nothing was found. */
  value<Value>(value: Value): Value;
}

/** What a placeholder stands for, in one execution. */
export interface ResolvedSecret {
  readonly name: string;
  readonly value: string;
  readonly binding: SecretBinding;
}

/** The secrets of the operator: from the config (by environment variable or file) and from the store. */
export interface SecretBook {
  /** True for a name that is bound to hosts: a plugin gets a placeholder for it. */
  has(name: string): boolean;
  /** The placeholder of a secret in one execution: the same for the whole execution, another one in every other. */
  placeholderOf(executionId: string, name: string): string;
  /** All placeholders of this execution that occur in a text, with what they stand for. */
  findIn(executionId: string, text: string): ReadonlyArray<{ readonly placeholder: string; readonly secret: ResolvedSecret }>;
  /** Forgets the placeholders of an execution that is over. */
  forget(executionId: string): void;
  /** Looks for all values that are known now and were known since the start. */
  readonly redactor: Redactor;
}
