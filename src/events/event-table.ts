import { type Static, type TSchema, Type } from 'typebox';

/** Who may see events of a type: admins see all, `its-caller` also whose call it is about, `everybody` all callers. */
export type EventReaders = 'admins' | 'its-caller' | 'everybody';

interface EventRow {
  readonly seenBy: EventReaders;
  /** Only who listens at that moment hears it: it is not kept. */
  readonly isFleeting?: true;
  readonly data: TSchema;
}

const text = Type.String();
const whole = Type.Integer();
const optional = Type.Optional(text);
const texts = Type.Unsafe<readonly string[]>(Type.Array(text));

/** Everything that the daemon tells. Names are noun-verb; a subject is the name of the plugin, tool or execution. */
export const eventTable = {
  'daemon-start': { seenBy: 'admins', data: Type.Object({ version: text, url: text }) },
  'daemon-stop': { seenBy: 'admins', data: Type.Object({ reason: text }) },
  'plugin-change': {
    seenBy: 'admins',
    data: Type.Object({
      path: text,
      state: text,
      previousState: text,
      reason: text,
      generation: Type.Optional(whole),
      durationMs: Type.Optional(Type.Number()),
      pending: Type.Optional(Type.String({ description: 'What it waits to be granted, as words of a command.' })),
    }),
  },
  'plugin-diagnostic': {
    seenBy: 'admins',
    data: Type.Object({
      path: text,
      code: text,
      message: text,
      file: optional,
      line: Type.Optional(whole),
      column: Type.Optional(whole),
      codeFrame: optional,
      fix: text,
    }),
  },
  'plugin-removed': { seenBy: 'admins', data: Type.Object({ path: text, reason: text }) },
  'tools-change': { seenBy: 'everybody', data: Type.Object({ added: texts, removed: texts, changed: texts }) },
  'prompts-change': { seenBy: 'everybody', data: Type.Object({ added: texts, removed: texts, changed: texts }) },
  'resources-change': { seenBy: 'everybody', data: Type.Object({ added: texts, removed: texts, changed: texts }) },
  /** What a resource reads as may be different from now on; `name` is that of the resource, or of its template. */
  'resource-update': { seenBy: 'everybody', isFleeting: true, data: Type.Object({ uri: text, name: text }) },
  'execution-start': { seenBy: 'its-caller', data: Type.Object({ tool: text, version: text, session: text }) },
  /** A call that was refused for its arguments, before there was an execution. */
  'execution-refusal': {
    seenBy: 'its-caller',
    isFleeting: true,
    data: Type.Object({ tool: text, code: text, message: text }),
  },
  'execution-progress': {
    seenBy: 'its-caller',
    isFleeting: true,
    data: Type.Object({ done: Type.Number(), total: Type.Optional(Type.Number()), message: optional }),
  },
  'execution-log': { seenBy: 'its-caller', isFleeting: true, data: Type.Object({ level: text, text }) },
  'execution-end': {
    seenBy: 'its-caller',
    data: Type.Object({ tool: text, version: text, status: text, durationMs: Type.Number(), code: optional }),
  },
  /** What happens in a loop of a model and its tools, whose id is the subject; not what the model says. */
  'loop-step': {
    seenBy: 'its-caller',
    isFleeting: true,
    data: Type.Object({
      step: text,
      round: Type.Optional(whole),
      tool: optional,
      executionId: optional,
      question: Type.Optional(Type.String({ description: 'The id of what a person is asked.' })),
      status: optional,
    }),
  },
  'loop-end': { seenBy: 'its-caller', data: Type.Object({ reason: text, purpose: text, model: text, rounds: whole }) },
  /** A call for later was not made; one that is made again and again is tried at its next time. */
  'schedule-problem': { seenBy: 'its-caller', data: Type.Object({ tool: text, code: text, message: text }) },
  /** The memory of a session's or plugin's cell is gone. */
  'cell-loss': { seenBy: 'admins', data: Type.Object({ path: text, reason: text }) },
  'permission-use': {
    seenBy: 'its-caller',
    data: Type.Object({ tool: text, permission: text, detail: text, allowed: Type.Boolean() }),
  },
  'grant-change': {
    seenBy: 'admins',
    data: Type.Object({
      action: Type.Union([Type.Literal('granted'), Type.Literal('revoked'), Type.Literal('expired')]),
      grant: text,
      permissions: text,
      scope: text,
      by: text,
    }),
  },
  'approval-request': {
    seenBy: 'its-caller',
    data: Type.Object({
      approval: text,
      kind: text,
      reason: text,
      question: Type.String({ description: "Of the kinds confirm and ask the plugin's own text." }),
      tool: optional,
      execution: optional,
      above: Type.Optional(texts),
      expiresAtMs: whole,
    }),
  },
  'approval-answer': {
    seenBy: 'its-caller',
    data: Type.Object({
      approval: text,
      kind: text,
      status: Type.Union([Type.Literal('approved'), Type.Literal('denied'), Type.Literal('expired'), Type.Literal('withdrawn')]),
      by: text,
      tool: optional,
      execution: optional,
      above: Type.Optional(texts),
    }),
  },
  /** A plugin, or one call of it, runs on a higher engine than the one it asks for. */
  'engine-change': {
    seenBy: 'admins',
    data: Type.Object({ from: text, to: text, reason: text, path: optional, tool: optional, execution: optional }),
  },
  /** A name of a plugin or tool belongs to another unit from now on; by `daemon` when the file of its owner is gone. */
  'name-change': { seenBy: 'admins', data: Type.Object({ from: text, to: text, by: text }) },
  /** Somebody set the mode or the users of a tool, or turned all tools or all but the built-in ones off or on. */
  'setting-change': { seenBy: 'admins', data: Type.Object({ setting: text, by: text }) },
  'secret-change': {
    seenBy: 'admins',
    data: Type.Object({ action: Type.Union([Type.Literal('set'), Type.Literal('removed')]), binding: text, by: text }),
  },
  /** Where an MCP server stands is another place, or other tools of it serve or wait to be approved. */
  'mcp-change': {
    seenBy: 'admins',
    data: Type.Object({ state: text, previousState: text, tools: whole, waitingTools: whole, error: optional }),
  },
  'hook-change': {
    seenBy: 'admins',
    data: Type.Object({ state: text, previousState: text, hash: text, reason: text, by: optional }),
  },
  /** A hook stopped a call before it began; `code` is hook-refused or hook-failed. */
  'hook-refusal': { seenBy: 'admins', data: Type.Object({ tool: text, code: text, message: text }) },
  'hook-problem': { seenBy: 'admins', data: Type.Object({ message: text }) },
  /** A repair of a plugin began; `class` is that of the failure. */
  'repair-start': { seenBy: 'admins', data: Type.Object({ repair: text, path: text, class: text, message: text }) },
  /** Something was tried in it; `outcome` is the verdict of its trial. */
  'repair-update': { seenBy: 'admins', data: Type.Object({ repair: text, path: text, by: text, outcome: text, note: text }) },
  /** A repair stands where it stays until a person decides: published, proposed, given up … */
  'repair-end': {
    seenBy: 'admins',
    data: Type.Object({ repair: text, path: text, state: text, reason: text, generation: Type.Optional(whole) }),
  },
  'watch-problem': { seenBy: 'admins', data: Type.Object({ path: text, message: text }) },
  'storage-problem': { seenBy: 'admins', data: Type.Object({ path: text, message: text }) },
  /** The config file was edited: keys in force from now on, keys that wait for a restart, or why it cannot be used. */
  'config-change': { seenBy: 'admins', data: Type.Object({ path: text, applied: texts, restart: texts, problem: optional }) },
} satisfies Readonly<Record<string, EventRow>>;

/** The type of an event. */
export type EventType = keyof typeof eventTable;

/** What events of each type tell. */
export type EventDataByType = { readonly [Type in EventType]: Static<(typeof eventTable)[Type]['data']> };

/** All types of events. */
export const eventTypes: readonly string[] = Object.keys(eventTable);

/** Tells whether a text is the type of an event. */
export function isEventType(text: string): text is EventType {
  return Object.hasOwn(eventTable, text);
}

/** The row of a type. */
export function rowOf(type: EventType): EventRow {
  return eventTable[type];
}
