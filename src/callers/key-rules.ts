import { Compile } from 'typebox/compile';
import type { Config } from '../config/config-types.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { ToolOwners } from '../names/tool-owners.ts';
import { type Caller, type CallerRules, keyRules } from './caller.ts';

/** Rules as somebody changes them: `null` takes a rule away, what is absent stays. */
export type RulesChange = { readonly [Rule in keyof CallerRules]?: CallerRules[Rule] | null | undefined };

const storedRules = Compile(keyRules);
// A key whose rules cannot be read must not become one without rules.
const lockedOut: CallerRules = Object.freeze({ tools: [], expiresAtMs: 0 });

/** Reads the rules of a row; rules that are damaged let nobody in. */
export function readRules(rulesJson: string): CallerRules {
  try {
    const rules: unknown = JSON.parse(rulesJson);
    return storedRules.Check(rules) ? Object.freeze(rules) : lockedOut;
  } catch {
    return lockedOut;
  }
}

/** Lays a change over the rules of a key. Throws `body-invalid` for rules that would mean nothing. */
export function changeRules(role: Caller['role'], rules: CallerRules, change: RulesChange, nowMs: number): CallerRules {
  const entries = Object.entries({ ...rules, ...change }).filter(([, value]) => value !== null && value !== undefined);
  const changed: unknown = Object.fromEntries(entries);
  if (!storedRules.Check(changed)) throw new HotcellError('body-invalid', 'The rules of the key are not valid together.');
  if (role === 'admin' && (changed.tools !== undefined || changed.mayAnswer !== undefined)) {
    const message = 'tools and mayAnswer are rules for keys of role caller: an admin sees and answers all.';
    throw new HotcellError('body-invalid', message, {
      fix: 'Make a key of role caller, or leave these rules out.',
    });
  }
  if (typeof change.expiresAtMs === 'number' && change.expiresAtMs <= nowMs) {
    const at = new Date(change.expiresAtMs).toISOString();
    throw new HotcellError('body-invalid', `The key would have expired already: ${at} is past.`);
  }
  return Object.freeze(changed);
}

/** Who uses a key with these rules: what the key does not say, the config says for keys of role caller. */
export function callerOf(
  key: { id: string; role: Caller['role']; toolOwners: ToolOwners },
  rules: CallerRules,
  defaults: Config['callers'],
): Caller {
  const { id, role, toolOwners } = key;
  const fallback = role === 'caller' ? defaults : { ratePerMinute: 0, maxConcurrent: 0 };
  const { ratePerMinute = fallback.ratePerMinute, maxConcurrent = fallback.maxConcurrent } = rules;
  return Object.freeze({
    ...rules,
    id,
    role,
    ...(Object.keys(toolOwners).length === 0 ? {} : { toolOwners }),
    ...(ratePerMinute > 0 ? { ratePerMinute } : {}),
    ...(maxConcurrent > 0 ? { maxConcurrent } : {}),
  });
}
