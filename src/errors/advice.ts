/** Steps that only an operator can take: commands that need an admin, settings, and the files of the daemon. */
const forOperators =
  /hotcell (?:grant|revoke|why|plugin|hook|doctor|images|approve|key|secret|start|executions show)\b|\bconfig\b|\bSet (?:the mode|safeMode)|\braise (?:limits|queue|tools|kv|files)\.|\b(?:grant|log of the daemon|data directory)\b/;

/** The next step for somebody: who cannot take it hears who can, instead of a command that would be refused. */
export function adviseFor(role: 'admin' | 'caller' | undefined, fix: string): string {
  // What lists choices, or begins with a step of one's own, may name such things.
  if (role !== 'caller' || /operator|^(?:Known are|Send Author)/i.test(fix) || !forOperators.test(fix)) return fix;
  return `Ask the operator, who can help: ${fix}`;
}
