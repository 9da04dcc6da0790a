import type { EngineNeed } from '../../engines/escalation.ts';
import { needOf } from './specifiers.ts';

/**
 * What the engine did not have, as the error of a load or a call says: a built-in of Node that a package reached for when it
 * ran, or a global. A plugin that forges the error gains nothing that an import would not give it.
 */
export function findRefusedBuiltin(error: {
  readonly name?: string;
  readonly message: string;
  readonly lacks?: string;
}): EngineNeed | undefined {
  if (error.lacks !== undefined) return needOf(error.lacks);
  const builtin = error.name === 'BuiltinRefused' ? /has no Node built-in "([^"]+)"/.exec(error.message)?.[1] : undefined;
  const required = /Dynamic require of "([^"]+)" is not supported/.exec(error.message)?.[1];
  if (required?.endsWith('.node')) return { kind: 'native-addon' };
  if (builtin !== undefined || required !== undefined) return needOf((builtin ?? required ?? '').replace(/^node:/, ''));
  const name = error.name === 'ReferenceError' ? /^'?(\w+)'? is not defined/.exec(error.message)?.[1] : undefined;
  return name !== undefined && globalsOfEngines.has(name) ? { kind: 'global', name } : undefined;
}

/** Globals that the higher engines have and the sandbox has not. */
const globalsOfEngines: ReadonlySet<string> = new Set([
  'BroadcastChannel',
  'EventSource',
  'SharedArrayBuffer',
  'WebAssembly',
  'WebSocket',
  'WebSocketStream',
  'Worker',
]);
