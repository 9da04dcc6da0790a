import type { CallerRules } from '../../../callers/caller.ts';
import { omitUndefined } from '../../../config/json-object.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { formatTime } from '../../render/time-text.ts';

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

const rulesByFlag: Readonly<Record<keyof RuleFlags, keyof CallerRules>> = {
  tools: 'tools',
  rate: 'ratePerMinute',
  concurrent: 'maxConcurrent',
  mayAnswer: 'mayAnswer',
  code: 'code',
  models: 'models',
  tokensPerDay: 'modelTokensPerDay',
  dollarsPerDay: 'modelDollarsPerDay',
  expires: 'expiresAtMs',
};

/** A change as `keys.update` takes it: null takes a rule away. */
type RuleChanges = { readonly [Rule in keyof CallerRules]: CallerRules[Rule] | null };

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };

/** The rules of a new key. Throws `usage-wrong`. */
export function readNewRules(flags: RuleFlags, nowMs: number): CallerRules {
  return omitUndefined({
    tools: flags.tools,
    ratePerMinute: readWhole('--rate', flags.rate),
    maxConcurrent: readWhole('--concurrent', flags.concurrent),
    mayAnswer: flags.mayAnswer || undefined,
    code: flags.code || undefined,
    models: flags.models,
    modelTokensPerDay: readWhole('--tokens-per-day', flags.tokensPerDay, 12),
    modelDollarsPerDay: readDollars(flags.dollarsPerDay),
    expiresAtMs: readTime(flags.expires, nowMs),
  });
}

/** What is to change; `none` takes a rule away. Throws `usage-wrong`, also when nothing is named. */
export function readRuleChanges(flags: RuleFlags, nowMs: number): RuleChanges {
  const isTaken = (said: unknown): boolean => said === false || String(said) === 'none';
  const laidDown: RuleFlags = Object.fromEntries(Object.entries(flags).filter(([, said]) => !isTaken(said)));
  const taken = Object.entries(rulesByFlag).filter(([flag]) => isTaken(Object(flags)[flag]));
  const change = { ...readNewRules(laidDown, nowMs), ...Object.fromEntries(taken.map(([, rule]) => [rule, null])) };
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

function readDollars(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const dollars = /^\d{1,7}(?:\.\d{1,6})?$/.test(text) ? Number(text) : 0;
  if (dollars > 0) return dollars;
  throw new HotcellError('usage-wrong', `Expected --dollars-per-day to be an amount such as 2.50, got "${text.slice(0, 64)}".`);
}

function readWhole(flag: string, text: string | undefined, maxDigits = 7): number | undefined {
  if (text === undefined) return undefined;
  const count = /^\d+$/.test(text) && text.length <= maxDigits ? Number(text) : 0;
  if (count >= 1) return count;
  throw new HotcellError('usage-wrong', `Expected ${flag} to be a whole number of at least 1, got "${text.slice(0, 64)}".`);
}

function readTime(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined;
  const [, count, unit = ''] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  const atMs = count === undefined ? Date.parse(text) : nowMs + Number(count) * (unitMs[unit] ?? 0);
  if (atMs > nowMs) return atMs;
  throw new HotcellError(
    'usage-wrong',
    `Expected --expires to be a time such as 30d or a date to come such as 2027-01-31, got "${text.slice(0, 64)}".`,
  );
}
