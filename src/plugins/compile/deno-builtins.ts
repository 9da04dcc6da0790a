import { createRequire } from 'node:module';
import Type from 'typebox';
import { Compile } from 'typebox/compile';

/**
 * Built-ins whose functions the Deno engine replaces on the module object. A named import would still get the function of the
 * runtime, which reaches no network, so that a plugin imports them from here.
 */
const replaced = ['os', 'tls'] as const;

/** A built-in whose functions are replaced while Deno runs. */
export type ReplacedBuiltin = (typeof replaced)[number];

/** Is the built-in of that name (without `node:`) one of these? */
export function isReplaced(name: string): name is ReplacedBuiltin {
  return replaced.some((each) => each === name);
}

/** The source of a module with the same names, which takes each from the module object. */
export function forwardBuiltin(name: ReplacedBuiltin): string {
  const exported = Object.keys(anyModule.Parse(createRequire(import.meta.url)(`node:${name}`)));
  const names = exported.filter((each) => /^[A-Za-z_$][\w$]*$/.test(each) && each !== 'default');
  return `import all from 'node:${name}';\nexport default all;\nexport const { ${names.join(', ')} } = all;\n`;
}

const anyModule = Compile(Type.Record(Type.String(), Type.Unknown()));
