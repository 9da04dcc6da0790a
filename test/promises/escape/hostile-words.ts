/** Names that every object has already. */
export const prototypeNames = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__'] as const;

/** Text that repaints a terminal, forges lines and ends strings. */
export const rudeText = '\u001b[2J\u001b]0;owned\u0007\r\u009b31m\u202E\nFORGED LINE {"level":50}\u2028"}';

/** One plugin with a tool for every name of a prototype. */
export const prototypeTools = `const tools = {};
for (const name of ${JSON.stringify(prototypeNames)})
  Object.defineProperty(tools, name, { enumerable: true, value: { description: 'odd', parameters: { type: 'object' }, handler: () => name } });
export default { name: 'prototypes', version: '2.0.0', description: 'odd names', tools };`;

/** Plugins whose words are hostile wherever they are shown. */
export const rudePlugins: Readonly<Record<string, string>> = {
  'rude.ts': `const rude = ${JSON.stringify(rudeText)};
export default { description: rude, tags: ['x'], parameters: { type: 'object', description: rude, properties: { [rude]: { type: 'string' } } },
  handler: (args, context) => { if (args.output) return rude; context.log.error(rude); context.progress(1, 2, rude);
    const error = new Error(rude); error.name = rude; throw error; } };`,
  'rude-key.ts': `export default { description: 'x', [${JSON.stringify(rudeText)}]: 1, handler: () => 0 };`,
  'rude-throw.ts': `throw new Error(${JSON.stringify(rudeText)});`,
  'rude\u001b[2Jname.ts': `export default { description: 'x', handler: () => 0, nope: 1 };`,
};
