import type { Duplex } from 'node:stream';
import type {
  BorderAnswer,
  BorderHost,
  BorderRequest,
  BorderView,
  BorderWorkspace,
  LogLine,
  LongWait,
} from '../../border/border.ts';
import type { CapabilityUser } from '../../border/capability-user.ts';
import { isQuestion } from '../../capabilities/questions.ts';
import type { GrantUse } from '../../permissions/select-grants.ts';
import type { ActiveCall } from '../active-call.ts';
import type { NotedUse, StageParts } from '../call-parts.ts';
import { redactAnswer, redactLine } from '../record/redact-record.ts';
import type { DurableWaits } from '../wait/durable-waits.ts';

/** What the borders of all calls share. */
export interface CallBorderParts
  extends Pick<StageParts, 'capabilities' | 'events' | 'redactor' | 'readView' | 'noteUse' | 'onFault'> {
  readonly waits: DurableWaits;
  readonly setWaiting: (call: ActiveCall, isWaiting: boolean) => void;
}

/**
 * A call that uses one permission in one way a thousand times is told of once; beyond this many different uses of a permission no more
 * of it are told, so that none hides behind those of another. Refusals count together: a guest chooses what it asks for.
 */
const maxNotedUses = 100;
const refusals: ReadonlySet<string> = new Set([
  'file-refused',
  'secret-misplaced',
  'quota-exceeded',
  'call-cycle',
  'not-supported',
]);
const maxOpLength = 64;
const maxRefusalLength = 200;

const interrupted: BorderAnswer = {
  ok: false,
  code: 'interrupted',
  message: 'The daemon stopped while the host did this; whether it took place is not known, and it is not done again.',
};

/** The host side of one attempt of one call. */
export class CallBorder implements BorderHost {
  readonly #parts: CallBorderParts;
  readonly #call: ActiveCall;
  readonly #use: GrantUse;
  #user: CapabilityUser | undefined;
  #open = 0;
  #engineTellsWaiting = false;
  #isOver = false;
  #hasViewed = false;
  #hasFiles = false;
  #notedUses: Map<string, Set<string>> | undefined;

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
      const answer = redactAnswer(await this.#carryOut(request, this.#user, signal), this.#parts.redactor);
      if (!answer.ok && refusals.has(answer.code)) this.#noteRefusal(request.op, answer);
      return answer;
    } finally {
      this.#open--;
      if (!this.#engineTellsWaiting && this.#open === 0) this.#setWaiting(false);
    }
  }

  longWait(operation: string): LongWait | undefined {
    return this.#parts.capabilities.longWait(operation);
  }

