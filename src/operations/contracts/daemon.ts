import { type Static, Type } from 'typebox';
import { defineContract } from '../operation.ts';

const nothing = {};

/** One finding of the doctor. `info` is worth knowing and needs nothing done. */
export const finding = Type.Object({
  name: Type.String(),
  status: Type.Enum(['ok', 'info', 'warn', 'fail']),
  message: Type.String(),
  fix: Type.Optional(Type.String()),
});

/** One finding of the doctor. */
export type Finding = Static<typeof finding>;

/** What the daemon tells of itself. */
export const daemonContracts = {
  status: defineContract({
    name: 'status.show',
    summary: 'Shows version, uptime and how much is loaded and running; a caller sees its own tools and calls.',
    role: 'caller',
    input: nothing,
    output: Type.Object({
      openQuestions: Type.Optional(Type.Integer({ description: 'Questions that wait for a person, for admins.' })),
      config: Type.Optional(
        Type.Object(
          { file: Type.Optional(Type.String()), restart: Type.Array(Type.String()), problem: Type.Optional(Type.String()) },
          { description: 'How an edited config file stands to what is in force, for admins.' },
        ),
      ),
      version: Type.String(),
      node: Type.Optional(Type.String({ description: 'For admins.' })),
      startedAtMs: Type.Number(),
      uptimeMs: Type.Number(),
      plugins: Type.Record(Type.String(), Type.Integer(), { description: 'How many in each state.' }),
      tools: Type.Integer(),
      calls: Type.Object({ pending: Type.Integer(), running: Type.Integer() }),
      repairs: Type.Optional(
        Type.Object(
          {
            running: Type.Integer(),
            waiting: Type.Integer(),
            proposed: Type.Integer(),
            refused: Type.Record(Type.String(), Type.Integer()),
            tokens: Type.Integer(),
            cost: Type.Number(),
          },
          { description: 'Repairs of failed plugins, and what models used for them in the last day; for admins.' },
        ),
      ),
      lastEventSeq: Type.Optional(Type.Integer({ description: 'For admins: it counts what happens to others, too.' })),
    }),
    http: { method: 'GET', path: '/api/status' },
  }),
  config: defineContract({
    name: 'config.show',
    summary: 'Shows the configuration in force; values that may be secret are left out.',
    role: 'admin',
    input: nothing,
    output: Type.Object({ config: Type.Unsafe<Readonly<Record<string, unknown>>>(Type.Object({})) }),
    http: { method: 'GET', path: '/api/config' },
  }),
  doctor: defineContract({
    name: 'doctor.run',
    summary: 'Checks what the daemon needs from its machine.',
    role: 'admin',
    input: nothing,
    output: Type.Object({ ok: Type.Boolean(), items: Type.Array(finding), total: Type.Integer() }),
    http: { method: 'GET', path: '/api/doctor' },
  }),
};
