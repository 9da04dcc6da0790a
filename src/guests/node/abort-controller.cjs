// The sandbox has it.
module.exports = { AbortController: globalThis.AbortController, AbortSignal: globalThis.AbortSignal };
