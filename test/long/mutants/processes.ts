import type { MutantsByPromise } from './mutation.ts';

/** Deno, containers, commands and the scripts that run in them. */
export const processMutants: MutantsByPromise = {
  'A plugin in Deno has no network but connections': [
    {
      what: 'Deno reads the environment',
      file: 'src/engines/process/deno/deno-flags.ts',
      find: "'--deny-env',",
      replace: "'--allow-env',",
      tests: ['test/engines/process/deno/parts.test.ts'],
    },
    {
      what: 'Deno connects by itself',
      file: 'src/engines/process/deno/deno-flags.ts',
      find: "'--deny-net',",
      replace: "'--allow-net',",
      tests: ['test/engines/process/deno/runtime-network.test.ts'],
    },
    {
      what: 'links in a workspace are opened',
      file: 'src/engines/process/deno/deno-flags.ts',
      find: '...forbidden.map((name) => join(dir, name)), ...barred];',
      replace: '...forbidden.map((name) => join(dir, name))];',
      tests: ['test/engines/process/deno/parts.test.ts'],
    },
    {
      what: 'a file with two names is no link',
      file: 'src/engines/process/deno/workspace-scan.ts',
      find: '(!stats.isFile() || stats.nlink > 1)',
      replace: '!stats.isFile()',
      tests: ['test/engines/process/deno/files.test.ts'],
    },
    {
      what: 'what is written under a forbidden name stays there',
      file: 'src/engines/process/deno/grant-watch.ts',
      find: 'const written = findNewlyForbidden(await scanWorkspace(dir), files);',
      replace: 'const written: string[] = [];',
      tests: ['test/engines/process/deno/files.test.ts'],
    },
    {
      what: 'a process writes faster than its window',
      file: 'src/engines/process/streams.ts',
      find: 'if (this.#unwritten > streamWindowBytes) throw',
      replace: 'if (false) throw',
      tests: ['test/engines/process/streams.test.ts'],
    },
  ],
  'A Deno process cannot forge messages or pass its limits': [
    {
      what: 'any number of cells is kept',
      file: 'src/engines/process/cells.ts',
      find: 'while (this.#kept.size > this.#parts.maxKept) {',
      replace: 'while (false) {',
      tests: ['test/engines/process/deno/deno-engine.test.ts'],
    },
    {
      what: 'a process that crashes leaves its memory on the disk',
      file: 'src/engines/process/deno/deno-process.ts',
      find: 'ulimit -c 0; ',
      replace: '',
      tests: ['test/engines/process/deno/limits.test.ts'],
    },
    {
      what: 'the data of a process grows between two looks',
      file: 'src/engines/process/deno/deno-process.ts',
      find: '; ulimit -d ',
      replace: '; : ',
      tests: ['test/engines/process/deno/limits.test.ts'],
    },
    {
      what: 'what a daemon left that crashed runs on',
      file: 'src/engines/process/deno/process-book.ts',
      find: '  killGroup(pid);',
      replace: '',
      tests: ['test/engines/process/deno/limits.test.ts'],
    },
    {
      what: 'a process asks twice under one number',
      file: 'src/engines/process/turn.ts',
      find: 'if (this.#open.has(id)) throw',
      replace: 'if (false) throw',
      tests: ['test/engines/process/turn.test.ts'],
    },
  ],
  'A plugin in a container reaches nothing but its channel': [
    {
      what: 'a container has the network of its last call between two calls',
      file: 'src/engines/process/docker/engine/guest-container.ts',
      find: 'line.allowDial(undefined);',
      replace: '',
      tests: ['test/engines/process/docker/engine/egress.test.ts'],
    },
    {
      what: 'the host is asked any number of times',
      file: 'src/engines/process/turn.ts',
      find: 'const refusal = this.#meter.ask(op, this.#open.size);',
      replace: 'const refusal = this.#meter.ask(op, 0) && undefined;',
      tests: ['test/engines/process/docker/engine/limits.test.ts'],
    },
  ],
  'A native command has no rights, no network, no host in sight': [
    {
      what: 'a command that crashes leaves its memory on the disk',
      file: 'src/engines/process/docker/container/container-flags.ts',
      find: "{ Name: 'core', Soft: 0, Hard: 0 },",
      replace: '',
      tests: ['test/engines/process/docker/container/container-flags.test.ts'],
    },
    {
      what: 'a command has the rights that Docker gives',
      file: 'src/engines/process/docker/container/container-flags.ts',
      find: "CapDrop: ['ALL'],",
      replace: '',
      tests: ['test/engines/process/docker/container/container-flags.test.ts'],
    },
    {
      what: 'nobody looks whether a container has rights',
      file: 'src/engines/process/docker/container/verify.ts',
      find: 'dropsAll(host.CapDrop ?? []) && (host.CapAdd ?? []).length === 0,',
      replace: 'true,',
      tests: ['test/engines/process/docker/container/verify.test.ts'],
    },
    {
      what: 'nobody looks whether the kernel filters system calls',
      file: 'src/engines/process/docker/container/verify.ts',
      find: "facts.get('Seccomp') === '2'",
      replace: 'true',
      tests: ['test/engines/process/docker/container/verify.test.ts'],
    },
  ],
  'A command reaches granted places alone': [
    {
      what: 'a request to the proxy has lines of its own making',
      file: 'src/engines/process/docker/egress/proxy-request.ts',
      find: 'if (headers.some((header) =>',
      replace: 'if (headers.every((header) =>',
      tests: ['test/engines/process/docker/egress/proxy-request.test.ts'],
    },
    {
      what: 'headers for the proxy go on to the server',
      file: 'src/engines/process/docker/egress/proxy-request.ts',
      find: '!hopHeaders.test(header) && ',
      replace: '',
      tests: ['test/engines/process/docker/egress/proxy-request.test.ts'],
    },
  ],
  'What a container says is data': [
    {
      what: 'a frame is as long as it says',
      file: 'src/engines/process/docker/init/init-frames.ts',
      find: 'if (size > maxPayload) throw',
      replace: 'if (false) throw',
      tests: ['test/engines/process/docker/init/init-frames.test.ts'],
    },
    {
      what: 'any name of a file is taken',
      file: 'src/engines/process/docker/command/collected-files.ts',
      find: "parsed.ok && parsed.segments.join('/') === path && ",
      replace: '',
      tests: ['test/engines/process/docker/command/collected-files.test.ts'],
    },
    {
      what: 'files come back at any size',
      file: 'src/engines/process/docker/command/collected-files.ts',
      find: 'if (bytes > maxBytes) throw',
      replace: 'if (false) throw',
      tests: ['test/engines/process/docker/command/collected-files.test.ts'],
    },
  ],
  'Bombs, floods, deaf commands and a Docker': [
    {
      what: 'a command that writes without end goes on',
      file: 'src/engines/process/docker/command/run-command.ts',
      find: 'else fail(tooMuchOutput(request.maxOutputBytes));',
      replace: '',
      tests: ['test/engines/process/docker/command/command-attacks.test.ts'],
    },
    {
      what: 'Docker on another machine is used',
      file: 'src/engines/process/docker/docker-client.ts',
      find: "if (host !== '') {",
      replace: 'if (false) {',
      tests: ['test/promises/native-without-docker.test.ts'],
    },
  ],
  'No container but those of a daemon is stopped or removed': [
    {
      what: 'the label of an image makes a container one of the daemon',
      file: 'src/engines/process/docker/container/sweep.ts',
      find: '.filter(({ Names: names }) => names.some(isNameOfContainer));',
      replace: ';',
      tests: ['test/engines/process/docker/container/sweep.test.ts'],
    },
  ],
  'Podman keeps the same promises as Docker': [
    {
      what: 'what Podman opens by itself stays open',
      file: 'src/engines/process/docker/container/container-flags.ts',
      find: "...(runtime === 'podman' ? closedFolders : {})",
      replace: '',
      tests: ['test/engines/process/docker/container/container-flags.test.ts'],
    },
  ],
  'The first process of containers': [
    {
      what: 'any file is the first process',
      file: 'src/engines/process/docker/init/init-file.ts',
      find: 'if (hashFile(file) !== wanted) {',
      replace: 'if (false) {',
      tests: ['test/engines/process/docker/init/init-file.test.ts'],
    },
  ],
  'No script of a skill runs but as approved': [
    {
      what: 'a page takes the name of the folder of another',
      file: 'src/skills/discover.ts',
      find: 'Number(isNamesake(other)) - Number(isNamesake(one))',
      replace: '0',
      tests: ['test/skills/discover.test.ts'],
    },
    {
      what: 'a script runs although the skill changed',
      file: 'src/skills/script-tools.ts',
      find: 'if (!now.ok || now.skill.contentHash !== skill.contentHash) {',
      replace: 'if (!now.ok) {',
      tests: ['test/skills/scripts.test.ts'],
    },
    {
      what: 'links lead out of a skill',
      file: 'src/skills/skill-files.ts',
      find: 'if (!real.startsWith(dir + sep)) throw',
      replace: 'if (false) throw',
      tests: ['test/skills/discover.test.ts'],
    },
  ],
  '`file_read` and `file_write` reach what is granted': [
    {
      what: 'a second name of a file outside is opened',
      file: 'src/capabilities/files/entry.ts',
      find: 'if (stats.nlink > 1) throw',
      replace: 'if (false) throw',
      tests: ['test/builtins/file-tools.test.ts'],
    },
  ],
  '`http_request` and `web_fetch` reach public addresses': [
    {
      what: 'a blocked header is blocked in one spelling only',
      file: 'src/builtins/web/http-request.ts',
      find: 'if (blockedHeaders.has(name.trim().toLowerCase()))',
      replace: 'if (blockedHeaders.has(name))',
      tests: ['test/builtins/web/http-request.test.ts'],
    },
  ],
  'A page that is made to be slow, deep or huge': [
    {
      what: 'a page has all the time that it takes',
      file: 'src/builtins/web/read-page.ts',
      find: ')), maxMs);',
      replace: ')), 3_600_000);',
      tests: ['test/builtins/web/web-fetch.test.ts'],
    },
  ],
  'A search provider that answers garbage': [
    {
      what: 'a key goes in a header to which it is not bound',
      file: 'src/builtins/web/web-search.ts',
      find: 'readKey(search.key, base, provider.keyHeader)',
      replace: "readKey(search.key, base, 'authorization')",
      tests: ['test/builtins/web/web-search.test.ts'],
    },
  ],
  'A caller of `eval_code`, `execute_command` or a script': [
    {
      what: 'a caller has the network without a grant',
      file: 'src/builtins/native/run-native.ts',
      find: 'if (network && (user.granted().net ?? []).length === 0) {',
      replace: 'if (false) {',
      tests: ['test/builtins/builtins.test.ts'],
    },
  ],
  'Names of packages that a skill asks for': [
    {
      what: 'the name of a package is anything',
      file: 'src/engines/process/docker/nix/nix-names.ts',
      find: 'if (!attribute.test(name)) return',
      replace: 'if (false) return',
      tests: ['test/engines/process/docker/nix/nix-plan.test.ts'],
    },
    {
      what: 'the address of a flake is anything',
      file: 'src/engines/process/docker/nix/nix-names.ts',
      find: 'if (!hosted.test(address) && !fetched.test(address)) {',
      replace: 'if (false) {',
      tests: ['test/engines/process/docker/nix/nix-plan.test.ts'],
    },
  ],
};
