import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import type { PermissionKey, PermissionSet } from '../config/permission-set.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import { suggestNearNames } from '../errors/near-names.ts';
import { parseRequestedPermissions } from '../permissions/parse.ts';
import { readFrontMatter } from '../plugins/manifest/front-matter.ts';
import { hookEventNames, parseSubscription, type Subscription } from './hook-events.ts';
import type { HookFile, HookManifest } from './hook-types.ts';

const listOf = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { minItems: 1, maxItems: 32, description });
/** `description` says in messages what is expected. */
const fields = {
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'text of 1 to 64 characters' })),
  description: Type.Optional(Type.String({ maxLength: 1024, description: 'text of at most 1024 characters' })),
  homepage: Type.Optional(Type.String({ maxLength: 2048, description: 'an address' })),
  events: Type.Optional(listOf('a list of 1 to 32 events such as ["tool:before"]')),
  tools: Type.Optional(listOf('a list of 1 to 32 names of tools, * for any text')),
  engine: Type.Optional(
    Type.Enum(['quickjs', 'deno'], { description: '"quickjs" or "deno"; a handler.sh runs in a container and has none' }),
  ),
  image: Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: 'the name of an image' })),
  permissions: Type.Optional(Type.Unknown({ description: 'an object' })),
  timeoutMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 60_000, description: 'a whole number from 1 to 60000' })),
  metadata: Type.Optional(Type.Unknown({ description: 'anything' })),
};
const frontMatter = Type.Object(fields);
const frontMatterValidator = Compile(frontMatter);
const foreignEvents = Compile(Type.Object({ openclaw: Type.Object({ events: listOf('events') }) }));

const codeHandlers = ['handler.ts', 'handler.js', 'index.ts', 'index.js'];
const shellHandler = 'handler.sh';
/** What the border of a shell script enforces; nothing else reaches a container. */
const shellKeys: ReadonlySet<string> = new Set<PermissionKey>(['net', 'env']);
/** A hook hears of calls, it does not make any, and a cell of its own is all that it gets. */
const refusedKeys: Readonly<Partial<Record<PermissionKey, string>>> = {
  tools: 'a hook cannot call tools: it would trigger itself and the others',
  sharedCell: 'a hook has a fresh cell for every run',
};

/** Reads the HOOK.md among the files of a hook. Throws `hook-invalid` or `permissions-invalid`. */
export function readHookManifest(files: readonly HookFile[]): HookManifest {
  const hookFile = files.find(({ path }) => path === 'HOOK.md');
  if (hookFile === undefined) throw new HotcellError('hook-invalid', 'The folder has no HOOK.md.');
  const matter = checkFields(readData(hookFile.data.toString('utf8')));
  const handler = findHandler(files);
  const isShell = handler === shellHandler;
  if (isShell && matter.engine !== undefined) {
    throw new HotcellError('hook-invalid', `HOOK.md names the engine ${matter.engine}, but handler.sh runs in a container.`, {
      fix: 'Leave engine out, or write a handler.ts.',
    });
  }
  if (!isShell && matter.image !== undefined) {
    throw new HotcellError('hook-invalid', `HOOK.md names an image, but ${handler} runs in no container.`, {
      fix: 'Leave image out, or write a handler.sh.',
    });
  }
  return {
    ...(matter.name === undefined ? {} : { title: matter.name }),
    description: matter.description ?? '',
    events: readEvents(matter),
    tools: matter.tools ?? [],
    engine: isShell ? 'shell' : (matter.engine ?? 'quickjs'),
    handler,
    ...(matter.image === undefined ? {} : { image: matter.image }),
    permissions: readPermissions(matter.permissions, isShell),
    ...(matter.timeoutMs === undefined ? {} : { timeoutMs: matter.timeoutMs }),
  };
}

