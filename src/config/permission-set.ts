/**
 * What a plugin may ask for, in Deno's words. A key that is absent is not asked for. Lists are never empty:
 * "nothing" is said by leaving the key out.
 */
export interface PermissionSet {
  /** Hosts: `api.example.com`, `api.example.com:8443`, `*.example.com`, `10.0.0.5`, `[::1]:80`. */
  readonly net?: readonly string[];
  /** Paths inside the caller's workspace; `.` is all of it. */
  readonly read?: readonly string[];
  readonly write?: readonly string[];
  /** Names of environment or config values. */
  readonly env?: readonly string[];
  /** Commands, run in Docker only. */
  readonly run?: readonly string[];
  /** Tool names or globs for `context.tools.call`. */
  readonly tools?: readonly string[];
  /**
   * Names or globs of the plugin's own tools that run without an approval although they are marked isDangerous. Only an
   * operator gives it: a plugin that asks for it is not loaded.
   */
  readonly dangerous?: readonly string[];
  /**
   * Engines on which the plugin may run although it asks for a lower one, because its code wants what that does not have
   * (`deno`, `docker`). Only an operator gives it; the daemon asks for it.
   */
  readonly engine?: readonly string[];
  /** Limits above those that every plugin may choose for itself, as `memoryBytes:100663296`. Asked for by choosing them in `limits`. */
  readonly limits?: readonly string[];
  /** Token budget for `context.llm`; `true` takes the default budget. */
  readonly llm?: number | true;
  /** Quota of `context.kv` in bytes; `shared` lets all callers see the same store. `true` takes the default quota. */
  readonly kv?: true | { readonly quotaBytes?: number; readonly shared?: boolean };
  /** One cell shared by all callers (`isolation: "plugin"`). */
  readonly sharedCell?: true;
}

/** Tokens that `llm: true` stands for. */
export const defaultLlmTokens = 100_000;

/** A key of the vocabulary. */
export type PermissionKey = keyof PermissionSet;

/** Those whose value is a list, in the order in which people read them. */
export const listedPermissions = ['net', 'read', 'write', 'env', 'run', 'tools', 'dangerous', 'engine', 'limits'] as const;

/** One of them. */
export type ListedPermission = (typeof listedPermissions)[number];

/** All keys of the vocabulary. */
export const permissionKeys: readonly PermissionKey[] = [...listedPermissions, 'llm', 'kv', 'sharedCell'];
