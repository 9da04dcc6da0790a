import type { PermissionSet } from '../config/permission-set.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import { suggestNearNames } from '../errors/near-names.ts';
import type { EventLog } from '../events/event.ts';
import type { Approval } from '../permissions/approvals/approval-types.ts';
import { globMatches } from '../permissions/matching.ts';
import type { Store } from '../store/store-types.ts';
import type { ToolEntry } from '../tools/tool-types.ts';
import type { BuiltHook } from './build-hook.ts';
import { discoverHooks, type HookRoots } from './discover.ts';
import { createHookEntry, nameOfTool } from './hook-entry.ts';
import type { HookEvent, Subscription } from './hook-events.ts';
import type { HookQuestions } from './hook-questions.ts';
import { type HookBuild, HookRecord } from './hook-record.ts';
import type { HookFiles, HookManifest, HookPlace, HookView } from './hook-types.ts';

/** What the registry is made of. */
export interface HookRegistryParts {
  readonly roots: HookRoots;
  readonly store: Pick<Store, 'hookApprovals'>;
  readonly events: Pick<EventLog, 'publish'>;
  /** False: hooks are listed and approved, and none is built or run. */
  readonly isOn: () => boolean;
  readonly questions: HookQuestions;
  readonly build: (hook: {
    readonly place: HookPlace;
    readonly files: HookFiles;
    readonly manifest: HookManifest;
  }) => Promise<BuiltHook>;
  /** Told that a build is over. Must not throw. */
  readonly onDiscard: (hook: Pick<HookRecord, 'place' | 'files'>, built: BuiltHook) => void;
  /** Epoch ms. */
  readonly now: () => number;
  readonly onFault: (error: unknown) => void;
}

/** An approved hook that hears an event. */
export interface HearingHook {
  readonly name: string;
  readonly manifest: HookManifest;
  readonly subscription: Subscription;
  /** Rejects with a HotcellError when what was approved cannot run. */
  readonly entry: Promise<ToolEntry>;
  /** Looks at the files: whether they are still those that were approved, or whether the approval itself was taken back. */
  check(): 'approved' | 'changed' | 'revoked';
}

const nothing: PermissionSet = Object.freeze({});

/** Knows the hooks, who approved them, and those that hear an event. */
export type HookRegistry = ReturnType<typeof createHookRegistry>;

