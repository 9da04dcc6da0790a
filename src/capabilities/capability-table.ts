import { randomUUID } from 'node:crypto';
import type { BorderAnswer, BorderRequest } from '../border/border.ts';
import type { Capability, CapabilityTable, CarryOut } from '../border/capability.ts';
import type { RunCommand } from '../border/container-command.ts';
import type { Config } from '../config/config-types.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { Approvals } from '../permissions/approvals/approvals.ts';
import type { SecretRegistry } from '../secrets/secret-types.ts';
import type { Store } from '../store/store-types.ts';
import { namedRefusals, refuseOperation } from './absent-members.ts';
import { createBrowser } from './browser.ts';
import { createFetch } from './fetch.ts';
import { createMounts } from './files/mounts.ts';
import { createFiles } from './files.ts';
import { createKv } from './kv.ts';
import { createTokenBudgets } from './llm/token-budget.ts';
import { createLlm, type GenerateWithTools, type TextGenerator } from './llm.ts';
import type { Resolve } from './network/resolve.ts';
import { createQuestions } from './questions.ts';
import { createResources, type TellResourceChange } from './resources.ts';
import { runNative } from './run/run-native.ts';
import { createRun } from './run.ts';
import { createTools, type ToolPort } from './tools.ts';

/** What the capabilities need of the daemon. */
export interface CapabilityParts {
  readonly config: Config;
  readonly store: Store;
  /** Secrets that may go into requests. */
  readonly secrets?: SecretRegistry | undefined;
  /** The call journey, for `context.tools`. */
  readonly tools?: ToolPort | undefined;
  /** Runs native commands, for `context.run`. */
  readonly runCommand?: RunCommand | undefined;
  /** The models, for `context.llm`. */
  readonly models?: TextGenerator | undefined;
  /** The loop of a model and tools, for `context.llm` with tools. */
  readonly generateWithTools?: GenerateWithTools | undefined;
  /** Stands in for the clock that counts the days of budgets; epoch ms. */
  readonly now?: () => number;
  /** Tells of changed resources, for `context.resources`. */
  readonly tellResourceChange?: TellResourceChange | undefined;
  /** Asks people and clients, for `context.confirm`, `context.ask` and `context.client`. */
  readonly approvals?: Pick<Approvals, 'ask' | 'settled'> | undefined;
  /** Stands in for the resolver of the operating system. */
  readonly resolver?: Resolve;
  /** Hears of a fault of the daemon under the id that the guest was told. Must not throw. */
  readonly logFault: (id: string, error: unknown) => void;
}

interface OpenCapability extends Capability {
  close?(): Promise<void>;
}

const cancelled: BorderAnswer = { ok: false, code: 'cancelled', message: 'The call ended before the host answered.' };
const spareChars = 64 * 1024;
const maxBodyBytes = 16 * 1024 * 1024;

/** Makes the table of capabilities: what a plugin can reach is what stands here. */
export function createCapabilityTable(parts: CapabilityParts): CapabilityTable {
  const { config, store, logFault } = parts;
  const fetch = createFetch({ network: config.network, resolve: parts.resolver, secrets: parts.secrets });
  const files = createFiles({ dataDir: config.dataDir, limits: config.files, mounts: createMounts(config) });
  const budgets = createTokenBudgets({ table: store.modelUsage, now: parts.now ?? Date.now });
  const tools = parts.tools && createTools(parts.tools);
  const llm =
    parts.models &&
    createLlm({
      generator: parts.models,
      budgets,
      redactor: parts.secrets?.redactor,
      withTools: parts.tools && parts.generateWithTools && { port: parts.tools, generate: parts.generateWithTools },
    });
  const capabilities: readonly OpenCapability[] = [
    fetch,
    files,
    createKv({ table: store.kv, limits: config.kv }),
    createRun({ runCommand: parts.runCommand, settings: config.docker, files, dial: fetch.dial }),
    ...(tools === undefined ? [] : [tools, createBrowser(tools.operations['tools.call'])]),
    ...(parts.tellResourceChange === undefined ? [] : [createResources(parts.tellResourceChange)]),
    ...(parts.approvals === undefined ? [] : [createQuestions(parts.approvals)]),
    ...(llm === undefined
      ? []
      : [{ operations: { 'llm.generate': llm.answer }, longWaits: { 'llm.generate': { whenFull: 'inside' } } } as const]),
    namedRefusals,
  ];
  const operations = new Map(capabilities.flatMap((each) => Object.entries(each.operations)));
  const reads = new Set(capabilities.flatMap((each) => each.reads ?? []));
  const longWaits = new Map(capabilities.flatMap((each) => Object.entries(each.longWaits ?? {})));
  const bounds = readBounds(config);
  return {
    leavesTrace: (operation) => !reads.has(operation),
    longWait: (operation) => longWaits.get(operation),
    answer: async (request, user, signal) => {
      try {
        checkBounds(request, bounds);
        const result = await findOperation(operations, request.op)(request, user, signal);
        const payload = JSON.stringify(result.payload) ?? 'null';
        return result.body === undefined ? { ok: true, payload } : { ok: true, payload, body: ownBytes(result.body) };
      } catch (error) {
        return signal.aborted && !(error instanceof HotcellError) ? cancelled : describeRefusal(error, request.op, logFault);
      }
    },
    dial: fetch.dial,
    native: async (command, user, signal) => {
      if (parts.runCommand === undefined) throw new HotcellError('not-supported', 'Containers are not part of this daemon.');
      return runNative({ runCommand: parts.runCommand, settings: config.docker, files, dial: fetch.dial }, command, user, signal);
    },
    workspace: files.workspace,
    endCall: fetch.endCall,
    close: async () => {
      await Promise.all(capabilities.map((capability) => capability.close?.()));
    },
  };
}

interface Bounds {
  readonly payloadChars: number;
  readonly bodyBytes: number;
}

/** One character of a text may take six in JSON. */
function readBounds({ files, kv }: Config): Bounds {
  return {
    payloadChars: 6 * Math.max(files.maxFileBytes, kv.maxValueBytes) + spareChars,
    bodyBytes: Math.max(files.maxFileBytes, maxBodyBytes) + spareChars,
  };
}

function checkBounds({ op, payload, body }: BorderRequest, bounds: Bounds): void {
  if (payload.length > bounds.payloadChars || (body?.length ?? 0) > bounds.bodyBytes) {
    throw new HotcellError('payload-too-large', `What was sent with ${quoteOperation(op)} is too large to cross the border.`);
  }
}

function findOperation(operations: ReadonlyMap<string, CarryOut>, op: string): CarryOut {
  const found = operations.get(op) ?? operations.get(`${op.split('.', 1)[0]}.*`);
  if (found === undefined) throw refuseOperation(op);
  return found;
}

/** Bytes that cross own their memory: a view on a pool of Node's would carry along what lies beside it. */
function ownBytes(bytes: Uint8Array): Uint8Array {
  return bytes.buffer.byteLength === bytes.byteLength ? bytes : new Uint8Array(bytes);
}

function describeRefusal(error: unknown, op: string, logFault: CapabilityParts['logFault']): BorderAnswer {
  if (error instanceof HotcellError) return { ok: false, code: error.code, message: `${error.message} ${error.fix}` };
  const id = `flt_${randomUUID()}`;
  logFault(id, error);
  const message = `The daemon failed to answer ${quoteOperation(op)}. The reason is in its log under ${id}.`;
  return { ok: false, code: 'internal', message };
}

function quoteOperation(op: string): string {
  return JSON.stringify(op.slice(0, 80));
}
