import { type Static, Type } from 'typebox';
import Value from 'typebox/value';
import type { CallScheduler, ScheduleTime } from '../calls/call-scheduler.ts';
import type { ToolUsers } from '../config/settings/builtin-settings.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { HostedTool } from '../tools/hosted/hosted-types.ts';
import { type MetaToolParts, requireOffered, requireOutermostCaller } from './call-tool.ts';

/** What the tool works with. */
export interface ScheduleToolParts extends Pick<MetaToolParts, 'offered' | 'callerOf'> {
  readonly schedules: Pick<CallScheduler, 'create'>;
  readonly who: ToolUsers;
  readonly now: () => number;
}

const input = Type.Object(
  {
    tool: Type.String({ minLength: 1, maxLength: 256, description: 'The name of the tool to call.' }),
    arguments: Type.Optional(Type.Unsafe<Record<string, unknown>>(Type.Object({}, { description: 'Its arguments.' }))),
    at: Type.Optional(Type.String({ maxLength: 64, description: 'Once, then: 2026-12-24T18:00:00Z.' })),
    inSeconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 31_622_400, description: 'Once, in so many seconds.' })),
    everySeconds: Type.Optional(Type.Integer({ minimum: 60, maximum: 31_622_400, description: 'Again and again.' })),
    cron: Type.Optional(
      Type.String({
        maxLength: 100,
        description: 'Again and again: minute, hour, day, month and weekday in UTC, such as 0 8 * * 1-5.',
      }),
    ),
  },
  { additionalProperties: false },
);
const output = Type.Object({ id: Type.String(), nextAt: Type.String({ description: 'The first time, in UTC.' }) });

/** `schedule_task`: has a tool called later, with the rights that its caller has then. */
export function createScheduleTask(parts: ScheduleToolParts): HostedTool {
  return {
    name: 'schedule_task',
    description: 'Has a tool called later, once or again and again. Say one of at, inSeconds, everySeconds and cron.',
    input: { ...input },
    output: { ...output },
    tags: ['schedule', 'tools'],
    who: parts.who,
    timeoutMs: 10_000,
    async run(args, { user }) {
      const { tool, arguments: given = {}, ...when } = Value.Parse(input, args);
      const caller = requireOutermostCaller(parts, user);
      requireOffered(parts, caller, tool);
      const time = readTime(when, parts.now());
      const row = parts.schedules.create({ tool, arguments: given, session: user.session, time }, caller);
      return { id: row.id, nextAt: new Date(row.nextAtMs).toISOString() };
    },
  };
}

function readTime(
  { at, inSeconds, everySeconds, cron }: Omit<Static<typeof input>, 'tool' | 'arguments'>,
  nowMs: number,
): ScheduleTime {
  const times: ScheduleTime[] = [
    ...(at === undefined ? [] : [{ atMs: Date.parse(at) }]),
    ...(inSeconds === undefined ? [] : [{ atMs: nowMs + inSeconds * 1000 }]),
    ...(everySeconds === undefined ? [] : [{ everyMs: everySeconds * 1000 }]),
    ...(cron === undefined ? [] : [{ cron }]),
  ];
  const [time, second] = times;
  if (time === undefined || second !== undefined || ('atMs' in time && Number.isNaN(time.atMs))) {
    throw new HotcellError(
      'arguments-invalid',
      'Say one of at, inSeconds, everySeconds and cron; at is such as 2026-12-24T18:00:00Z.',
    );
  }
  return time;
}
