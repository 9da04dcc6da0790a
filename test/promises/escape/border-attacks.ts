import type { Attack } from './attack.ts';

const outcomes =
  "(run) => { try { const got = run(); return got === undefined ? 'nothing' : typeof got } catch (error) { return error.code ?? error.name } }";

/** Operations that the guest was never meant to ask at once. */
const strangeOps = [
  '',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'settle',
  'enter',
  'load',
  'host',
  'fetch',
  'files.read',
  'kv.get',
  'tools.call',
  'run',
  'timer',
  'exit',
  'module',
  'crypto.digest',
  'x'.repeat(2000),
];

/** Forged messages over the hook that the prelude leaves for shims. */
export const borderAttacks: readonly Attack[] = [
  ...strangeOps.map(
    (op): Attack => ({
      name: `the operation ${JSON.stringify(op.slice(0, 20))} asked at once, without what belongs to it`,
      body: `const how = ${outcomes}; return ['string', 'number', 'undefined'].includes(how(() => ask(${JSON.stringify(op)}, 'x'))) ? 'answered' : 'refused'`,
      gives: 'refused',
    }),
  ),
  { name: 'a forged return ends only its own call', body: `ask('return', '"forged"'); return 'real'`, gives: 'forged' },
  {
    name: 'a second forged return changes nothing',
    body: `ask('return', '1'); ask('return', '2'); ask('throw', '{}')`,
    gives: 1,
  },
  { name: 'a forged return that is not JSON', body: `ask('return', '{"a":'); return 1`, fails: ['output-invalid'] },
  { name: 'a forged return that is empty', body: `ask('return', ''); return 1`, fails: ['output-invalid'] },
  {
    name: 'a forged return with keys of prototypes is plain data',
    body: `ask('return', '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}')`,
    gives: JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'),
  },
  {
    name: 'a forged return beyond the limit',
    body: `ask('return', JSON.stringify('x'.repeat(2e6)))`,
    fails: ['output-exceeded'],
  },
  {
    name: 'a forged return that nests without end',
    body: `ask('return', '['.repeat(4e5) + ']'.repeat(4e5))`,
    fails: ['output-invalid'],
  },
  { name: 'a forged throw without a report', body: `ask('throw', 'no json')`, fails: ['handler-threw'] },
  {
    name: 'a forged throw with a huge report',
    body: `ask('throw', JSON.stringify({ message: 'm'.repeat(3e6), name: 'n'.repeat(1e6), stack: 's'.repeat(3e6), code: 'c'.repeat(1e6) }))`,
    fails: ['handler-threw'],
  },
  {
    name: 'a forged stack made to take for ever to read',
    body: `ask('throw', JSON.stringify({ message: 'x', stack: ('at ' + 'a '.repeat(4e5) + 'x:1'.repeat(4e5) + '!') }))`,
    fails: ['handler-threw'],
  },
  {
    name: 'a forged stack with lines that no file has',
    body: `ask('throw', JSON.stringify({ message: 'x', stack: 'at f (plugin.js:0:0)\\nat g (plugin.js:99999999999999999999:1)\\nat h (/etc/passwd:1:1)' }))`,
    fails: ['handler-threw'],
  },
  {
    name: 'a forged code that only the host gives',
    body: `ask('throw', '{"message":"x","code":"internal"}')`,
    fails: ['handler-threw'],
  },
  {
    name: 'a forged loaded in the middle of a call',
    body: `ask('loaded', '{"default":{}}'); return 'real'`,
    fails: ['handler-never-settles'],
  },
  {
    name: 'forged cancellations of questions that do not exist do not lift the limit of waiting calls',
    body: `for (let id = 0; id < 5000; id++) ask('cancel', String(1e6 + id));
      let refused = 0; for (let n = 0; n < 200; n++) context.kv.get('k').catch((error) => { refused += error.code === 'pending-host-calls-exceeded' });
      await Promise.resolve(); await Promise.resolve(); await Promise.resolve(); await Promise.resolve(); return refused`,
    gives: 136,
  },
  {
    name: 'forged cancellations with odd ids',
    body: `for (const id of ['null', '"x"', '{}', '-1', '1e999', 'true', '[1]']) ask('cancel', id); await new Promise((done) => setTimeout(done, 1)); return 'fired'`,
    gives: 'fired',
  },
  {
    name: 'a huge name of an operation',
    body: `const name = 'x'.repeat(2e5); const asked = []; for (let n = 0; n < 60; n++) asked.push(context.agent[name]().then(() => 'answered', (error) => error.code));
      return [...new Set(await Promise.all(asked))]`,
    gives: ['answered'],
  },
  {
    name: 'huge payloads that wait at once',
    body: `const value = 'x'.repeat(3e6); const asked = []; for (let n = 0; n < 60; n++) asked.push(context.kv.set('k', value).then(() => 'answered', (error) => error.code));
      return [...new Set(await Promise.all(asked))].sort()`,
    gives: ['answered', 'pending-host-calls-exceeded'],
    fails: ['time-exceeded'],
  },
  {
    name: 'huge lines of the log',
    body: `const line = JSON.stringify({ level: 'info', text: 'x'.repeat(4e6) }); for (let n = 0; n < 300; n++) ask('log', line); return 'done'`,
    gives: 'done',
  },
  {
    name: 'log lines that are no lines',
    body: `for (const line of ['', 'null', '[]', '{"level":"fatal","text":{"a":1}}', '{"text":"\\\\u001b[2J\\\\u0007"}', '{"__proto__":{"text":1}}', '7']) ask('log', line); return 'done'`,
    gives: 'done',
  },
  {
    name: 'huge messages of progress',
    body: `const line = JSON.stringify({ done: 1, message: 'x'.repeat(4e6) }); for (let n = 0; n < 60; n++) ask('progress', line); return 'done'`,
    gives: 'done',
  },
  {
    name: 'progress that is no number',
    body: `for (const line of ['{"done":"1"}', '{"done":1e999}', '{"done":null}', '[]', '']) ask('progress', line); context.progress(NaN, Infinity, {}); return 'done'`,
    gives: 'done',
  },
  {
    name: 'config and env by names of prototypes',
    body: `return ['__proto__', 'constructor', 'toString', 'valueOf', '__defineGetter__', 'HOTCELL_TOKEN', 'PATH'].map((name) => [context.config.get(name) ?? null, context.env.get(name) ?? null])`,
    gives: Array(7).fill([null, null]),
  },
  {
    name: 'a config value with keys of prototypes is plain data',
    body: `const value = context.config.get('odd'); return [Object.keys(value), ({}).polluted ?? null]`,
    gives: [['__proto__', 'constructor'], null],
  },
  {
    name: 'the name of an operation that changes between reads',
    body: `let n = 0; const shifty = { toString: () => (n++ ? 'crypto.random' : 'no.such') }; try { ask(shifty, '8'); return 'answered' } catch (error) { return [error.code, n] }`,
    gives: ['not-supported', 1],
  },
  {
    name: 'a payload that changes what it is sent with',
    body: `const bytes = new ArrayBuffer(8); try { ask('bytes.text', { toString() { bytes.transfer?.(0); return '"hex"' } }, bytes) } catch {} return bytes.byteLength <= 8`,
    gives: true,
  },
  {
    name: 'arguments whose reading throws',
    body: `const bad = { toString() { throw new Error('no') }, valueOf() { throw new Error('no') } }; const how = ${outcomes};
      return [how(() => ask(bad, '')), how(() => ask('text.encode', bad)), how(() => ask('bytes.text', '"hex"', bad))].every((each) => each !== 'function')`,
    gives: true,
  },
  {
    name: 'too few, too many and odd arguments',
    body: `const how = ${outcomes}; for (const args of [[], [1], [null, null], [Symbol.iterator], ['clock'], ['clock', '', 1, 2, 3], [{}, {}, {}, {}], ['bytes.text', '"hex"', 'text'], ['bytes.text', '"hex"', {}]]) how(() => ask(...args)); return 'done'`,
    gives: 'done',
  },
  {
    name: 'detached, empty and resizable buffers',
    body: `const how = ${outcomes}; const detached = new ArrayBuffer(8); detached.transfer?.(); const resizable = new ArrayBuffer(8, { maxByteLength: 1e6 }); resizable.resize?.(1e6); resizable.resize?.(2);
      for (const body of [detached, resizable, new ArrayBuffer(0), new Uint8Array(4), new DataView(new ArrayBuffer(4)), new Proxy(new ArrayBuffer(4), {})]) how(() => ask('bytes.text', '"hex"', body));
      return ask('bytes.text', '"hex"', new Uint8Array([1, 255]).buffer)`,
    gives: '"01ff"',
  },
  {
    name: 'crypto with sizes of any kind',
    body: `const how = ${outcomes}; return ['-1', '1e9', 'NaN', '', '0x10', '65537', ' 8 ', '{}'].map((size) => how(() => ask('crypto.random', size))).filter((each) => each === 'arguments-invalid').length >= 5`,
    gives: true,
  },
  {
    name: 'modules of the web API by names of prototypes and paths',
    body: `const how = ${outcomes}; return ['__proto__', 'constructor', '../main', '/etc/passwd', ''].map((name) => how(() => ask('module', name)))`,
    gives: Array(5).fill('not-found'),
  },
  {
    name: 'an answer of the host when the cell has no memory left',
    body: `const kept = []; try { for (;;) kept.push(new ArrayBuffer(1 << 20)) } catch {} try { for (;;) kept.push(ask('crypto.random', '65536')) } catch {} return 'done'`,
    gives: 'done',
    fails: ['memory-exceeded', 'engine-failed', 'time-exceeded'],
  },
  {
    name: 'payloads as large as the memory, while the host copies',
    body: `const half = 'é'.repeat(6e6); for (let n = 0; n < 12; n++) try { ask('text.encode', JSON.stringify(half)) } catch {} return 'done'`,
    gives: 'done',
    fails: ['memory-exceeded', 'engine-failed', 'time-exceeded'],
  },
  {
    name: 'recordings are bounded, whatever is asked',
    body: `for (let n = 0; n < 300; n++) { for (let m = 0; m < 1000; m++) ask('config.get', ''); await context.kv.get('k') } return 'done'`,
    gives: 'done',
    fails: ['time-exceeded'],
  },
  {
    name: 'host calls with bodies that never stop',
    body: `const bytes = new Uint8Array(8e6); for (;;) ask('crypto.digest', 'sha256', bytes.buffer)`,
    fails: ['time-exceeded', 'memory-exceeded'],
  },
];
