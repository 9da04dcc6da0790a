import { existsSync } from 'node:fs';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { HookApprovalRow } from '../store/tables/access/hook-approvals.ts';
import type { ToolEntry } from '../tools/tool-types.ts';
import { readHookFiles, readHookSignature } from './hook-files.ts';
import type { HookFiles, HookManifest, HookPlace, HookState, HookView } from './hook-types.ts';
import { readHookManifest } from './manifest.ts';

/** What came of building an approved hook. It is over as soon as the hook changes or is revoked. */
export interface HookBuild {
  isLive: boolean;
  isSettled: boolean;
  readonly entry: Promise<ToolEntry>;
  /** Why it cannot run, once that is known. */
  failure?: string;
  /** Gives back what the engines keep of it. Must not throw. */
  discard: () => void;
}

const noFiles: HookFiles = { files: [], contentHash: '', signature: '' };

/** One hook as it is known now. The registry changes it in place. */
export class HookRecord {
  readonly place: HookPlace;
  files = noFiles;
  manifest: HookManifest | undefined;
  problem: string | undefined;
  approval: HookApprovalRow | undefined;
  build: HookBuild | undefined;
  /** As it was told last. */
  told: { state: HookState | 'absent'; hash: string } = { state: 'absent', hash: '' };

  constructor(place: HookPlace, approval: HookApprovalRow | undefined) {
    this.place = place;
    this.approval = approval;
  }

  get state(): HookState {
    return decideHookState({
      problem: this.problem,
      contentHash: this.files.contentHash,
      approvedHash: this.approval?.contentHash,
      failure: this.build?.failure,
    });
  }

  /** Approved as it is, whether or not it can run. */
  get isApproved(): boolean {
    return this.state === 'active' || this.state === 'failed';
  }

  /**
   * What was approved is asked before calls, and what lies there now is something else: the calls that it watched over wait
   * for a person. The tools are those of the approved files, since the changed ones have no say. A folder that is gone is no
   * hook any more.
   */
  get blockedTools(): readonly string[] | undefined {
    const { approval } = this;
    return approval?.guardedTools === undefined || this.isApproved || !existsSync(this.place.dir)
      ? undefined
      : approval.guardedTools;
  }

  /** Reads the files again if anything about them changed. True when their content is another one now. */
  look(): boolean {
    const { contentHash, signature } = this.files;
    if (signature !== '' && readHookSignature(this.place.dir) === signature) return false;
    this.#read();
    return this.files.contentHash !== contentHash;
  }

  #read(): void {
    this.problem = undefined;
    this.manifest = undefined;
    // What cannot be read has no signature, so that it is looked at again the next time.
    this.files = noFiles;
    try {
      this.files = readHookFiles(this.place.dir);
      this.manifest = readHookManifest(this.files.files);
    } catch (error) {
      if (!(error instanceof HotcellError)) throw error;
      this.problem = `${error.message} ${error.fix}`;
    }
  }

  view(): HookView {
    const { place, files, manifest, approval, state } = this;
    const problem = this.problem ?? (state === 'failed' ? this.build?.failure : undefined);
    return {
      name: place.name,
      origin: place.origin,
      state,
      ...(problem === undefined ? {} : { problem }),
      ...(manifest === undefined ? {} : { manifest }),
      files: files.files.map(({ path, data }) => ({ path, bytes: data.length })),
      contentHash: files.contentHash,
      ...(approval === undefined
        ? {}
        : { approval: { contentHash: approval.contentHash, by: approval.approvedBy, atMs: approval.approvedAtMs } }),
    };
  }
}

/** What decides where a hook stands. */
interface HookFacts {
  /** Why it cannot be approved as it is. */
  readonly problem?: string | undefined;
  readonly contentHash: string;
  /** The hash that was approved, if one was. */
  readonly approvedHash?: string | undefined;
  /** Why what was approved cannot run. */
  readonly failure?: string | undefined;
}

/** Decides where a hook stands; only what is exactly what was approved ever runs. */
function decideHookState({ problem, contentHash, approvedHash, failure }: HookFacts): HookState {
  if (problem !== undefined) return 'invalid';
  if (approvedHash === undefined) return 'new';
  if (approvedHash !== contentHash) return 'changed';
  return failure === undefined ? 'active' : 'failed';
}
