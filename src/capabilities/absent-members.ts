import type { BorderRequest } from '../border/border.ts';
import type { Capability } from '../border/capability.ts';
import { HotcellError } from '../errors/hotcell-error.ts';

const fix = 'See hotcell docs plugin-format for what the context offers.';

const sentences: ReadonlyMap<string, string> = new Map([
  ['skill', 'context.skill is not part of this version: skills are not read.'],
]);

/** Members of `context` that plugins of other systems may use: each is refused by its name, whatever was granted. */
export const namedRefusals: Capability = {
  operations: Object.fromEntries([...sentences.keys(), 'agent.*', 'browser.*'].map((name) => [name, refuse])),
};

async function refuse({ op }: BorderRequest): Promise<never> {
  throw refuseOperation(op);
}

/** The refusal of something that the context does not have, by the name that the plugin used. */
export function refuseOperation(op: string): HotcellError {
  const member = op.slice(0, 80).replaceAll(/[^\w.$-]/g, '?');
  return new HotcellError('not-supported', sentences.get(op) ?? `context.${member} is not part of this version.`, { fix });
}
