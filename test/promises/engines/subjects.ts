import { spawnSync } from 'node:child_process';
import type { CallAnswer } from '../../../src/calls/call-types.ts';
import { findDeno } from '../../../src/engines/process/deno/find-deno.ts';
import { buildText, moduleOf } from '../../engines/extism/build/build-fixture.ts';
import { testImages } from '../../engines/process/docker/docker-machine.ts';
import { commandScript, probeCommand } from './probe-command.ts';
import { assembleProbe, probeManifest } from './probe-module.ts';
import { probePlugin } from './probe-script.ts';

/**
 * One thing that a guest tries: an operation of the border, or `native.…`, or `fetch.turned`, which answers the bytes that
 * the guest saw from the last to the first. `@@@` stands for the guest's HEADER_KEY.
 */
export interface Step {
  readonly op: string;
  readonly payload?: object;
  readonly body?: string;
}

/** How a step ended in the guest's eyes. */
export type StepAnswer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly code: string; readonly message: string };

/** Calls a tool of the daemon, as whoever calls. */
export type CallTool = (ref: string, args: Record<string, unknown>) => Promise<CallAnswer>;

/** The parts of the machine that an engine may need. */
export type Part = 'deno' | 'docker';

/** A guest of one engine that does steps. */
export interface Subject {
  /** The engine, and by what its guest asks where there are more ways. */
  readonly title: string;
  /** The name of the plugin, which is what grants belong to. */
  readonly plugin: string;
  readonly needs?: Part;
  /** Files of the plugins folder. */
  files(): Promise<Readonly<Record<string, string | Uint8Array>>>;
  /** Refusals come as the status of an HTTP proxy. */
  readonly byProxy?: true;
  /** Does the steps in one call, or in a call each where a guest takes one. */
  ask(call: CallTool, steps: readonly Step[]): Promise<StepAnswer[]>;
}

const scriptSubject = (engine: string, rest: { needs?: Part; native?: boolean } = {}): Subject => {
  const plugin = `probe_${engine}`;
  return {
    title: engine,
    plugin,
    ...(rest.needs === undefined ? {} : { needs: rest.needs }),
    files: async () => ({ [`${plugin}.ts`]: probePlugin(plugin, engine, rest) }),
    ask: async (call, steps) => readAnswers(await call(plugin, { steps })),
  };
};

/** The same plugin, whose requests go by a network client of its own. */
const nativeSubject = (engine: string, rest: { needs: Part; title: string; op: string; byProxy?: true }): Subject => {
  const { op, ...facts } = rest;
  const subject = scriptSubject(engine, { needs: rest.needs, native: true });
  return {
    ...subject,
    ...facts,
    ask: (call, steps) =>
      subject.ask(
        call,
        steps.map((step) => (step.op === 'fetch' ? { op, payload: toConnection(step.payload) } : step)),
      ),
  };
};

const moduleSubject = (plugin: string, way: 'hotcell_call' | 'http_request'): Subject => ({
  title: `extism by ${way}`,
  plugin,
  files: async () => ({ [`${plugin}.wasm`]: await assembleProbe(), [`${plugin}.json`]: probeManifest(plugin) }),
  async ask(call, steps) {
    const answers: StepAnswer[] = [];
    for (const step of steps) answers.push(await askModule(call, { plugin, way, step }));
    return answers;
  },
});

const commandSubject: Subject = {
  title: 'a command in Docker',
  plugin: 'probe_command',
  needs: 'docker',
  byProxy: true,
  files: async () => ({ 'probe_command.ts': probeCommand('probe_command') }),
  ask: async (call, steps) => readAnswers(await call('probe_command', { steps })),
};

let built: Promise<Uint8Array> | undefined;

/** The probe in TypeScript, built into a module: once for all houses of a process. */
const builtSubject: Subject = {
  title: 'a built module',
  plugin: 'probe_built',
  files: async () => {
    const source = probePlugin('probe_built', 'quickjs', { isolation: 'call' });
    built ??= buildText('probe_built.ts', source).then(moduleOf);
    return { 'probe_built.wasm': await built };
  },
  ask: async (call, steps) => readAnswers(await call('probe_built', { steps })),
};

/** Code that a caller hands to the daemon's own tool. */
const evalSubject: Subject = {
  title: 'eval_code',
  plugin: 'builtin:eval_code',
  needs: 'docker',
  byProxy: true,
  files: async () => ({}),
  async ask(call, steps) {
    const args = { language: 'node', code: commandScript, stdin: JSON.stringify(steps), network: true };
    const answer = await call('eval_code', args);
    const { stdout }: { stdout?: string } = Object(answer.output);
    return readAnswers(stdout ? { ...answer, output: JSON.parse(stdout) } : answer);
  },
};

