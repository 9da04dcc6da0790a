import Type, { type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import type { EventEnvelope, EventType } from './event.ts';

const text = Type.String();
const whole = Type.Integer();
const texts = Type.Array(Type.String());

/** Every kept or fleeting event; the test of this file has one of each type, so that none is forgotten. */
const eventValidator = Compile(
  Type.Union([
    defineEvent('daemon-start', Type.Object({ version: text, url: text })),
    defineEvent('daemon-stop', Type.Object({ reason: text })),
    defineEvent(
      'plugin-change',
      Type.Object({
        path: text,
        state: text,
        previousState: text,
        reason: text,
        generation: Type.Optional(whole),
        durationMs: Type.Optional(Type.Number()),
        pending: Type.Optional(text),
      }),
    ),
    defineEvent(
      'plugin-diagnostic',
      Type.Object({
        path: text,
        code: text,
        message: text,
        file: Type.Optional(text),
        line: Type.Optional(whole),
        column: Type.Optional(whole),
        codeFrame: Type.Optional(text),
        fix: text,
      }),
    ),
    defineEvent('plugin-removed', Type.Object({ path: text, reason: text })),
    defineEvent('tools-change', Type.Object({ added: texts, removed: texts, changed: texts })),
    defineEvent('cell-loss', Type.Object({ path: text, reason: text })),
    defineEvent('execution-start', Type.Object({ tool: text, version: text, session: text })),
    defineEvent('execution-refusal', Type.Object({ tool: text, code: text, message: text })),
    defineEvent(
      'execution-progress',
      Type.Object({
        done: Type.Number(),
        total: Type.Optional(Type.Number()),
        message: Type.Optional(text),
      }),
    ),
    defineEvent('execution-log', Type.Object({ level: text, text })),
    defineEvent(
      'execution-end',
      Type.Object({
        tool: text,
        version: text,
        status: text,
        durationMs: Type.Number(),
        code: Type.Optional(text),
      }),
    ),
    defineEvent('permission-use', Type.Object({ tool: text, permission: text, detail: text, allowed: Type.Boolean() })),
    defineEvent(
      'grant-change',
      Type.Object({
        action: Type.Union([Type.Literal('granted'), Type.Literal('revoked'), Type.Literal('expired')]),
        grant: text,
        permissions: text,
        scope: text,
        by: text,
      }),
    ),
    defineEvent(
      'approval-request',
      Type.Object({
        approval: text,
        kind: text,
        reason: text,
        question: text,
        tool: Type.Optional(text),
        execution: Type.Optional(text),
        expiresAtMs: whole,
      }),
    ),
    defineEvent(
      'approval-answer',
      Type.Object({
        approval: text,
        kind: text,
        status: Type.Union([
          Type.Literal('approved'),
          Type.Literal('denied'),
          Type.Literal('expired'),
          Type.Literal('withdrawn'),
        ]),
        by: text,
        tool: Type.Optional(text),
        execution: Type.Optional(text),
      }),
    ),
    defineEvent(
      'engine-change',
      Type.Object({
        from: text,
        to: text,
        reason: text,
        path: Type.Optional(text),
        tool: Type.Optional(text),
        execution: Type.Optional(text),
      }),
    ),
    defineEvent('name-change', Type.Object({ from: text, to: text, by: text })),
    defineEvent(
      'secret-change',
      Type.Object({ action: Type.Union([Type.Literal('set'), Type.Literal('removed')]), binding: text, by: text }),
    ),
    defineEvent(
      'hook-change',
      Type.Object({ state: text, previousState: text, hash: text, reason: text, by: Type.Optional(text) }),
    ),
    defineEvent('hook-refusal', Type.Object({ tool: text, code: text, message: text })),
    defineEvent('hook-problem', Type.Object({ message: text })),
    defineEvent('watch-problem', Type.Object({ path: text, message: text })),
    defineEvent('storage-problem', Type.Object({ path: text, message: text })),
    defineEvent('config-change', Type.Object({ path: text, applied: texts, restart: texts, problem: Type.Optional(text) })),
  ]),
);

function defineEvent<Name extends EventType, Data extends TSchema>(type: Name, data: Data) {
  return Type.Object({
    seq: Type.Integer({ minimum: 1 }),
    type: Type.Literal(type),
    at: whole,
    caller: Type.Union([Type.String(), Type.Null()]),
    subject: text,
    data,
  });
}

/** Reads an event that comes from the disk; undefined when this version does not know its type or its data. */
export function parseEvent(value: unknown): EventEnvelope | undefined {
  return eventValidator.Check(value) ? value : undefined;
}
