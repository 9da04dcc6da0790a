import type { Attack } from './attack.ts';

const calm = "{ description: 'attack', handler: () => 'ran' }";

/** Poison in the image: what runs at load time, before the border or the description of the plugin. */
export const loadAttacks: readonly Attack[] = [
  {
    name: 'the entry points of the host are gone before a plugin runs',
    top: "if (typeof host !== 'undefined' || typeof __hotcellEntry !== 'undefined') throw new Error('open');",
    plugin: calm,
    gives: 'ran',
  },
  {
    name: 'JSON replaced before the plugin is described',
    top: "JSON.stringify = () => '{\"default\":7}'; JSON.parse = () => ({ handler: 'default', seed: null });",
    plugin: calm,
    gives: 'ran',
    harmsItself: true,
  },
  {
    name: 'Promise replaced before the first call',
    top: 'globalThis.Promise = class {};',
    plugin: calm,
    gives: 'ran',
    harmsItself: true,
  },
  {
    name: 'Promise.prototype.then replaced before the first call',
    top: 'Promise.prototype.then = function () { throw new Error("mine") };',
    plugin: "{ description: 'attack', handler: async () => 'ran' }",
    gives: 'ran',
    harmsItself: true,
  },
  {
    name: 'Math, Date and Map replaced',
    top: 'Math.random = Math.imul = () => 4; globalThis.Date = null; globalThis.Map = null;',
    plugin: calm,
    loadFails: ['load-failed'],
  },
  {
    name: 'Map.prototype frozen and emptied',
    top: 'for (const key of Object.getOwnPropertyNames(Map.prototype)) delete Map.prototype[key]; Object.freeze(Map.prototype);',
    plugin: calm,
    fails: ['handler-threw'],
    harmsItself: true,
  },
  {
    name: 'all intrinsics frozen',
    top: 'for (const name of Object.getOwnPropertyNames(globalThis)) { const value = globalThis[name]; if (value) { Object.freeze(value); Object.freeze(value.prototype ?? {}) } }',
    plugin: calm,
    loadFails: ['load-failed'],
  },
  {
    name: 'setters on Object.prototype',
    top: "for (const key of ['default', 'handler', 'payload', 'body', 'resolve', 'seed', 'message', 'code']) Object.defineProperty(Object.prototype, key, { set() {}, get() { return 'mine' }, configurable: true });",
    plugin: calm,
    gives: 'ran',
    fails: ['handler-threw', 'handler-never-settles'],
    harmsItself: true,
  },
  {
    name: 'iterators of arrays replaced',
    top: 'Array.prototype[Symbol.iterator] = function* () { yield 1 };',
    plugin: calm,
    gives: 'ran',
    harmsItself: true,
  },
  {
    name: 'Function.prototype.call replaced',
    top: 'Function.prototype.call = Function.prototype.apply = () => "mine";',
    plugin: calm,
    gives: 'mine',
    fails: ['handler-threw'],
    harmsItself: true,
  },
  {
    name: 'a forged description',
    top: 'globalThis[Symbol.for(\'hotcell.askNow\')](\'loaded\', \'{"default":{"name":"other"}}\');',
    plugin: calm,
    gives: 'ran',
  },
  {
    name: 'a forged description that is not JSON',
    top: "globalThis[Symbol.for('hotcell.askNow')]('loaded', '{\"a\":');",
    plugin: calm,
    loadFails: ['load-failed'],
  },
  {
    name: 'a forged description that is empty',
    top: "globalThis[Symbol.for('hotcell.askNow')]('loaded', '');",
    plugin: calm,
    loadFails: ['load-failed'],
  },
  {
    name: 'a forged description that nests without end',
    top: "globalThis[Symbol.for('hotcell.askNow')]('loaded', '['.repeat(4e5) + ']'.repeat(4e5));",
    plugin: calm,
    loadFails: ['load-failed'],
  },
  {
    name: 'a forged description of many megabytes',
    top: "globalThis[Symbol.for('hotcell.askNow')]('loaded', JSON.stringify('x'.repeat(5e6)));",
    plugin: calm,
    loadFails: ['output-exceeded'],
  },
  {
    name: 'a forged return while it loads',
    top: "globalThis[Symbol.for('hotcell.askNow')]('return', '1');",
    plugin: calm,
    loadFails: ['load-failed'],
  },
  {
    name: 'questions while it loads',
    plugin: "{ description: 'attack', onLoad: () => fetch('http://localhost'), handler: () => 0 }",
    loadFails: ['load-failed', 'permission-denied', 'not-supported'],
  },
  {
    name: 'timers while it loads',
    plugin: "{ description: 'attack', onLoad: () => new Promise((done) => setTimeout(done, 1)), handler: () => 0 }",
    loadFails: ['load-failed', 'permission-denied', 'not-supported'],
  },
  {
    name: 'a getter that answers differently each time',
    plugin:
      "(() => { let n = 0; return { description: 'attack', get handler() { n++; return n < 3 ? () => 'ran' : 'no function' } } })()",
    gives: 'ran',
    fails: ['handler-threw'],
    harmsItself: true,
  },
  {
    name: 'a getter that never ends',
    plugin: '{ get description() { while (true); }, handler: () => 0 }',
    loadFails: ['time-exceeded'],
  },
  {
    name: 'a proxy with keys without end',
    plugin:
      "new Proxy({}, { ownKeys: () => Array.from({ length: 1e5 }, (_, n) => 'k' + n), getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }), get: (_, key) => (key === 'default' ? undefined : {}) })",
    loadFails: ['load-failed', 'output-exceeded', 'memory-exceeded', 'time-exceeded'],
  },
  {
    name: 'a hundred thousand tools',
    plugin:
      "{ description: 'attack', tools: Object.fromEntries(Array.from({ length: 1e5 }, (_, n) => ['t' + n, { handler() {} }])) }",
    loadFails: ['load-failed', 'output-exceeded', 'memory-exceeded'],
  },
  {
    name: 'a name of a megabyte',
    plugin: "{ name: 'n'.repeat(2e6), description: 'attack', handler: () => 0 }",
    loadFails: ['output-exceeded'],
  },
  {
    name: 'a description that nests and refers to itself',
    plugin:
      "(() => { let deep = {}; for (let n = 0; n < 5000; n++) deep = { deep }; deep.self = deep; return { description: 'attack', metadata: deep, handler: () => 'ran' } })()",
    gives: 'ran',
  },
  {
    name: 'a schema that makes its description for ever',
    plugin:
      "{ description: 'attack', parameters: { '~standard': { jsonSchema: { input() { while (true); } } } }, handler: () => 0 }",
    loadFails: ['time-exceeded'],
  },
  {
    name: 'a schema that describes itself by another schema',
    plugin:
      "{ description: 'attack', parameters: { '~standard': {}, toJSONSchema() { return { toJSON() { return { type: 'object', '~standard': 1 } } } } }, handler: () => 'ran' }",
    gives: 'ran',
  },
  {
    name: 'a throw of a megabyte while it loads',
    top: "throw 'm'.repeat(1e6);",
    loadFails: ['load-failed'],
  },
  {
    name: 'an error of a megabyte while it loads',
    top: "throw Object.assign(new Error('m'.repeat(1e6)), { name: 'n'.repeat(1e6) });",
    loadFails: ['load-failed'],
  },
  {
    name: 'a throw that is a proxy without end while it loads',
    top: 'throw new Proxy({}, { get() { while (true); } });',
    plugin: calm,
    loadFails: ['time-exceeded'],
  },
  {
    name: 'memory taken while it loads',
    top: 'const all = []; for (;;) all.push(new Array(1000).fill(all));',
    plugin: calm,
    loadFails: ['memory-exceeded', 'load-failed', 'time-exceeded'],
  },
  {
    name: 'promises left behind in the image',
    top: 'Promise.resolve().then(function again() { globalThis.stolen = 1; return Promise.resolve() });',
    plugin: calm,
    gives: 'ran',
    harmsItself: true,
  },
  {
    name: 'a promise that breeds while it loads',
    top: 'const again = () => Promise.resolve().then(again); again();',
    plugin: calm,
    loadFails: ['time-exceeded', 'memory-exceeded'],
  },
];