  async #carryOut(request: BorderRequest, user: CapabilityUser, signal: AbortSignal): Promise<BorderAnswer> {
    const { waits, capabilities } = this.#parts;
    if (capabilities.leavesTrace(request.op)) this.#call.hasEffects = true;
    if (!isQuestion(request.op)) {
      // A call that was made waits for a person still, or is answered as interrupted where it is looked for.
      if (request.again && request.op !== 'tools.call') return interrupted;
      if (!request.again) waits.beforeEffect(this.#call);
      return capabilities.answer(request, user, signal);
    }
    try {
      await waits.beforeQuestion(this.#call);
      return await capabilities.answer(request, user, signal);
    } finally {
      waits.afterQuestion(this.#call);
    }
  }

  view(): BorderView {
    const { served } = this.#call.entry;
    const view = this.#parts.readView(served, this.#use);
    if (!this.#hasViewed) {
      this.#hasViewed = true;
      for (const name in view.env) this.#note({ permission: 'env', detail: name, allowed: true, isGiven: true });
      if (served.unit.manifest.isolation === 'plugin') {
        this.#note({ permission: 'sharedCell', detail: '', allowed: true, isGiven: true });
      }
      for (const engine of served.unit.manifest.permissions.engine ?? []) {
        this.#note({ permission: 'engine', detail: engine, allowed: true, isGiven: true });
      }
    }
    return view;
  }

  deniedName(name: string): void {
    this.#noteUse('env', name, false);
  }

  dial(to: { readonly host: string; readonly port: number }, signal: AbortSignal): Promise<Duplex> {
    this.#call.hasEffects = true;
    this.#user ??= this.#createUser();
    this.#parts.waits.beforeEffect(this.#call);
    return this.#parts.capabilities.dial(to, this.#user, signal);
  }

  user(): CapabilityUser {
    this.#user ??= this.#createUser();
    this.#parts.waits.beforeEffect(this.#call);
    return this.#user;
  }

  async workspace(): Promise<BorderWorkspace> {
    this.#user ??= this.#createUser();
    this.#parts.waits.beforeEffect(this.#call);
    const workspace = await this.#parts.capabilities.workspace(this.#user);
    if (workspace.write.length > 0) this.#call.hasEffects = true;
    if (!this.#hasFiles) this.#noteFiles(workspace);
    return workspace;
  }

  /** What the guest opens by itself passes no capability: it counts as used once it is handed over. */
  #noteFiles(workspace: BorderWorkspace): void {
    this.#hasFiles = true;
    for (const permission of ['read', 'write'] as const) {
      for (const detail of workspace[permission]) this.#note({ permission, detail, allowed: true, isGiven: true });
    }
  }

  waiting(isWaiting: boolean): void {
    this.#engineTellsWaiting = true;
    this.#setWaiting(isWaiting);
    if (isWaiting && !this.#isOver) this.#parts.waits.settled(this.#call);
  }

  /** The attempt is over: answers that come late change nothing any more. */
  end(): void {
    this.#isOver = true;
    this.#parts.waits.endAttempt(this.#call);
    if (this.#user) this.#parts.capabilities.endCall(this.#call.record.id);
  }

  log(written: LogLine): void {
    const line = redactLine(written, this.#parts.redactor);
    const { record, request } = this.#call;
    const { level, text } = line;
    this.#parts.events.publish('execution-log', { caller: record.caller, subject: record.id, data: { level, text } });
    this.#call.log.add(line);
    if (line.isWarning) this.#call.notes.warn(text);
    try {
      request.onLog?.(line);
    } catch (error) {
      this.#parts.onFault(error, record.id);
    }
  }

  warn(text: string): void {
    this.log({ level: 'warn', text, atMs: Date.now(), isWarning: true });
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
    const { served } = this.#call.entry;
    return {
      executionId: id,
      plugin,
      unitPath: served.unit.path,
      tool,
      caller,
      isAdmin: this.#call.isAdmin,
      session,
      clientCan: this.#call.request.clientCan,
      above: this.#call.request.parent?.above,
      chain: this.#call.chain,
      holdClock: () => this.#call.deadline.hold(),
      granted: () => served.granted(this.#use),
      noteUse: (permission, detail, allowed) => this.#noteUse(permission, detail, allowed),
    };
  }

  #noteUse(permission: string, detail: string, allowed: boolean): void {
    if (!allowed) this.#call.notes.refuse(permission, detail);
    this.#notedUses ??= new Map();
    const kind = allowed ? permission : '';
    const noted = this.#notedUses.get(kind) ?? new Set();
    this.#notedUses.set(kind, noted);
    const use = `${permission} ${detail}`;
    if (noted.size >= maxNotedUses || noted.has(use)) return;
    noted.add(use);
    this.#note({ permission, detail, allowed });
    const { caller, id, tool } = this.#call.record;
    this.#parts.events.publish('permission-use', { caller, subject: id, data: { tool, permission, detail, allowed } });
  }

  /** A denial was noted where it was decided; these are the other ways in which a capability says no. */
  #noteRefusal(op: string, { code, message }: { readonly code: string; readonly message: string }): void {
    this.#noteUse(op.slice(0, maxOpLength), `${code}: ${message.slice(0, maxRefusalLength)}`, false);
  }

  #note(use: Pick<NotedUse, 'permission' | 'detail' | 'allowed' | 'isGiven'>): void {
    if (this.#parts.noteUse === undefined) return;
    const { served } = this.#call.entry;
    this.#parts.noteUse(served, { ...use, granted: served.granted(this.#use), record: this.#call.record });
  }
}
