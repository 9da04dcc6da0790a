import { createInspect, policyOf, readPluginTexts } from '../diagnosis/plugin-texts.ts';
import type { TrialParts } from './try-proposal.ts';

/** Asks the language service for the faults of the types of a plugin, on the disk and with other texts in its place. */
export function createTypeFaults(parts: {
  readonly checker: Parameters<typeof createInspect>[0];
  readonly sharedDirs: () => readonly string[];
}): TrialParts['findTypeFaults'] {
  const inspect = createInspect(parts.checker, 'trial');
  return async (source, texts, signal) => {
    const policy = policyOf(source, parts.sharedDirs());
    // A changed import may lead to a file that no text led to before.
    const all = new Map([...readPluginTexts(source, policy, texts), ...texts]);
    return (await inspect(all, { packageDirs: policy.packageDirs, signal }))?.faults;
  };
}
