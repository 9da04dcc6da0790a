import type { TypeChecker } from '../../typescript/checker.ts';
import { policyOf, readPluginTexts } from '../diagnosis/plugin-texts.ts';
import type { TrialParts } from './try-proposal.ts';

/** All trials together are one caller of the language service. */
const callerId = 'trial';

/** Asks the language service for the faults of the types of a plugin, on the disk and with other texts in its place. */
export function createTypeFaults(parts: {
  readonly checker: Pick<TypeChecker, 'inspect'>;
  readonly sharedDirs: () => readonly string[];
}): TrialParts['findTypeFaults'] {
  return async (source, texts, signal) => {
    const policy = policyOf(source, parts.sharedDirs());
    // A changed import may lead to a file that no text led to before.
    const files = [...new Map([...readPluginTexts(source, policy, texts), ...texts])].map(([name, text]) => ({ name, text }));
    try {
      const { faults } = await parts.checker.inspect({ files, packageDirs: policy.packageDirs }, { callerId, signal });
      return faults;
    } catch {
      // What is too much for the language service is not known; that is no fault of the change.
      signal.throwIfAborted();
      return undefined;
    }
  };
}
