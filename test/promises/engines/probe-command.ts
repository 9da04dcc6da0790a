/** What runs in the container: it does the steps that it finds on its standard input. */
export const commandScript = `
const { connect } = require('node:net');
const { readFileSync } = require('node:fs');
const speak = (port, host, lines) => new Promise((resolve, reject) => {
  let text = '';
  const socket = connect({ host, port }, () => socket.write(lines.join('\\r\\n') + '\\r\\n\\r\\n'));
  socket.once('error', reject);
  socket.on('data', (bytes) => { text += bytes; });
  socket.once('close', () => resolve(text));
});
const request = (target, host = 'x') => ['GET ' + target + ' HTTP/1.1', 'Host: ' + host, 'Connection: close'];
const readAnswer = (text) => {
  const status = Number(text.split(' ')[1]);
  if (status === 200) return { status, text: text.slice(text.indexOf('\\r\\n\\r\\n') + 4) };
  throw Object.assign(new Error(text), { code: 'HTTP ' + status });
};
const viaProxy = (lines) => {
  if (!process.env.http_proxy) throw Object.assign(new Error('There is no proxy.'), { code: 'no-proxy' });
  const { hostname, port } = new URL(process.env.http_proxy);
  return speak(Number(port), hostname, lines);
};
const acts = {
  // Letters beyond ASCII cannot stand in a request: whoever asks a proxy writes them as the domain system does.
  fetch: async ({ url }) => readAnswer(await viaProxy(request(/^[ -~]+$/.test(url) ? url : new URL(url).href))),
  'native.connect': async ({ host, port }) => speak(port, host, request('/')),
  'native.read': async ({ path }) => readFileSync(path, 'utf8'),
  'native.env': async () => ({ ...process.env }),
};
(async () => {
  const answers = [];
  for (const { op, payload } of JSON.parse(readFileSync(0, 'utf8'))) {
    try { answers.push({ ok: true, value: await acts[op](payload) }); }
    catch (error) { answers.push({ ok: false, code: String(error.code), message: String(error.message) }); }
  }
  console.log(JSON.stringify(answers));
})();
`;

/** The probe as a native command: a plugin starts Node in a container, and that one does the steps. */
export function probeCommand(name: string): string {
  return `const script = ${JSON.stringify(commandScript)};
export default {
  name: '${name}', description: 'Has a command do what it is told.', permissions: {}, parameters: { type: 'object' },
  handler: async ({ steps, files }: any, context: any) => {
    const options = { stdin: JSON.stringify(steps), ...(files ? { files } : {}) };
    const { stdout, stderr, exitCode } = await context.run('node', ['-e', script], options);
    if (exitCode !== 0) throw new Error(stderr);
    return JSON.parse(stdout);
  },
};
`;
}
