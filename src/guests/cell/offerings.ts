/** The functions behind prompts and resources, brought to the form of a tool. */

type Table = Record<string, unknown>;

interface Callable {
  readonly handler: (args: unknown, context: unknown) => unknown;
}

/** What a key such as `prompt:NAME`, `resource:NAME` or `complete:prompt:NAME:ARGUMENT` means; undefined for every other one. */
export function findOffering(plugin: Table | undefined, key: string): Callable | undefined {
  const [kind = '', name = '', ...rest] = key.split(':');
  if (kind === 'complete') return findCompletion(plugin, name, rest);
  const offering = findIn(plugin?.[`${kind}s`], name);
  const member = kind === 'prompt' ? 'handler' : 'read';
  const work = offering?.[member];
  if (typeof work !== 'function') return undefined;
  return { handler: (args, context) => work.call(offering, args, context) };
}

/** The function of the plugin gets what was typed so far, and the values of the other arguments. */
function findCompletion(plugin: Table | undefined, kind: string, [name = '', argument = '']: readonly string[]) {
  const offering = findIn(plugin?.[`${kind}s`], name);
  const holder = kind === 'prompt' ? findArgument(offering?.arguments, argument) : (offering?.complete as Table | undefined);
  const complete = holder?.[kind === 'prompt' ? 'complete' : argument];
  if (typeof complete !== 'function') return undefined;
  return { handler: (args: unknown) => complete.call(offering, (args as Table).value, (args as Table).context) };
}

function findArgument(args: unknown, name: string): Table | undefined {
  if (!Array.isArray(args)) return findIn(args, name);
  return args.find((each) => (each as Table | null)?.name === name) as Table | undefined;
}

function findIn(table: unknown, name: string): Table | undefined {
  if (typeof table !== 'object' || table === null || !Object.hasOwn(table, name)) return undefined;
  const found = (table as Table)[name];
  return typeof found === 'object' && found !== null ? (found as Table) : undefined;
}