function checkFields(data: unknown): Static<typeof frontMatter> {
  const keys = typeof data === 'object' && data !== null ? Object.keys(data) : [];
  const unknownKey = keys.find((key) => !Object.hasOwn(fields, key));
  if (unknownKey !== undefined) {
    const near = suggestNearNames(unknownKey, Object.keys(fields));
    throw new HotcellError('hook-invalid', `HOOK.md has the unknown key ${JSON.stringify(unknownKey.slice(0, 64))}.${near}`, {
      fix: 'Remove it, or move it into metadata, where anything may stand.',
    });
  }
  if (frontMatterValidator.Check(data)) return data;
  const key = frontMatterValidator.Errors(data)[0]?.instancePath.split('/')[1] ?? '';
  const field: object = Object.entries(fields).find(([name]) => name === key)?.[1] ?? {};
  const wanted = 'description' in field ? field.description : 'a mapping';
  throw new HotcellError('hook-invalid', `In HOOK.md "${key}" must be ${wanted}.`);
}

function findHandler(files: readonly HookFile[]): string {
  const has = (name: string) => files.some(({ path }) => path === name);
  const code = codeHandlers.find(has);
  if (code !== undefined && has(shellHandler)) {
    throw new HotcellError('hook-invalid', `The folder has ${code} and handler.sh; only one of them can be the handler.`, {
      fix: 'Rename the other one.',
    });
  }
  const handler = code ?? (has(shellHandler) ? shellHandler : undefined);
  if (handler !== undefined) return handler;
  const names = [...codeHandlers, shellHandler].join(', ');
  throw new HotcellError('hook-invalid', `The folder has no handler: none of ${names}.`, { fix: 'Write a handler.ts.' });
}

/** The events of a hook; where other programs put them counts when HOOK.md itself names none. */
function readEvents({ events, metadata }: Static<typeof frontMatter>): readonly Subscription[] {
  const named = events ?? (foreignEvents.Check(metadata) ? metadata.openclaw.events : undefined);
  if (named === undefined) {
    throw new HotcellError('hook-invalid', 'HOOK.md names no events, so the hook would never run.', {
      fix: 'Write for example: events: ["tool:before"].',
    });
  }
  const subscriptions = named.flatMap((name) => {
    const found = parseSubscription(name);
    if (found !== undefined) return found;
    const message = `There is no event ${JSON.stringify(name)}.${suggestNearNames(name, hookEventNames)}`;
    throw new HotcellError('hook-invalid', message, {
      fix: `The events are ${hookEventNames.join(', ')}.`,
    });
  });
  return subscriptions.filter(({ event }, index) => subscriptions.findIndex((other) => other.event === event) === index);
}

function readPermissions(value: unknown, isShell: boolean): PermissionSet {
  const parsed = parseRequestedPermissions(value);
  if (!parsed.ok) throw new HotcellError('permissions-invalid', parsed.message);
  for (const key of Object.keys(parsed.permissions)) {
    const reason = Object.entries(refusedKeys).find(([refused]) => refused === key)?.[1];
    if (reason !== undefined) throw new HotcellError('permissions-invalid', `permissions.${key} is refused: ${reason}.`);
    if (!isShell || shellKeys.has(key)) continue;
    throw new HotcellError('permissions-invalid', `permissions.${key} is refused: a handler.sh can be given net and env only.`, {
      fix: `Leave ${key} out, or write a handler.ts.`,
    });
  }
  return Object.freeze(parsed.permissions);
}

/** What stands between the two lines of dashes that the file begins with. */
function readData(text: string): unknown {
  if (!/^\uFEFF?---[ \t]*\r?\n/.test(text)) {
    const [first = ''] = text.split(/\r?\n/, 1);
    const found = first === '' ? 'an empty line' : JSON.stringify(first.slice(0, 60));
    throw new HotcellError('hook-invalid', `HOOK.md must begin with a line of three dashes alone, but begins with ${found}.`, {
      fix: 'Write: --- on the first line, then YAML, then --- again.',
    });
  }
  const read = readFrontMatter(text);
  if (read.ok) return read.data;
  throw new HotcellError('hook-invalid', `HOOK.md is no description of a hook. ${read.reason}`, {
    fix: 'Correct the YAML between the two lines of three dashes.',
  });
}
