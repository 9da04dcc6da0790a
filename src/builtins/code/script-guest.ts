/**
 * What runs in the cell of a script: it makes `tools` of the border and runs the text of its call. Whatever the script does to this code
 * it does to its own cell alone; what it may do is decided by the host.
 */
export const scriptGuest = `(() => {
  const evaluate = globalThis.eval;
  const place = /at script \\(<[^>]*>:(\\d+)/;
  const sayWhere = (error) => {
    try {
      const [, line] = place.exec(String(error.stack)) ?? [];
      if (line !== undefined) error.message += ' (line ' + (line - 1) + ' of the script)';
    } catch {}
    return error;
  };
  const handler = async ({ code }, context) => {
    const { call } = context.tools;
    const find = (_target, name) => typeof name === 'string' && name !== 'then' ? (args = {}) => call(name, args) : undefined;
    globalThis.tools = new Proxy(Object.create(null), { get: find });
    const script = evaluate('"use strict";(' + code + '\\n)');
    try {
      return await script();
    } catch (error) {
      throw sayWhere(error);
    }
  };
  globalThis.__hotcellExports = { default: { name: 'run_code', description: 'Runs a script.', tools: { run_code: { description: 'Runs a script.', handler } } } };
})();`;
