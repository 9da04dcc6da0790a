import type { PermissionSet } from '../config/permission-set.ts';
import type { Subscription } from './hook-events.ts';

/** What runs a hook: TypeScript in QuickJS or Deno, a shell script in a container. */
export type HookEngine = 'quickjs' | 'deno' | 'shell';

/** A HOOK.md, read and checked. */
export interface HookManifest {
  /** What it calls itself; the daemon names it after its folders. */
  readonly title?: string;
  readonly description: string;
  readonly events: readonly Subscription[];
  /** Globs of tool names: the calls that it hears of; all without any. */
  readonly tools: readonly string[];
  readonly engine: HookEngine;
  /** The file that is run, by its name in the folder. */
  readonly handler: string;
  /** The image of a shell script. */
  readonly image?: string;
  readonly permissions: PermissionSet;
  /** The most time of one run. */
  readonly timeoutMs?: number;
}

/** One file of a hook as it was read. */
export interface HookFile {
  /** Below the folder, `/` between names. */
  readonly path: string;
  readonly data: Buffer;
}

/** All files of a hook as they were read at one moment. */
export interface HookFiles {
  readonly files: readonly HookFile[];
  /** SHA-256 (hex) over the names and the contents of all files: what an operator approves. */
  readonly contentHash: string;
  /** Tells cheaply whether anything may have changed. */
  readonly signature: string;
}

/** Where a hook lies. */
export interface HookPlace {
  /** `NAME` in the data folder, `SKILL/NAME` in a skill. */
  readonly name: string;
  /** Absolute, without links below the folder that the operator configured. */
  readonly dir: string;
  readonly origin: 'data' | 'skill';
}

/**
 * Where a hook stands. `new`: never approved; `changed`: other files were approved; `invalid`: cannot be approved as it is;
 * `failed`: approved, but it cannot run; `active`: it runs.
 */
export type HookState = 'new' | 'changed' | 'invalid' | 'failed' | 'active';

/** A hook as doors show it. */
export interface HookView {
  readonly name: string;
  readonly origin: HookPlace['origin'];
  readonly state: HookState;
  /** Why it is invalid or failed. */
  readonly problem?: string;
  readonly manifest?: HookManifest;
  /** What is approved with it: every file, with its size in bytes. */
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
  readonly contentHash: string;
  readonly approval?: { readonly contentHash: string; readonly by: string; readonly atMs: number };
}
