import type { Attack } from './attack.ts';

const hostNames =
  '[typeof process.mainModule, typeof require, typeof host, typeof WebAssembly, typeof module, typeof Deno, typeof __hotcellEntry, typeof std, typeof os].join()';
const nothingOfTheHost = Array(9).fill('undefined').join();

/** Ways out through the language itself: constructors, prototypes, proxies, generators, modules. */
export const languageAttacks: readonly Attack[] = [
  {
    name: 'the constructor of a constructor finds no host',
    body: `return ({}).constructor.constructor('return ${hostNames}')()`,
    gives: nothingOfTheHost,
  },
  {
    name: 'constructors of async and generator functions find no host',
    body: `const make = (f) => Object.getPrototypeOf(f).constructor('return ${hostNames}');
      return [await make(async () => {})(), make(function* () {})().next().value, (await make(async function* () {})().next()).value]`,
    gives: [nothingOfTheHost, nothingOfTheHost, nothingOfTheHost],
  },
  { name: 'indirect eval finds no host', body: `return (0, eval)("${hostNames}")`, gives: nothingOfTheHost },
  {
    name: 'this of a sloppy function is the global object of the cell alone',
    body: `return Function('return this')() === globalThis && ${hostNames}`,
    gives: nothingOfTheHost,
  },
  {
    name: 'callers and arguments lead to no function of the prelude',
    body: `const tried = [];
      for (const read of [() => arguments.callee, () => Function('return arguments.callee.caller')(), () => Function('return function f() { return f.caller }')()()])
        try { tried.push(String(read())) } catch (error) { tried.push(error.name) }
      return tried.every((each) => !/hostImport|native host/.test(each))`,
    gives: true,
  },
  {
    name: 'the constructor of what the host import belongs to is that of the cell',
    body: 'return [ask.constructor === Function, Object.getPrototypeOf(ask) === Function.prototype, Reflect.ownKeys(ask).sort().join()]',
    gives: [true, true, 'length,name,prototype'],
  },
  {
    name: 'errors of the host are errors of the cell, without a stack of the host',
    body: `try { ask('no.such', '') } catch (error) {
      return [error instanceof Error, Object.getPrototypeOf(error) === Error.prototype, error.constructor === Error, /node:|worker|\\.ts:|file:/.test(String(error.stack))] }`,
    gives: [true, true, true, false],
  },
  {
    name: 'prepareStackTrace sees no frame of the host',
    body: `let seen = ''; Error.prepareStackTrace = (error, frames) => { seen += JSON.stringify(frames?.map?.((f) => String(f.getFileName?.()) + String(f.getThis?.()) + String(f.getFunction?.()))); return seen };
      try { ask('no.such', '') } catch (error) { seen += String(error.stack) } finally { delete Error.prepareStackTrace }
      return /node:|worker|\\.ts\\b|file:/.test(seen)`,
    gives: false,
  },
  {
    name: 'a getter for the stack of an error runs inside its limits and its cell',
    body: `const error = new Error('x'); Object.defineProperty(error, 'stack', { get() { globalThis.stolen = 1; return 'at f (/etc/passwd:1:1)' } }); throw error`,
    fails: ['handler-threw'],
  },
  {
    name: 'a stack that never ends is cut',
    body: `const error = new Error('x'.repeat(1e6)); error.stack = 'at a (plugin.js:1:1)\\n'.repeat(3e4); throw error`,
    fails: ['handler-threw'],
  },
  { name: 'a thrown proxy', body: 'throw new Proxy({}, { get() { throw new Error("no") } })', fails: ['handler-threw'] },
  {
    name: 'a thrown object whose getters never end',
    body: 'throw { get message() { while (true); } }',
    fails: ['time-exceeded'],
  },
  {
    name: 'a thrown object that answers differently each time',
    body: 'let n = 0; throw { get name() { return n++ ? "SandboxError" : "Error" }, get code() { return n++ ? "permission-denied" : 7 }, message: "x" }',
    fails: ['handler-threw', 'permission-denied'],
  },
  { name: 'a thrown symbol', body: 'throw Symbol("x")', fails: ['handler-threw'] },
  { name: 'a thrown null', body: 'throw null', fails: ['handler-threw'] },
  {
    name: 'a claim of a code that only the host gives',
    body: 'throw Object.assign(new Error("x"), { code: "unauthenticated", name: "HotcellError" })',
    fails: ['handler-threw'],
  },
  {
    name: 'a proxy as the result is read as data',
    body: 'return new Proxy({ a: 1 }, { get: (target, key) => { globalThis.stolen = key; return target[key] } })',
    gives: { a: 1 },
  },
  {
    name: 'a revoked proxy as the result',
    body: 'const { proxy, revoke } = Proxy.revocable({}, {}); setTimeout(revoke, 0); await new Promise((done) => setTimeout(done, 1)); return proxy',
    fails: ['handler-threw'],
  },
  {
    name: 'a thenable as the result gets plain resolving functions',
    body: 'return { then(resolve, reject) { resolve([resolve.constructor === Function, (() => { try { return String(resolve.caller) } catch { return "refused" } })()]) } }',
    gives: [true, 'refused'],
  },
  {
    name: 'a thenable that settles again and again',
    body: 'return { then(resolve, reject) { resolve(1); reject(new Error("2")); resolve(3) } }',
    gives: 1,
  },
  {
    name: 'toJSON that climbs',
    body: 'return { toJSON() { return ({}).constructor.constructor("return typeof process.mainModule")() } }',
    gives: 'undefined',
  },
  {
    name: 'toJSON on all objects poisons only its own answer',
    body: 'Object.prototype.toJSON = function () { return "mine" }; return { a: 1 }',
    gives: 'mine',
  },
  {
    name: 'species of arrays and promises',
    body: `class Mine extends Promise { static get [Symbol.species]() { return function (run) { run(() => {}, () => {}); globalThis.stolen = 1 } } }
      return Promise.race([Mine.resolve(1).constructor === Mine])`,
    gives: true,
  },
  {
    name: 'Promise.prototype.then replaced in the middle of a call',
    body: 'Promise.prototype.then = function () { globalThis.stolen = this; return this }; return context.kv.get("a").constructor.name',
    gives: 'Promise',
  },
  {
    name: 'a setter on Object.prototype sees no answer of the host',
    body: `const seen = []; Object.defineProperty(Object.prototype, 'payload', { set(value) { seen.push(value) }, configurable: true });
      await context.kv.get('a'); delete Object.prototype.payload; return seen.filter((each) => typeof each !== 'string').length`,
    gives: 0,
  },
  {
    name: 'Map.prototype replaced sees nothing but its own questions',
    body: `const seen = []; const { set } = Map.prototype; Map.prototype.set = function (key, value) { seen.push(typeof value.resolve); return set.call(this, key, value) };
      await context.kv.get('a'); Map.prototype.set = set; return seen`,
    gives: ['function'],
  },
  {
    name: 'shared memory does not leave the cell',
    body: `if (typeof SharedArrayBuffer !== 'function') return 'none';
      try { const shared = new SharedArrayBuffer(16); ask('text.decode', '{"label":"utf-8","fatal":false,"ignoreBOM":false}', shared); return 'none' } catch (error) { return 'none' }`,
    gives: 'none',
  },
  {
    name: 'Atomics.wait does not hold the thread',
    body: `try { return Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60000) } catch (error) { return 'refused' }`,
    gives: 'refused',
  },
  ...[
    'node:fs',
    'fs',
    'file:///etc/passwd',
    'data:text/javascript,export default 1',
    '/etc/passwd',
    './plugin.js',
    'std',
    'os',
    '',
  ].map(
    (specifier): Attack => ({
      name: `import(${JSON.stringify(specifier)}) while the call runs`,
      body: `try { const module = await Function('return import(${JSON.stringify(specifier)})')(); return Object.keys(module) } catch (error) { return 'refused' }`,
      gives: 'refused',
    }),
  ),
  {
    name: 'import.meta',
    body: `try { return Function('return import.meta')() } catch (error) { return error.name }`,
    gives: 'SyntaxError',
  },
  {
    name: 'require, process.binding and their kin',
    body: `return ['require', 'process.mainModule', 'process.dlopen', 'Buffer.constructor.constructor("return process")', 'globalThis.constructor.constructor("return process.env.PATH")()'].map((text) => { try { return typeof (0, eval)(text) } catch (error) { return error.name } })`,
    gives: ['ReferenceError', 'undefined', 'function', 'function', 'undefined'],
  },
  {
    name: 'a weak reference or a registry of finalizers does not outlive the call',
    body: `globalThis.stolen = new WeakRef({}); const registry = new FinalizationRegistry(() => { globalThis.stolen = 'after' }); registry.register({}, 1); return typeof globalThis.stolen`,
    gives: 'object',
  },
  {
    name: 'globals, prototypes and frozen intrinsics do not outlive the call',
    body: `globalThis.stolen = 1; Object.prototype.polluted = 1; Array.prototype.sort = () => ['mine']; JSON.stringify = () => 'mine';
      Object.freeze(Object.prototype); globalThis.URL = class { pathname = 'mine' }; return 'done'`,
    gives: 'done',
  },
  {
    name: 'timers and promises of an ended call never run',
    body: `setTimeout(() => { globalThis.stolen = 1 }, 0); Promise.resolve().then(async () => { await context.kv.get('x'); globalThis.stolen = 1 }); return 'done'`,
    gives: 'done',
  },
  {
    name: 'recursion through the border at the end of the stack',
    body: `let depth = 0; const down = () => { depth++; try { ask('clock', ''); down() } catch { ask('clock', '') } }; try { down() } catch {} return depth > 50`,
    gives: true,
  },
  {
    name: 'recursion inside the reading of an argument',
    body: `let depth = 0; const down = { toString() { depth++; return String(ask(down, down)) } }; try { ask(down, '') } catch {} return depth > 1`,
    fails: ['time-exceeded', 'memory-exceeded'],
  },
  {
    name: 'a regular expression that never ends, called by the border',
    body: `return ask({ toString() { return /(a+)+$/.test('a'.repeat(40) + '!') } }, '')`,
    fails: ['time-exceeded'],
  },
];
