import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requireDeno } from '../../../../src/engines/process/deno/find-deno.ts';
import { createDenoRig, handlerOf } from './deno-rig.ts';
import { dialling, type Places, startPlaces } from './places.ts';

const rig = createDenoRig();
let places: Places;
beforeAll(async () => {
  places = await startPlaces();
});
afterAll(async () => {
  await rig.close();
  await places.close();
});

describe('the network of the runtime itself', () => {
  const probes: Readonly<Record<string, string>> = {
    'a worker of the plugin': `const source = 'try { await Deno.connect({ hostname: "127.0.0.1", port: ' + args.port + ' }); postMessage("open") } catch (error) { postMessage(error.name) }';
      const worker = new Worker('data:text/javascript,' + encodeURIComponent(source), { type: 'module' });
      return new Promise((resolve) => { worker.onmessage = ({ data }) => resolve(data) })`,
    'a server': "try { Deno.listen({ port: 0 }); return 'open' } catch (error) { return error.name }",
    'a server of node:net': `return new Promise((resolve) => { try { require('node:net').createServer().on('error', (error) => resolve(error.code ?? error.name)).listen(0, () => resolve('open')) } catch (error) { resolve(error.name) } })`,
    'a name': "try { await Deno.resolveDns('localhost', 'A'); return 'open' } catch (error) { return error.name }",
    'a datagram': `return new Promise((resolve) => { globalThis.addEventListener('error', (event) => resolve(event.error.name));
      require('node:dgram').createSocket('udp4').on('error', (error) => resolve(error.name)).send('a', args.port, '127.0.0.1', (error) => resolve(error ? error.name : 'open')) })`,
    'an event source':
      "return new Promise((resolve) => { const source = new EventSource('http://127.0.0.1:' + args.port + '/events'); source.onopen = () => resolve('open'); source.onerror = () => resolve('refused') })",
    'a module of the web':
      "try { await import('http://127.0.0.1:' + args.port + '/a.js'); return 'open' } catch (error) { return error.name }",
    'a pipe':
      "try { await Deno.connect({ transport: 'unix', path: args.pipe }); return 'open' } catch (error) { return error.name }",
    'another process': "try { await new Deno.Command('/bin/true').output(); return 'open' } catch (error) { return error.name }",
  };

  const args = () => ({ port: places.plain, pipe: places.pipe });

  it.each(Object.entries(probes))('is closed to %s, whatever is granted', async (_name, body) => {
    const before = places.taken();
    const outcome = await rig.run(handlerOf(body), {
      args: args(),
      limits: { memoryBytes: 96 * 1024 * 1024 },
      ...dialling(['*.lan.test', `127.0.0.1:${places.plain}`]),
    });
    expect(outcome).toMatchObject({
      status: 'success',
      output: expect.stringMatching(/^(?:NotCapable|refused|TypeError|Error|EPERM|EACCES)$/),
    });
    expect(places.taken()).toBe(before);
  });

  it('would be open to each of them in a Deno that may', async () => {
    const tried = Object.entries(probes).map(
      ([name, body]) => `${JSON.stringify(name)}: await (async (args) => { ${body} })(args)`,
    );
    const script = `import { createRequire } from 'node:module'; const require = createRequire('file:///a.js');
      const args = ${JSON.stringify(args())}; console.log(JSON.stringify({ ${tried.join(',\n')} })); Deno.exit(0);`;
    const { stdout } = await promisify(execFile)(requireDeno(), ['eval', '--no-lock', '--ext=js', script], {
      cwd: rig.dataDir,
      env: { DENO_DIR: rig.dataDir },
    });
    expect(JSON.parse(stdout)).toEqual(Object.fromEntries(Object.keys(probes).map((name) => [name, 'open'])));
  });
});
