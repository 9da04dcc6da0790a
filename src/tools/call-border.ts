import type { Duplex } from 'node:stream';
import type { CapabilityTable, CapabilityUser } from '../capabilities/capability.ts';
import type { PermissionSet } from '../config/permission-set.ts';
import type { BorderAnswer, BorderHost, BorderRequest, BorderView, BorderWorkspace, LogLine } from '../engines/border.ts';
import type { EventLog } from '../events/event.ts';
import type { GrantUse } from '../permissions/select-grants.ts';
import type { Redactor } from '../secrets/secret-types.ts';
import type { ActiveCall } from './active-call.ts';
import { redactAnswer, redactLine } from './redaction.ts';
import type { PublishedGeneration } from './tool-types.ts';

/** A use that a grant allowed. */
export interface AllowedUse {
  readonly granted: PermissionSet;
  readonly permission: string;
  readonly detail: string;
}

/** What the borders of all calls share. */
export interface CallBorderParts {
  readonly capabilities: Pick<CapabilityTable, 'answer' | 'dial' | 'workspace' | 'endCall'>;
  readonly events: EventLog;
  /** Takes secrets out of what reaches the guest and what it logs. */
  readonly redactor?: Redactor | undefined;
  /** What `context.config.get` and `context.env.get` may answer now. Must not throw. */
  readonly readView: (published: PublishedGeneration, use: GrantUse) => BorderView;
  /** Notes an allowed use for the audit of grants. Must not throw. */
  readonly noteUse?: ((published: PublishedGeneration, use: AllowedUse) => void) | undefined;
  readonly setWaiting: (call: ActiveCall, isWaiting: boolean) => void;
  /** Hears what `onLog` of a request threw. Must not throw. */
  readonly onFault: (error: unknown, executionId: string) => void;
}

/** A call that uses one permission a thousand times is told of once; beyond this many different uses, no more are told. */
const maxNotedUses = 100;

/** The host side of one attempt of one call. */
export class CallBorder implements BorderHost {
  readonly #parts: CallBorderParts;
  readonly #call: ActiveCall;
  readonly #use: GrantUse;
  #user: CapabilityUser | undefined;
  #open = 0;
  #engineTellsWaiting = false;
  #isOver = false;
  #notedUses: Set<string> | undefined;

  constructor(parts: CallBorderParts, call: ActiveCall) {
    this.#parts = parts;
    this.#call = call;
    const { id: executionId, caller, session } = call.record;
    this.#use = { executionId, caller, session };
  }

  async answer(request: BorderRequest, signal: AbortSignal): Promise<BorderAnswer> {
    this.#user ??= this.#createUser();
    this.#open++;
    if (!this.#engineTellsWaiting) this.#setWaiting(true);
    try {
      return redactAnswer(await this.#parts.capabilities.answer(request, this.#user, signal), this.#parts.redactor);
    } finally {
      this.#open--;
      if (!this.#engineTellsWaiting && this.#open === 0) this.#setWaiting(false);
    }
  }

  view(): BorderView {
    return this.#parts.readView(this.#call.entry.published, this.#use);
  }

  dial(to: { readonly host: string; readonly port: number }, signal: AbortSignal): Promise<Duplex> {
    this.#user ??= this.#createUser();
    return this.#parts.capabilities.dial(to, this.#user, signal);
  }

  workspace(): Promise<BorderWorkspace> {
    this.#user ??= this.#createUser();
    return this.#parts.capabilities.workspace(this.#user);
  }

  waiting(isWaiting: boolean): void {
    this.#engineTellsWaiting = true;
    this.#setWaiting(isWaiting);
  }

  /** The attempt is over: answers that come late change nothing any more. */
  end(): void {
    this.#isOver = true;
    if (this.#user) this.#parts.capabilities.endCall(this.#call.record.id);
  }

  log(written: LogLine): void {
    const line = redactLine(written, this.#parts.redactor);
    const { record, request } = this.#call;
    const { level, text } = line;
    this.#parts.events.publish('execution-log', { caller: record.caller, subject: record.id, data: { level, text } });
    this.#call.log.add(line);
    try {
      request.onLog?.(line);
    } catch (error) {
      this.#parts.onFault(error, record.id);
    }
  }

  progress(data: { readonly done: number; readonly total?: number; readonly message?: string }): void {
    const { caller, id } = this.#call.record;
    this.#parts.events.publish('execution-progress', { caller, subject: id, data });
  }

  #setWaiting(isWaiting: boolean): void {
    if (!this.#isOver) this.#parts.setWaiting(this.#call, isWaiting);
  }

  #createUser(): CapabilityUser {
    const { id, plugin, tool, caller, session } = this.#call.record;
    const { published } = this.#call.entry;
    return {
      executionId: id,
      plugin,
      pluginPath: published.generation.pluginPath,
      tool,
      caller,
      session,
      chain: this.#call.chain,
      holdClock: () => this.#call.deadline.hold(),
      granted: () => published.granted(this.#use),
      noteUse: (permission, detail, allowed) => this.#noteUse(permission, detail, allowed),
    };
  }

  #noteUse(permission: string, detail: string, allowed: boolean): void {
    this.#notedUses ??= new Set();
    const use = `${allowed ? '+' : '-'}${permission} ${detail}`;
    if (this.#notedUses.size >= maxNotedUses || this.#notedUses.has(use)) return;
    this.#notedUses.add(use);
    const { published } = this.#call.entry;
    if (allowed) this.#parts.noteUse?.(published, { granted: published.granted(this.#use), permission, detail });
    const { caller, id, tool } = this.#call.record;
    this.#parts.events.publish('permission-use', { caller, subject: id, data: { tool, permission, detail, allowed } });
  }
}
