import type { EngineNeed } from '../../engines/ladder.ts';
import { needOf } from './specifiers.ts';

/** Name of the error of a built-in that a package reached for only when it ran. */
const errorName = 'BuiltinRefused';

/** The text of a module that stands for a built-in that is not there. The name tells the daemon that the engine is at fault. */
export function throwRefusal(message: string): string {
  return `throw Object.assign(new Error(${JSON.stringify(message)}), { name: ${JSON.stringify(errorName)} });\n`;
}

/**
 * The built-in that such a module stood for, as the error of a load or a call says. A plugin that forges the error gains
 * nothing that an import would not give it.
 */
export function findRefusedBuiltin(error: { readonly name?: string; readonly message: string }): EngineNeed | undefined {
  return error.name === errorName ? needOf(/has no Node built-in "([^"]+)"/.exec(error.message)?.[1] ?? '') : undefined;
}
