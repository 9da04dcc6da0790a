import type { CallerRules } from '../../../callers/caller.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { formatTime } from '../../render/format.ts';

/** The flags that lay down the rules of a key. */
export interface RuleFlags {
  readonly tools?: readonly string[];
  readonly rate?: string;
  readonly concurrent?: string;
  readonly mayAnswer?: boolean;
  readonly code?: boolean;
  readonly models?: readonly string[];
  readonly tokensPerDay?: string;
  readonly dollarsPerDay?: string;
  readonly expires?: string;
}

/** A change as `keys.update` takes it: null takes a rule away. */
interface RuleChanges {
  tools?: readonly string[] | null;
  ratePerMinute?: number | null;
  maxConcurrent?: number | null;
  mayAnswer?: boolean | null;
  code?: boolean | null;
  models?: readonly string[] | null;
  modelTokensPerDay?: number | null;
  modelDollarsPerDay?: number | null;
  expiresAtMs?: number | null;
}

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };

/** The rules of a new key. Throws `usage-wrong`. */
export function readNewRules(flags: RuleFlags, nowMs: number): CallerRules {
  return {
    ...(flags.tools === undefined ? {} : { tools: flags.tools }),
    ...(flags.rate === undefined ? {} : { ratePerMinute: readCount('--rate', flags.rate) }),
    ...(flags.concurrent === undefined ? {} : { maxConcurrent: readCount('--concurrent', flags.concurrent) }),
    ...(flags.mayAnswer === true ? { mayAnswer: true } : {}),
    ...(flags.code === true ? { code: true } : {}),
    ...(flags.models === undefined ? {} : { models: flags.models }),
    ...(flags.tokensPerDay === undefined ? {} : { modelTokensPerDay: readCount('--tokens-per-day', flags.tokensPerDay, 12) }),
    ...(flags.dollarsPerDay === undefined ? {} : { modelDollarsPerDay: readDollars(flags.dollarsPerDay) }),
    ...(flags.expires === undefined ? {} : { expiresAtMs: readTime(flags.expires, nowMs) }),
  };
}

/** What is to change; `none` takes a rule away. Throws `usage-wrong`, also when nothing is named. */
export function readRuleChanges(flags: RuleFlags, nowMs: number): RuleChanges {
  const { tools, rate, concurrent, mayAnswer, code, models, tokensPerDay, dollarsPerDay, expires } = flags;
  const change: RuleChanges = {};
  if (tools !== undefined) change.tools = tools.length === 1 && tools[0] === 'none' ? null : tools;
  if (rate !== undefined) change.ratePerMinute = rate === 'none' ? null : readCount('--rate', rate);
  if (concurrent !== undefined) change.maxConcurrent = concurrent === 'none' ? null : readCount('--concurrent', concurrent);
  if (mayAnswer !== undefined) change.mayAnswer = mayAnswer ? true : null;
  if (code !== undefined) change.code = code ? true : null;
  if (models !== undefined) change.models = models.length === 1 && models[0] === 'none' ? null : models;
  if (tokensPerDay !== undefined)
    change.modelTokensPerDay = tokensPerDay === 'none' ? null : readCount('--tokens-per-day', tokensPerDay, 12);
  if (dollarsPerDay !== undefined) change.modelDollarsPerDay = dollarsPerDay === 'none' ? null : readDollars(dollarsPerDay);
  if (expires !== undefined) change.expiresAtMs = expires === 'none' ? null : readTime(expires, nowMs);
  if (Object.keys(change).length > 0) return change;
  throw new HotcellError(
    'usage-wrong',
    'Expected at least one of --tools, --rate, --concurrent, --may-answer, --code, --models, --tokens-per-day, --dollars-per-day and --expires.',
  );
}

/** Rules in words; empty when there are none. */
export function describeRules(rules: CallerRules): string {
  const { tools, ratePerMinute, maxConcurrent, mayAnswer, code, models, modelTokensPerDay, modelDollarsPerDay, expiresAtMs } =
    rules;
  return [
    ...(tools === undefined ? [] : [`tools ${tools.join(' ') || 'none'}`]),
    ...(ratePerMinute === undefined ? [] : [`${ratePerMinute} a minute`]),
    ...(maxConcurrent === undefined ? [] : [`${maxConcurrent} at once`]),
    ...(mayAnswer === true ? ['may answer'] : []),
    ...(code === true ? ['scripts'] : []),
    ...(models === undefined ? [] : [`models ${models.join(' ') || 'none'}`]),
    ...(modelTokensPerDay === undefined ? [] : [`${modelTokensPerDay} tokens a day`]),
    ...(modelDollarsPerDay === undefined ? [] : [`$${modelDollarsPerDay} a day`]),
    ...(expiresAtMs === undefined ? [] : [`until ${formatTime(expiresAtMs)}`]),
  ].join(', ');
}

function readDollars(text: string): number {
  const dollars = /^\d{1,7}(?:\.\d{1,6})?$/.test(text) ? Number(text) : 0;
  if (dollars > 0) return dollars;
  throw new HotcellError('usage-wrong', `Expected --dollars-per-day to be an amount such as 2.50, got "${text.slice(0, 64)}".`);
}

function readCount(flag: string, text: string, maxDigits = 7): number {
  const count = /^\d+$/.test(text) && text.length <= maxDigits ? Number(text) : 0;
  if (count >= 1) return count;
  throw new HotcellError('usage-wrong', `Expected ${flag} to be a whole number of at least 1, got "${text.slice(0, 64)}".`);
}

function readTime(text: string, nowMs: number): number {
  const [, count, unit = ''] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  const atMs = count === undefined ? Date.parse(text) : nowMs + Number(count) * (unitMs[unit] ?? 0);
  if (atMs > nowMs) return atMs;
  throw new HotcellError(
    'usage-wrong',
    `Expected --expires to be a time such as 30d or a date to come such as 2027-01-31, got "${text.slice(0, 64)}".`,
  );
}
