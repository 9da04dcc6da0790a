/** Where the operator lets a secret go: in one header or query parameter, to these hosts, over TLS or loopback. */
export interface SecretBinding {
  /** In the grammar of `net`: `api.example.com`, `*.example.com`, `localhost:8080`. */
  readonly hosts: readonly string[];
  /** Lower case; exactly one of `header` and `query`. */
  readonly header?: string;
  readonly query?: string;
}

/**
 * Takes secret values out of what leaves the daemon: as they are, in base64 and base64url at every offset, URL-encoded, in
 * hex, escaped for JSON or HTML, in UTF-16. What it finds becomes `[secret NAME]`.
 */
export interface Redactor {
  /** True when there is nothing to look for: callers skip all work then. */
  readonly isIdle: boolean;
  /** The text with every secret replaced; the same string when there is none. */
  text(value: string): string;
  /** A JSON text with every secret replaced, which stays JSON; any other text is treated as plain. */
  json(value: string): string;
  /** The bytes (of any encoding in which the secret's bytes stand as they are) with every secret replaced. */
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

/** A placeholder that occurs in a text; without `secret` it stands for nothing in this execution (any more). */
export interface FoundPlaceholder {
  readonly placeholder: string;
  readonly secret?: ResolvedSecret;
}

/** What is told of a secret: never its value. */
export interface SecretView {
  readonly name: string;
  readonly binding: SecretBinding;
  readonly origin: 'config' | 'store';
  /** Why it cannot be used, as a clause; absent when it can. */
  readonly problem?: string;
  readonly updatedAtMs?: number;
}

/** The secrets of the operator: from the config (by environment variable or file) and from the store. */
export interface SecretRegistry {
  /** Rises with every change: whoever keeps answers asks again. */
  readonly revision: number;
  /** True for a name that is bound to hosts: a plugin gets a placeholder for it. */
  has(name: string): boolean;
  /** Why a secret cannot be used, as a clause; undefined when it can. */
  problemOf(name: string): string | undefined;
  /** The placeholder of a secret in one execution: the same for the whole execution, over restarts too, another in every other. */
  placeholderOf(executionId: string, name: string): string;
  /** All placeholders that occur in a text, with what they stand for in this execution. */
  findIn(executionId: string, text: string): readonly FoundPlaceholder[];
  /** Looks for all values that are known now and were known since the start. */
  readonly redactor: Redactor;
}

/** The secrets of the operator for whoever may change them. */
export interface SecretKeeper extends SecretRegistry {
  list(): readonly SecretView[];
  /** Throws `secret-invalid`, whose message never holds the value, or `conflict` for a name of the config. */
  set(secret: {
    readonly name: string;
    readonly value: string;
    readonly hosts: readonly string[];
    readonly header?: string | undefined;
    readonly query?: string | undefined;
  }): SecretView;
  /** False when there was none; throws `conflict` for a name of the config. */
  remove(name: string): boolean;
  /** Takes a value out of whatever leaves the daemon from now on, that is no secret which plugins could use. */
  learn(name: string, value: string): void;
}