/** Every engine once, by the capabilities of its context. */
export const engineSubjects: readonly Subject[] = [
  scriptSubject('quickjs'),
  moduleSubject('probe_extism', 'hotcell_call'),
  builtSubject,
  scriptSubject('deno', { needs: 'deno', native: true }),
  scriptSubject('docker', { needs: 'docker', native: true }),
];

/** Every way to the network. */
export const networkSubjects: readonly Subject[] = [
  ...engineSubjects,
  moduleSubject('probe_http', 'http_request'),
  nativeSubject('deno', { needs: 'deno', title: 'deno by node:net', op: 'native.connect' }),
  nativeSubject('docker', { needs: 'docker', title: 'docker by its proxy', op: 'native.proxy', byProxy: true }),
  commandSubject,
  evalSubject,
];

/** The parts that are on this machine. */
const present: Readonly<Record<Part, boolean>> = {
  deno: findDeno() !== undefined,
  docker: spawnSync('docker', ['image', 'inspect', testImages.node], { stdio: 'ignore' }).status === 0,
};

/** Those whose part is there. A missing part is said, and fails where everything must run. */
export function presentParts<Each extends { readonly needs?: Part }>(
  all: readonly Each[],
  nameOf: (each: Each) => string,
): readonly Each[] {
  const missing = all.filter(({ needs }) => !isPresent(needs));
  if (missing.length === 0) return all;
  const sentence = `Not tested, because a part is missing: ${missing.map(nameOf).join(', ')}. Get it: node scripts/prepare-tests.ts`;
  if (process.env.CI === 'true') throw new Error(sentence);
  console.warn(sentence);
  return all.filter((each) => !missing.includes(each));
}

/** The same for subjects. */
export function presentSubjects(subjects: readonly Subject[]): readonly Subject[] {
  return presentParts(subjects, ({ title }) => title);
}

/** True where the part is on this machine. */
export function isPresent(part: Part | undefined): boolean {
  return part === undefined || present[part];
}

/** What the config needs for every subject. */
export const subjectConfig = {
  docker: {
    images: [testImages.node, testImages.box],
    commands: { node: testImages.node, echo: testImages.box, cat: testImages.box },
    pluginImage: testImages.node,
  },
  builtins: { eval_code: { node: testImages.node }, who: { eval_code: 'model' } },
};

function readAnswers(answer: CallAnswer): StepAnswer[] {
  if (answer.status === 'success' && Array.isArray(answer.output)) return answer.output;
  throw new Error(`The probe itself ended as ${JSON.stringify(answer).slice(0, 1000)}`);
}

async function askModule(
  call: CallTool,
  { plugin, way, step }: { plugin: string; way: 'hotcell_call' | 'http_request'; step: Step },
): Promise<StepAnswer> {
  const { op, payload = {}, body } = step;
  if (op === 'env.get' || op === 'config.get') return readCall(await call(`${plugin}_setting`, { ...payload }));
  const turned = op.endsWith('.turned') ? '_turned' : '';
  if (way === 'http_request') return readCall(await call(`${plugin}_http${turned}`, withHeaderObject(payload)));
  if (turned !== '') return readCall(await call(`${plugin}_ask_turned`, { op: op.replace('.turned', ''), payload }));
  const encoded = body === undefined ? {} : { body: Buffer.from(body).toString('base64') };
  const answer = await call(`${plugin}_ask`, { op, payload, ...encoded });
  return answer.status === 'success' ? readBorderAnswer(Object(answer.output)) : readCall(answer);
}

function readCall({ status, output, error }: CallAnswer): StepAnswer {
  if (status === 'success') return { ok: true, value: output };
  return { ok: false, code: String(error?.code), message: String(error?.message) };
}

function readBorderAnswer(answer: {
  ok: boolean;
  payload?: unknown;
  body?: string;
  code?: string;
  message?: string;
}): StepAnswer {
  if (!answer.ok) return { ok: false, code: String(answer.code), message: String(answer.message) };
  if (answer.body === undefined) return { ok: true, value: answer.payload };
  return { ok: true, value: { ...Object(answer.payload), text: Buffer.from(answer.body, 'base64').toString() } };
}

function withHeaderObject(payload: object): Record<string, unknown> {
  const { headers = [], ...rest }: { headers?: [string, string][] } = payload;
  return { ...rest, headers: Object.fromEntries(headers) };
}

/** Host and port as a URL names them, for clients that take these. */
function toConnection(payload: object = {}): object {
  const { url = '' }: { url?: string } = payload;
  const place = url.replace(/^http:\/\/([^/]*).*$/, '$1');
  const colon = place.lastIndexOf(':');
  const host = place
    .slice(0, colon)
    .replace(/^\[(.*)\]$/, '$1')
    .replace('%25', '%');
  return { url, host, port: Number(place.slice(colon + 1)) };
}
