// node:console: the global, which is also what `new Console()` gives.
module.exports = Object.assign(Object.create(globalThis.console), {
  Console: function Console() {
    return globalThis.console;
  },
});
