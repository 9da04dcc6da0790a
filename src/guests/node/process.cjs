// node:process is the global.
module.exports = globalThis.process;
