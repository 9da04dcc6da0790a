// CommonJS, because `require('events')` is the class itself while `import { once }` names its members.
const { EventEmitter, statics } = require('./event-emitter.ts');

module.exports = Object.assign(EventEmitter, statics);