/** Opens the registry. Nothing is read before the first refresh. */
export function createHookRegistry(parts: HookRegistryParts) {
  const { events, now } = parts;
  const { hookApprovals: table } = parts.store;
  const records = new Map<string, HookRecord>();
  /** The manifests of approved hooks, so that a call that none of them wants costs next to nothing. */
  let approved: readonly HookManifest[] = [];
  let blocked: ReadonlyArray<readonly string[]> = [];

  function require(name: string): HookRecord {
    const record = records.get(name);
    if (record !== undefined) return record;
    const near = suggestNearNames(name, records.keys());
    throw new HotcellError('hook-unknown', `There is no hook ${JSON.stringify(name.slice(0, 130))}.${near}`);
  }

  /** Brings build, news and the index of events in line with files and approval. */
  function settle(record: HookRecord, reason: string, by?: string): void {
    const isWanted = parts.isOn() && record.isApproved;
    if (!isWanted) endBuild(record);
    else if (record.build === undefined) record.build = startBuild(record, reason, by);
    // What came of a build is told once it is known.
    if (record.build?.isSettled !== false) tell(record, reason, by);
  }

  /** What calls and people are asked follows from where the hooks stand. */
  function follow(): void {
    if (!parts.isOn()) {
      approved = [];
      blocked = [];
      return;
    }
    parts.questions.follow([...records.values()]);
    approved = [...records.values()].flatMap(({ isApproved, manifest }) =>
      isApproved && manifest !== undefined ? [manifest] : [],
    );
    blocked = [...records.values()].flatMap(({ blockedTools }) => (blockedTools === undefined ? [] : [blockedTools]));
  }

  function tell(record: HookRecord, reason: string, by: string | undefined): void {
    const { state, files, told, place } = record;
    if (told.state === state && told.hash === files.contentHash) return;
    const data = { state, previousState: told.state, hash: files.contentHash, reason, ...(by === undefined ? {} : { by }) };
    record.told = { state, hash: files.contentHash };
    events.publish('hook-change', { subject: place.name, data });
  }

  function endBuild(record: HookRecord): void {
    const { build } = record;
    if (build === undefined) return;
    record.build = undefined;
    build.isLive = false;
    build.discard();
  }

  function startBuild(record: HookRecord, reason: string, by: string | undefined): HookBuild {
    const { place, files, manifest } = record;
    if (manifest === undefined) throw new Error(`the hook ${place.name} is approved and has no manifest`);
    const build: HookBuild = {
      isLive: true,
      isSettled: false,
      entry: parts.build({ place, files, manifest }).then((built) => {
        build.discard = () => parts.onDiscard({ place, files }, built);
        if (!build.isLive) build.discard();
        const granted = () => (build.isLive ? manifest.permissions : nothing);
        return createHookEntry({ place, files, manifest, built, granted });
      }),
      discard: () => {},
    };
    const settled = (news: string): void => {
      build.isSettled = true;
      if (build.isLive) tell(record, news, by);
    };
    build.entry.then(
      () => settled(reason),
      (error: unknown) => {
        if (!(error instanceof HotcellError)) parts.onFault(error);
        build.failure = describeFailure(error, place.name);
        settled(build.failure);
      },
    );
    return build;
  }

  /** True when the files are others than before. */
  function look(record: HookRecord): boolean {
    if (!record.look()) return false;
    // Another content is another hook: nothing of the old one runs any more.
    endBuild(record);
    settle(record, record.told.state === 'absent' ? 'found' : 'its files changed');
    return true;
  }

  function discover(): void {
    const places = discoverHooks(parts.roots);
    const approvals = new Map(table.list().map((row) => [row.path, row]));
    for (const place of places) {
      const known = records.get(place.name);
      if (known?.place.dir !== place.dir) {
        if (known !== undefined) endBuild(known);
        records.set(place.name, new HookRecord(place, approvals.get(place.dir)));
      }
    }
    const names = new Set(places.map(({ name }) => name));
    for (const [name, record] of records) if (!names.has(name)) forget(name, record);
  }

  /** What is gone and comes back is a new hook. */
  function forget(name: string, record: HookRecord): void {
    records.delete(name);
    endBuild(record);
    if (record.approval !== undefined) table.remove(record.place.dir);
    const { state: previousState, hash } = record.told;
    events.publish('hook-change', {
      subject: name,
      data: { state: 'absent', previousState, hash, reason: 'its folder is gone' },
    });
  }

  /** The hook, when it is valid and still has the files of this hash. */
  function requireFiles(name: string, contentHash: string): HookRecord {
    discover();
    const record = require(name);
    look(record);
    follow();
    if (record.problem !== undefined)
      throw new HotcellError('hook-invalid', `The hook "${name}" is not valid: ${record.problem}`);
    if (record.files.contentHash === contentHash) return record;
    const message = `The files of the hook "${name}" are not those that are to be approved: their hash is ${record.files.contentHash}.`;
    throw new HotcellError('conflict', message, { fix: `Look at them again: hotcell hook show ${name}` });
  }

  async function approve(name: string, contentHash: string, by: string): Promise<HookView> {
    const record = requireFiles(name, contentHash);
    const { manifest } = record;
    const guards = manifest !== undefined && hearsEvent(manifest, 'tool:before');
    const guarded = guards ? { guardedTools: manifest.tools } : {};
    const row = { path: record.place.dir, contentHash, approvedBy: by, approvedAtMs: now(), ...guarded };
    table.put(row);
    record.approval = row;
    parts.questions.answered(record, by);
    // Approved again is tried again: what it lacked may be there by now.
    if (record.build?.failure !== undefined) endBuild(record);
    settle(record, 'approved', by);
    follow();
    await record.build?.entry.catch(() => {});
    return record.view();
  }

  function hear(record: HookRecord, subscription: Subscription): HearingHook | undefined {
    const { build, manifest, place } = record;
    if (build === undefined || manifest === undefined) return undefined;
    const check = () => {
      if (look(record)) follow();
      if (build.isLive) return 'approved';
      return record.blockedTools === undefined ? 'revoked' : 'changed';
    };
    return { name: place.name, manifest, subscription, entry: build.entry, check };
  }

  return {
    get isOn(): boolean {
      return parts.isOn();
    },
    /** Looks at all folders; resolves when what is approved was built, or could not be. */
    async refresh(): Promise<void> {
      discover();
      for (const record of records.values()) {
        look(record);
        settle(record, record.told.state === 'absent' ? 'found' : 'looked at again');
      }
      follow();
      await Promise.allSettled([...records.values()].map(({ build }) => build?.entry));
    },
    list: (): HookView[] => [...records.values()].map((record) => record.view()).sort((a, b) => (a.name < b.name ? -1 : 1)),
    /** Throws `hook-unknown`. */
    get: (name: string): HookView => require(name).view(),
    /** Approves exactly these files. Throws `hook-unknown`, `hook-invalid`, or `conflict` when they are others by now. */
    approve,
    /** Approves the files that a question asks about. Throws `conflict` when something else is asked by now. */
    approveAsked: ({ plugin, argumentsHash }: Approval, by: string): Promise<HookView> =>
      approve(nameOfTool(plugin), argumentsHash, by),
    requireAsked: ({ plugin, argumentsHash }: Approval): void => void requireFiles(nameOfTool(plugin), argumentsHash),
    /** Takes an approval back; false when there was none. Throws `hook-unknown`. */
    revoke(name: string, by: string): boolean {
      const record = require(name);
      const wasApproved = table.remove(record.place.dir);
      record.approval = undefined;
      settle(record, 'revoked', by);
      follow();
      return wasApproved;
    },
    /** True when an approved hook wants to hear of the event; looks at no file. */
    isHeard: (event: HookEvent, tool?: string): boolean =>
      approved.some((manifest) => hearsEvent(manifest, event) && hearsTool(manifest.tools, tool)) ||
      (event === 'tool:before' && blocked.some((tools) => hearsTool(tools, tool))),
    /** The hooks whose files changed since they were approved to watch over calls of this tool: they cannot be asked. */
    findBlocking(tool: string): Pick<HearingHook, 'name'>[] {
      // Put back as they were, or approved in the meantime, they block nothing.
      for (const record of records.values()) if (record.blockedTools !== undefined && look(record)) follow();
      const blocking = [...records.values()].filter(({ blockedTools }) => blockedTools && hearsTool(blockedTools, tool));
      return blocking.map(({ place }) => ({ name: place.name }));
    },
    /** The approved hooks that hear an event, in order of their names. Ask each whether it is current right before it runs. */
    findHearing(event: HookEvent, tool?: string): HearingHook[] {
      const found: HearingHook[] = [];
      for (const record of records.values()) {
        const { manifest } = record;
        const subscription = manifest?.events.find((each) => each.event === event);
        if (manifest === undefined || subscription === undefined || !hearsTool(manifest.tools, tool)) continue;
        const hook = hear(record, subscription);
        if (hook !== undefined) found.push(hook);
      }
      return found.sort((one, other) => (one.name < other.name ? -1 : 1));
    },
  };
}

function hearsEvent({ events }: HookManifest, event: HookEvent): boolean {
  return events.some((each) => each.event === event);
}

function hearsTool(tools: readonly string[], tool: string | undefined): boolean {
  return tool === undefined || tools.length === 0 || tools.some((glob) => globMatches(glob, tool));
}

/** A hook that is mended has other files, which a person has to let run. */
function describeFailure(error: unknown, name: string): string {
  if (!(error instanceof HotcellError)) return 'The daemon failed; its log says why.';
  const isMendedByApproval = error.code === 'compile-failed' || error.code === 'load-failed';
  return `${error.message} ${isMendedByApproval ? `Mend it, then let its new files run: hotcell hook approve ${name}.` : error.fix}`;
}
