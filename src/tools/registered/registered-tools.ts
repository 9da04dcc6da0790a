import { createHash } from 'node:crypto';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { type Caller, operatorCaller } from '../../callers/caller.ts';
import { parseDestination } from '../../capabilities/network/destination.ts';
import { describePlace } from '../../capabilities/network/network-check.ts';
import { outputOf, type ToolPort } from '../../capabilities/tools.ts';
import { limitTable } from '../../config/limits.ts';
import type { PermissionSet } from '../../config/permission-set.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { NameRegistry } from '../../names/name-registry.ts';
import type { RegisteredToolTable } from '../../store/tables/tools.ts';
import { canonicalJson } from '../canonical-json.ts';
import type { HostedTools } from '../hosted/hosted-tools.ts';
import type { HostedCall, HostedUnit } from '../hosted/hosted-types.ts';
import type { ToolEntry } from '../tool-types.ts';
import { callService, type ServiceParts } from './call-service.ts';
import {
  aliasOf,
  checkSize,
  type RegisteredDefinition,
  type ServiceHandler,
  secretsOf,
  toolDefinition,
  withoutFixed,
} from './definition.ts';

/** What registered tools are made of. */
export interface RegisteredParts extends Omit<ServiceParts, 'maxBytes'> {
  readonly table: RegisteredToolTable;
  readonly hosted: Pick<HostedTools, 'put' | 'remove'>;
  readonly names: Pick<NameRegistry, 'ownerOf' | 'isThere' | 'isReserved'>;
  /** A tool that this caller may know of; throws `tool-unknown`. */
  readonly resolve: (ref: string, caller: Caller) => ToolEntry;
  /** Calls within a call, with the rights of whoever made it. */
  readonly call: ToolPort['call'];
  /** Takes back what was granted to a unit that is gone. */
  readonly forgetGrants: (unitPath: string) => void;
  readonly now: () => number;
  readonly onFault: (error: unknown) => void;
}

const maxTools = 1000;
const kept = Compile(Type.Object(toolDefinition, { additionalProperties: false }));
const usualTimeoutMs = 30_000;

/** The identity of a registered tool, to which its grants belong; no plugin can have such a name. */
export function pathOfRegistered(name: string): string {
  return `registered:${name}`;
}

/** Tools that operators register while the daemon runs, kept over restarts. */
export type RegisteredTools = ReturnType<typeof createRegisteredTools>;

/** Opens what is kept of registered tools. */
export function createRegisteredTools(parts: RegisteredParts) {
  const { table, hosted, names, now } = parts;
  const service: ServiceParts = { ...parts, maxBytes: limitTable.outputBytes.default };

  function put(definition: RegisteredDefinition, author: Pick<HostedUnit, 'author' | 'writtenBy'>): void {
    hosted.put(describeUnit(definition, author, (args, call) => run(definition, args, call)));
  }

  function run(definition: RegisteredDefinition, args: unknown, call: HostedCall): Promise<unknown> {
    const { handler } = definition;
    const alias = aliasOf(definition);
    if (alias !== undefined) return callTool(alias.tool, { ...Object(args), ...alias.arguments }, call);
    if (typeof handler === 'string' || !('url' in handler)) throw new Error('a definition has one handler');
    return callService(handler, args, { parts: service, call });
  }

  async function callTool(ref: string, args: unknown, { user, signal }: HostedCall): Promise<unknown> {
    return outputOf(await parts.call(user.executionId, { ref, arguments: args }, signal), ref);
  }

  /** A name that others have is not taken from them, and does not come second to them by version. */
  function requireName(name: string, isReplacing: boolean): void {
    const path = pathOfRegistered(name);
    const owner = names.ownerOf(name);
    if (owner !== undefined && owner !== path && (names.isReserved(name) || names.isThere(owner))) {
      throw new HotcellError('tool-duplicate', `The tool "${name}" exists already: it belongs to ${owner}.`, {
        fix: 'Register it under another name.',
      });
    }
    const isKnown = table.get(name) !== undefined;
    if (isKnown && !isReplacing) {
      throw new HotcellError('tool-duplicate', `The tool "${name}" is registered already.`, {
        fix: 'Say replace: true, or remove it first.',
      });
    }
    if (!isKnown && table.count() >= maxTools) {
      throw new HotcellError('conflict', `${maxTools} tools are registered, which is as many as there may be.`);
    }
  }

  return {
    /** Throws `tool-duplicate` where the name is somebody else's, or its own and `isReplacing` is not said. */
    register(given: RegisteredDefinition, by: Caller, isReplacing: boolean): void {
      checkSize(given);
      requireName(given.name, isReplacing);
      const definition = complete(given, (ref) => parts.resolve(ref, by));
      const author = by.id === operatorCaller.id ? 'operator' : 'caller';
      const before = table.get(given.name);
      // Kept first: whether it is there decides who owns the name.
      table.put({ name: given.name, definitionJson: JSON.stringify(definition), author, madeBy: by.id, madeAtMs: now() });
      try {
        put(definition, { author, writtenBy: by.id });
      } catch (error) {
        if (before === undefined) table.remove(given.name);
        else table.put(before);
        throw error;
      }
    },
    /** Takes a tool out with its grants. False when no such tool was registered. */
    remove(name: string): boolean {
      if (table.get(name) === undefined) return false;
      const path = pathOfRegistered(name);
      hosted.remove(path);
      table.remove(name);
      parts.forgetGrants(path);
      return true;
    },
    /** Puts those of earlier runs in their places. */
    restore(): void {
      for (const { name, definitionJson, author, madeBy } of table.list()) {
        try {
          const definition: unknown = JSON.parse(definitionJson);
          if (!kept.Check(definition)) throw new Error(`the definition of the registered tool ${name} cannot be read`);
          put(definition, { author: author === 'operator' ? 'operator' : 'caller', writtenBy: madeBy });
        } catch (error) {
          parts.onFault(error);
        }
      }
    },
  };
}

