/**
 * The probe as a plugin in TypeScript: it does one step after the other and tells how each ended. `@@@` in a step stands
 * for the value that the guest reads for HEADER_KEY.
 */
export function probePlugin(name: string, engine: string, rest: { isolation?: string; native?: boolean } = {}): string {
  const { isolation = 'session', native = false } = rest;
  return `export default {
  name: '${name}', description: 'Does what it is told.', engine: '${engine}', isolation: '${isolation}',
  permissions: { env: ['HEADER_KEY', 'PLAIN_SETTING'] },
  parameters: { type: 'object' },
  handler: async ({ steps }: any, context: any) => {
    const answers: unknown[] = [];
    for (const { op, payload = {}, body } of steps) {
      try {
        const filled = JSON.parse(JSON.stringify({ payload, body }).replaceAll('@@@', () => context.env.get('HEADER_KEY')));
        answers.push({ ok: true, value: (await acts[op](filled.payload, context, filled.body)) ?? null });
      } catch (error: any) {
        answers.push({ ok: false, code: String(error?.code ?? error?.name), message: String(error?.message) });
      }
    }
    return answers;
  },
};

const acts: Record<string, any> = {
  fetch: async ({ url, ...init }: any, context: any, body?: string) => {
    const response = await context.fetch(url, body === undefined ? init : { ...init, body });
    const { status, headers, redirected } = response;
    return { status, headers: [...headers], redirected, url: response.url, text: await response.text() };
  },
  // Everything that the guest saw, turned around so that nobody knows it again.
  'fetch.turned': async (payload: any, context: any) => {
    const seen = JSON.stringify(await acts.fetch(payload, context));
    return [...seen].reverse().join('');
  },
  'fetch.abort': async ({ url }: any, context: any) => {
    const controller = new AbortController();
    const response = await context.fetch(url, { signal: controller.signal });
    const reader = response.body.getReader();
    const first = await reader.read();
    controller.abort();
    const rest = await reader.read().then(() => 'read on', (error: any) => error.name);
    return { bytes: first.value.length > 0, rest };
  },
  'env.get': ({ name }: any, context: any) => context.env.get(name),
  'config.get': ({ name }: any, context: any) => context.config.get(name),
  'kv.get': ({ key }: any, context: any) => context.kv.get(key),
  'kv.set': ({ key, value }: any, context: any) => context.kv.set(key, value),
  'kv.delete': ({ key }: any, context: any) => context.kv.delete(key),
  'kv.list': (options: any, context: any) => context.kv.list(options),
  'files.read': ({ path }: any, context: any) => context.files.read(path),
  'files.write': ({ path, text }: any, context: any) => context.files.write(path, text),
  'files.append': ({ path, text }: any, context: any) => context.files.append(path, text),
  'files.list': ({ path }: any, context: any) => context.files.list(path),
  'files.stat': ({ path }: any, context: any) => context.files.stat(path),
  'files.exists': ({ path }: any, context: any) => context.files.exists(path),
  'files.delete': ({ path }: any, context: any) => context.files.delete(path),
  'files.mkdir': ({ path }: any, context: any) => context.files.mkdir(path),
  'tools.call': (payload: any, context: any) => context.tools.call(payload.name, payload.arguments),
  'tools.list': (_payload: any, context: any) => context.tools.list(),
  'llm.generate': (payload: any, context: any) => context.llm.generate(payload),
  run: ({ command, args, options }: any, context: any) => context.run(command, args, options),
  confirm: ({ question }: any, context: any) => context.confirm(question),
  'bulk.write': ({ path, size }: any, context: any) =>
    context.files.write(path, Uint8Array.from({ length: size }, (_each, index) => (index * 31) & 255)),
  'bulk.read': async ({ path }: any, context: any) => {
    const bytes = await context.files.readBytes(path);
    let sum = 0;
    for (const byte of bytes) sum = (sum + byte) % 1_000_003;
    return { size: bytes.length, sum };
  },
  skill: ({ name }: any, context: any) => context.skill(name),
  'agent.pushTask': (_payload: any, context: any) => context.agent.pushTask('x'),
  log: ({ text }: any, context: any) => context.log.info(text),
  progress: ({ text }: any, context: any) => context.progress(1, 2, text),
  fail: ({ text }: any) => { throw new Error(text); },${native ? nativeActs : ''}
};
${native ? nativeClient : ''}`;
}

/** How a guest with Node's modules speaks HTTP over a connection of its own. */
const nativeClient = `
const variables = () => (globalThis as any).process.env;
const request = (target: string) => ['GET ' + target + ' HTTP/1.1', 'Host: x', 'Connection: close'];
async function speak(host: string, port: unknown, lines: string[]): Promise<string> {
  const { connect } = await import('node:net');
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect({ host, port: Number(port) });
    socket.once('error', reject);
    socket.on('data', (bytes: any) => { text += bytes; });
    socket.once('close', () => resolve(text));
    socket.write(lines.join('\\r\\n') + '\\r\\n\\r\\n');
  });
}
`;

/** What only a guest with Node's modules can try. */
const nativeActs = `
  'native.connect': async ({ host, port }: any) => speak(host, port, request('/')),
  'native.proxy': async ({ url }: any) => {
    const { hostname, port } = new URL(variables().http_proxy);
    // Letters beyond ASCII cannot stand in a request: whoever asks a proxy writes them as the domain system does.
    const text = await speak(hostname, port, request(/^[ -~]+$/.test(url) ? url : new URL(url).href));
    const status = text.split(' ')[1];
    if (status !== '200') throw Object.assign(new Error(text), { code: 'HTTP ' + status });
    return text;
  },
  'native.send': async ({ url, header }: any) => {
    const { hostname, port } = new URL(variables().http_proxy ?? url);
    return speak(hostname, port, [...request(url), header]);
  },
  'context.fetch': (payload: any, context: any) => acts.fetch(payload, context),
  'native.read': async ({ path }: any) => (await import('node:fs/promises')).readFile(path, 'utf8'),
  'native.write': async ({ path, text }: any) => (await import('node:fs/promises')).writeFile(path, text),
  'native.link': async ({ from, to, hard }: any) => {
    const { link, symlink } = await import('node:fs/promises');
    return hard ? link(from, to) : symlink(from, to);
  },
  'native.env': () => ({ ...variables() }),
  'native.run': async ({ command, args }: any) => {
    // The compiler refuses the import: what is tried here is the way around it.
    const { spawnSync } = (globalThis as any).process.getBuiltinModule('node:child_process');
    const { stdout, error } = spawnSync(command, args, { encoding: 'utf8' });
    if (error) throw error;
    return stdout;
  },`;
