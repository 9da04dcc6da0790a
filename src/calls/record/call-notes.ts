import type { LogLine } from '../../border/border.ts';
import type { PermissionKey, PermissionSet } from '../../config/permission-set.ts';
import { errorCatalog } from '../../errors/catalog.ts';
import { joinFixes } from '../../errors/problem.ts';
import { isCovered } from '../../permissions/decision.ts';
import { describeGrantCommand, parsePermissionWords } from '../../permissions/permission-words.ts';
import type { UnitManifest } from '../../units/unit.ts';
import type { ExecutionError } from '../call-types.ts';
import type { CallEnd } from './execution-record.ts';

/** A permission that a call was refused, as an operator would grant it: `net=api.example.com`. */
export type RefusedPermission = string;

const maxWarnings = 20;
const maxRefused = 20;
const maxWarningChars = 2000;
const grantable: ReadonlySet<string> = new Set<PermissionKey>(['net', 'read', 'write', 'env', 'run', 'tools', 'llm', 'kv']);

/** What a call leaves beside its end: warnings, and the permissions that it was refused, whether its plugin said so or not. */
export class CallNotes {
  #warnings: string[] | undefined;
  #refused: Set<RefusedPermission> | undefined;

  warn(text: string): void {
    this.#warnings ??= [];
    const bounded = text.slice(0, maxWarningChars);
    if (this.#warnings.length < maxWarnings && !this.#warnings.includes(bounded)) this.#warnings.push(bounded);
  }

  /** Told of every refusal; those that no grant would help against are none of a permission. */
  refuse(permission: string, detail: string): void {
    if (!grantable.has(permission)) return;
    this.#refused ??= new Set();
    const word = parsePermissionWords([`${permission}=${detail}`]).ok ? `${permission}=${detail}` : permission;
    if (this.#refused.size < maxRefused) this.#refused.add(word);
  }

  /** The end of the call with what was noted: a failure names the refused permissions, a success has them as a warning. */
  addTo(end: CallEnd, { name: plugin, permissions: requested }: Pick<UnitManifest, 'name' | 'permissions'>): CallEnd {
    const refused = [...(this.#refused ?? [])];
    const command = refused.length === 0 ? undefined : describeCommand(plugin, refused);
    const { error } = end;
    if (command !== undefined && error === undefined) {
      this.warn(`The call was refused ${refused.join(', ')} on its way. Allow it with: ${command}`);
    }
    const warnings = this.#warnings;
    return {
      ...end,
      ...(warnings !== undefined && { warnings }),
      ...(command !== undefined &&
        error !== undefined && {
          error: {
            ...error,
            refused,
            fix: addCommand(error, { plugin, command, refused, isRequested: isRequested(refused, requested) }),
          },
        }),
    };
  }
}

/** Whether all that was refused is among what the plugin asks for. */
function isRequested(refused: readonly RefusedPermission[], requested: PermissionSet): boolean {
  const parsed = parsePermissionWords(refused);
  return parsed.ok && isCovered(parsed.permissions, requested);
}

function describeCommand(plugin: string, refused: readonly RefusedPermission[]): string | undefined {
  const parsed = parsePermissionWords(refused);
  return parsed.ok ? describeGrantCommand(plugin, parsed.permissions) : undefined;
}

function addCommand(
  { message, fix }: ExecutionError,
  {
    plugin,
    command,
    refused,
    isRequested,
  }: {
    readonly plugin: string;
    readonly command: string;
    readonly refused: readonly RefusedPermission[];
    readonly isRequested: boolean;
  },
): string {
  // A refusal that came through the guest has the fix of all refusals.
  if (fix === errorCatalog['permission-denied'].fix) {
    const all = isRequested ? `, or allow all that it asks for at once: hotcell grant ${plugin} --requested.` : '.';
    return message.includes(command) ? `Paste that line${all}` : `Allow it with: ${command}${all}`;
  }
  if (message.includes(command) || fix.includes(command)) return fix;
  return joinFixes(fix, `The call was refused ${refused.join(', ')}. Allow it with: ${command}`);
}

const maxLogLines = 200;
const maxLogChars = 32 * 1024;

/** The last lines of the log of one call; costs nothing until there is one. */
export class LogTail {
  #lines: LogLine[] | undefined;
  #chars = 0;

  add({ level, text, atMs }: LogLine): void {
    const line = { level, text: text.slice(0, maxLogChars), atMs };
    this.#lines ??= [];
    this.#lines.push(line);
    this.#chars += line.text.length;
    while (this.#lines.length > maxLogLines || this.#chars > maxLogChars) this.#chars -= this.#lines.shift()?.text.length ?? 0;
  }

  lines(): readonly LogLine[] {
    return this.#lines ?? [];
  }
}