/** What is left out of a definition, as it is from now on; refuses a URL that nobody could ask. */
function complete(given: RegisteredDefinition, resolve: (ref: string) => ToolEntry): RegisteredDefinition {
  const alias = aliasOf(given);
  const service = serviceOf(given);
  if (service !== undefined) requireAddress(service.url);
  if (alias === undefined) return given;
  const target = resolve(alias.tool);
  if (target.name === given.name) throw new HotcellError('conflict', `"${given.name}" would be another name for itself.`);
  if (given.schema?.input !== undefined) return given;
  return { ...given, schema: { ...given.schema, input: withoutFixed(target.manifest.input, alias.arguments) } };
}

function requireAddress(url: string): void {
  try {
    parseDestination(url);
  } catch (error) {
    if (!(error instanceof HotcellError)) throw error;
    throw new HotcellError('body-invalid', `handler.url cannot be asked. ${error.message}`, { fix: error.fix });
  }
}

function serviceOf({ handler }: RegisteredDefinition): ServiceHandler | undefined {
  return typeof handler !== 'string' && 'url' in handler ? handler : undefined;
}

function describeUnit(
  definition: RegisteredDefinition,
  { author, writtenBy }: Pick<HostedUnit, 'author' | 'writtenBy'>,
  run: (args: unknown, call: HostedCall) => Promise<unknown>,
): HostedUnit {
  const { name, version = '1.0.0', description, schema = {}, tags = [], mode = 'on', who, flags = {} } = definition;
  const service = serviceOf(definition);
  return {
    path: pathOfRegistered(name),
    name: pathOfRegistered(name),
    kind: 'registered',
    version,
    description,
    author,
    ...(author === 'operator' || writtenBy === undefined ? {} : { writtenBy }),
    contentHash: createHash('sha256').update(canonicalJson(definition)).digest('hex'),
    permissions: service === undefined ? {} : permissionsOf(service),
    tools: [
      {
        name,
        description,
        input: schema.input ?? { type: 'object' },
        ...(schema.output === undefined ? {} : { output: schema.output }),
        tags,
        mode,
        ...(who === undefined ? {} : { who }),
        flags,
        // What another tool is another name for has a time of its own.
        timeoutMs: service === undefined ? limitTable.wallMs.max : (service.timeoutMs ?? usualTimeoutMs),
        run,
      },
    ],
  };
}

/** What a service asks for, its host and its secrets, as a plugin would: naming a URL allows nothing. */
function permissionsOf(service: ServiceHandler): PermissionSet {
  const secrets = secretsOf(service);
  return { net: [describePlace(parseDestination(service.url))], ...(secrets.length === 0 ? {} : { env: secrets }) };
}
