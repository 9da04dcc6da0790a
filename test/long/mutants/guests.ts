import type { MutantsByPromise } from './mutation.ts';

/** Plugins inside QuickJS and WebAssembly, and how they are read, built and replaced. */
export const guestMutants: MutantsByPromise = {
  'A thread that native code does not let go is replaced': [
    {
      what: 'a thread is replaced only when it is gone',
      file: 'src/engines/quickjs/schedule/scheduler.ts',
      find: 'if (thread.isEnding) this.#replaceLate(thread, now);',
      replace: '',
      tests: ['test/engines/quickjs/native-answers.test.ts'],
    },
    {
      what: 'any number of threads is replaced early',
      file: 'src/engines/quickjs/schedule/scheduler.ts',
      find: ' || this.#lingering.size >= maxLingering',
      replace: '',
      tests: ['test/engines/quickjs/native-answers.test.ts'],
    },
  ],
  "A plugin's code reaches nothing of the host": [
    {
      what: 'the entry points of the prelude stay where a plugin finds them',
      file: 'src/engines/quickjs/cell/base-image.ts',
      find: "evaluate(instance, context, 'delete globalThis.__hotcellEntry', 'prelude.js');",
      replace: '',
      tests: ['test/engines/quickjs/image.test.ts'],
    },
  ],
  'Nothing stays from one call to the next': [
    {
      what: 'the memory of the call before is not put back',
      file: 'src/engines/quickjs/cell/cell.ts',
      find: 'restoreReference(this.#instance.memory, this.#instance, image, this.#highWater);',
      replace:
        'if (this.#imageTop !== image.top) restoreReference(this.#instance.memory, this.#instance, image, this.#highWater);',
      tests: ['test/engines/quickjs/engine.test.ts'],
    },
  ],
  'Nothing that a plugin forges, poisons or throws': [
    {
      what: 'what is thrown past all handlers is copied whole',
      file: 'src/engines/quickjs/cell/cell.ts',
      find: 'const maxThrownBytes = 8000;',
      replace: 'const maxThrownBytes = Number.POSITIVE_INFINITY;',
      tests: ['test/promises/sandbox-escape.test.ts'],
    },
  ],
  'The compiler reads no file of the host': [
    {
      what: 'names of prototypes are variables',
      file: 'src/engines/quickjs/worker/slice-host.ts',
      find: 'Object.hasOwn(this.#view.env, key)',
      replace: '(key in this.#view.env)',
      tests: ['test/engines/quickjs/engine.test.ts'],
    },
    {
      what: 'foreign words move the terminal',
      file: 'src/cli/render/style.ts',
      find: 'return stripVTControlCharacters(text).replace',
      replace: 'return text;\n  stripVTControlCharacters(text).replace',
      tests: ['test/promises/sandbox-escape-doors.test.ts'],
    },
  ],
  'A call ends within its limits': [
    {
      what: 'memory has no bound',
      file: 'src/engines/quickjs/worker/slice-runner.ts',
      find: 'if (this.#cell && this.#cell.heapBytes() > this.#memoryBytes) this.#stopped ',
      replace: 'if (false) this.#stopped ',
      tests: ['test/engines/quickjs/limits.test.ts'],
    },
    {
      what: 'host calls that wait hold any number of bytes',
      file: 'src/border/call-meter.ts',
      find: 'if (pendingBytes <= this.#bounds.pendingHostBytes) return undefined;',
      replace: 'return undefined;',
      tests: ['test/engines/quickjs/limits.test.ts'],
    },
    {
      what: 'the host is asked any number of times',
      file: 'src/border/call-meter.ts',
      find: 'if (this.#hostCalls >= hostCalls) {',
      replace: 'if (false) {',
      tests: ['test/engines/quickjs/limits.test.ts'],
    },
    {
      what: 'an output is as long as it likes',
      file: 'src/engines/quickjs/worker/slice-host.ts',
      find: 'if (text.length <= outputBytes && Buffer.byteLength(text) <= outputBytes) return',
      replace: 'if (true) return',
      tests: ['test/promises/sandbox-escape.test.ts'],
    },
    {
      what: 'the log has any number of lines',
      file: 'src/border/call-meter.ts',
      find: 'if (this.#logLines >= logLines || this.#logBytes >= logBytes) {',
      replace: 'if (false) {',
      tests: ['test/engines/quickjs/limits.test.ts'],
    },
    {
      what: 'a call that waits in between tells of its progress without end',
      file: 'src/engines/quickjs/cell-call.ts',
      find: 'progress: Math.max(0, limits.logLines - (call.used.progress ?? 0)),',
      replace: 'progress: limits.logLines,',
      tests: ['test/engines/quickjs/limits.test.ts'],
    },
    {
      what: 'every slice of a call says that its log is full',
      file: 'src/engines/quickjs/cell-call.ts',
      find: 'if (isBeyond && used.isLogFull === true) return;',
      replace: '',
      tests: ['test/engines/quickjs/limits.test.ts'],
    },
    {
      what: 'a packed text is unpacked to any size',
      file: 'src/engines/quickjs/host-answers/zlib-answers.ts',
      find: 'Math.max(1, Math.min(maxOutputBytes, Math.trunc(asked.maxOutputBytes ?? maxOutputBytes)))',
      replace: 'asked.maxOutputBytes ?? Number.MAX_SAFE_INTEGER',
      tests: ['test/engines/quickjs/web-api-host-answers.test.ts'],
    },
  ],
  'No key, passphrase or data makes the host work': [
    {
      what: 'a key is derived in any number of rounds',
      file: 'src/engines/quickjs/host-answers/key-answers.ts',
      find: 'if (rounds > most)',
      replace: 'if (false)',
      tests: ['test/engines/quickjs/web-api-host-answers.test.ts', 'test/engines/quickjs/host-answers-work.test.ts'],
    },
    {
      what: 'rounds of slow digests count as those of quick ones',
      file: 'src/engines/quickjs/host-answers/key-answers.ts',
      find: 'costOfRound(hash) * Math.max',
      replace: 'Math.max',
      tests: ['test/engines/quickjs/host-answers-work.test.ts'],
    },
    {
      what: 'a key that is sealed asks for any number of rounds',
      file: 'src/engines/quickjs/host-answers/key-answers.ts',
      find: 'if (countSealedWork(der) > most) throw',
      replace: 'if (false) throw',
      tests: ['test/engines/quickjs/host-answers-work.test.ts'],
    },
  ],
  'A stored image of another base, or a damaged one': [
    {
      what: 'the fingerprint of an image is not looked at',
      file: 'src/engines/quickjs/image-cache.ts',
      find: 'if (timingSafeEqual(found, this.fingerprint)) {',
      replace: 'if (found.length > 0) {',
      tests: ['test/engines/quickjs/image.test.ts'],
    },
  ],
  'A kept call of which one bit is not as it was written': [
    {
      what: 'the digest of a kept call is not looked at',
      file: 'src/engines/quickjs/suspend/suspended-codec.ts',
      find: 'if (!digest(content).equals(file.subarray(MAGIC.length + 1, PREFIX_BYTES))) throw',
      replace: 'if (false) throw',
      tests: ['test/engines/quickjs/suspend.test.ts'],
    },
    {
      what: 'a kept call goes on with other code',
      file: 'src/engines/quickjs/suspend/resumed-program.ts',
      find: 'if (programKey !== program.key) throw',
      replace: 'if (false) throw',
      tests: ['test/engines/quickjs/suspend/resumed-program.test.ts'],
    },
    {
      what: 'a kept call goes on over another base',
      file: 'src/engines/quickjs/suspend/resumed-program.ts',
      find: "if (base !== images.fingerprint.toString('hex')) throw",
      replace: 'if (false) throw',
      tests: ['test/engines/quickjs/suspend/resumed-program.test.ts'],
    },
  ],
  'A WebAssembly module keeps its limits': [
    {
      what: 'a module has the memory that it declares',
      file: 'src/engines/extism/module/memory-limit.ts',
      find: 'Math.min(declared, maxPages)',
      replace: 'declared',
      tests: ['test/engines/extism/module/module-sections.test.ts'],
    },
    {
      what: 'tables grow without end',
      file: 'src/engines/extism/module/host-object-limit.ts',
      find: 'Math.min(maximum.value, share)',
      replace: 'maximum.value',
      tests: ['test/engines/extism/module/host-object-limit.test.ts'],
    },
    {
      what: 'a module asks the host any number of times',
      file: 'src/engines/extism/worker/host-channel.ts',
      find: "if (refusal !== undefined) throw new GuestFault('host-calls-exceeded', refusal.message);",
      replace: 'refusal;',
      tests: ['test/engines/extism/worker/daemon-call.test.ts'],
    },
  ],
  'No call of a built module sees what an earlier one left': [
    {
      what: 'the memory of a module is not put back',
      file: 'src/engines/extism/build/freeze.ts',
      find: "'state.bytes': image.length",
      replace: "'state.bytes': 0",
      tests: ['test/engines/extism/build/built-module.test.ts'],
    },
  ],
  "A build reads only the plugin's own files": [
    {
      what: 'other plugins’ files count as own',
      file: 'src/plugins/compile/path-policy.ts',
      find: "relative(rootDir, path).startsWith('_')",
      replace: 'true',
      tests: ['test/plugins/compile/compile.test.ts'],
    },
    {
      what: 'hidden files count as own',
      file: 'src/plugins/compile/path-policy.ts',
      find: "return own.some((segment) => segment.startsWith('.'));",
      replace: 'return false;',
      tests: ['test/plugins/compile/compile.test.ts'],
    },
    {
      what: 'a link that was put there after the look is followed',
      file: 'src/plugins/compile/read-input.ts',
      find: ' | constants.O_NOFOLLOW',
      replace: '',
      tests: ['test/plugins/compile/read-input.test.ts'],
    },
  ],
  'Reading types and schemas of hostile source ends': [
    {
      what: 'reading them takes any time',
      file: 'src/plugins/schema/schema-reader.ts',
      find: 'setDeadline(ms, () => giveUp(',
      replace: 'void ((): void => giveUp(',
      tests: ['test/plugins/schema/schema-reader.test.ts'],
    },
    {
      what: 'source is read at any size',
      file: 'src/plugins/schema/schema-reader.ts',
      find: 'if (total <= maxTotalChars) return undefined;',
      replace: 'return undefined;',
      tests: ['test/plugins/schema/schema-reader.test.ts'],
    },
  ],
  'A hostile schema or value cannot hold up the daemon': [
    {
      what: 'validating has no bound',
      file: 'src/tools/validation/fuel.ts',
      find: 'if (left < 0) throw',
      replace: 'if (false) throw',
      tests: ['test/tools/validation/schema-limits.test.ts'],
    },
    {
      what: 'schemas are compiled at any size',
      file: 'src/tools/validation/prepare-schema.ts',
      find: 'if (this.#nodes > maxNodes || depth > maxDepth) throw',
      replace: 'if (false) throw',
      tests: ['test/tools/validation/schema-limits.test.ts'],
    },
  ],
  'A broken edit does not take a working tool away': [
    {
      what: 'a plugin that serves is withdrawn when a build fails',
      file: 'src/plugins/lifecycle.ts',
      find: "become('degraded', now.serving, [])",
      replace: "become('failed', 'nothing', ['withdraw'])",
      tests: ['test/plugins/lifecycle.test.ts'],
    },
  ],
  "What a plugin writes cannot steer the operator's terminal": [
    {
      what: 'control characters of a line stay in its frame',
      file: 'src/plugins/diagnostics/code-frame.ts',
      find: 'return line.slice(shift, shift + maxLineLength).replace',
      replace: 'return line.slice(shift, shift + maxLineLength);\n  line.replace',
      tests: ['test/plugins/diagnostics/code-frame.test.ts'],
    },
  ],
};
