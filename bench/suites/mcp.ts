import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSearchIndex } from '../../src/tools/search/search-index.ts';
import { connectClient, eras } from '../../test/mcp-door/clients.ts';
import { makeEntry } from '../../test/tools/make-entry.ts';
import { startBenchDaemon } from '../daemon.ts';
import { type Row, summarise } from '../measure.ts';

const CALLS = 400;
const TOOLS = 1000;
const LISTINGS = 30;
const CLIENTS = 20;
const SAVES = 20;
const SEARCHED = 5000;
const SEARCHES = 20;
const newEra = '2026-07-28';

const quick = `export default { name: 'quick', handler: (args: { n: number }) => args.n + 1 };`;
const rows: Row[] = [...(await measureCalls()), await measureListing(), await measureNews(), await measureSearch()];
process.stdout.write(`${JSON.stringify(rows)}\n`);
process.exit(0);

/** The same call at both doors, one after the other, so that both have the same machine. */
async function measureCalls(): Promise<Row[]> {
  const bench = await startBenchDaemon({ 'quick.ts': quick }, { listen: true });
  const { url, token } = bench.daemon;
  const authorization = `Bearer ${token}`;
  const type = 'application/json';
  const viaApi = () => post(`${url}/api/tools/quick/call`, { arguments: { n: 20 } }, { authorization });
  const meta = {
    'io.modelcontextprotocol/protocolVersion': newEra,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const params = { name: 'quick', arguments: { n: 20 } };
  const mcpHeaders = { authorization, accept: `${type}, text/event-stream` };
  const newHeaders = { ...mcpHeaders, 'mcp-protocol-version': newEra, 'mcp-method': 'tools/call', 'mcp-name': 'quick' };
  const viaNew = () =>
    post(`${url}/mcp`, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { ...params, _meta: meta } }, newHeaders);
  const begin = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } };
  const begun = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: { ...mcpHeaders, 'content-type': type },
    body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params: begin }),
  });
  await begun.text();
  const oldHeaders = { ...mcpHeaders, 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' };
  const viaOld = () => post(`${url}/mcp`, { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, oldHeaders);

  const ways = [viaApi, viaNew, viaOld];
  const times: number[][] = ways.map(() => []);
  for (let call = 0; call < CALLS + 50; call++) {
    for (const [way, send] of ways.entries()) {
      const from = performance.now();
      await send();
      if (call >= 50) times[way]?.push(performance.now() - from);
    }
  }
  await bench.close();
  const [api = [], ...others] = times;
  const peer = summarise(api).p50;
  return others.map((each, way) => {
    const { p50, p99 } = summarise(each);
    const era = way === 0 ? newEra : '2025-11-25';
    return {
      name: `a call over /mcp, ${era}, one after the other`,
      unit: 'ms' as const,
      p50,
      p99,
      peer: { name: 'the same call over /api', p50: peer },
      ratio: p50 / peer,
      ratioOf: 'times',
      target: '<= 1.5',
      met: p50 / peer <= 1.5,
    };
  });
}

async function measureListing(): Promise<Row> {
  const plugins = Object.fromEntries(
    Array.from({ length: TOOLS / 10 }, (_, plugin) => {
      const tools = Array.from({ length: 10 }, (_, tool) => {
        const name = `tool_${plugin}_${tool}`;
        return `${name}: { description: 'Does number ${tool}.', parameters: { type: 'object', properties: { text: { type: 'string', description: 'A text.' }, count: { type: 'integer' } } }, handler: () => 1 }`;
      });
      return [`plugin-${plugin}.ts`, `export default { tools: { ${tools.join(', ')} } };`];
    }),
  );
  const bench = await startBenchDaemon(plugins, { listen: true });
  const client = await connectClient(bench.daemon.url ?? '', bench.daemon.token, newEra);
  const times: number[] = [];
  for (let listing = 0; listing < LISTINGS; listing++) {
    const from = performance.now();
    const { tools } = await client.listTools();
    times.push(performance.now() - from);
    if (tools.length < TOOLS) throw new Error(`only ${tools.length} tools`);
  }
  await client.close();
  await bench.close();
  const { p50, p99 } = summarise(times);
  return {
    name: `a listing of ${TOOLS} tools, with the client's own work`,
    unit: 'ms',
    p50,
    p99,
    target: '<= 20',
    met: p50 <= 20,
  };
}

async function measureNews(): Promise<Row> {
  const plugin = (answer: number) => `export default { name: 'edited', version: '1.0.${answer}', handler: () => ${answer} };`;
  const bench = await startBenchDaemon({ 'edited.ts': plugin(0) }, { listen: true });
  let told: (at: number) => void = () => {};
  const clients = await Promise.all(
    Array.from({ length: CLIENTS }, (_, index) =>
      connectClient(bench.daemon.url ?? '', bench.daemon.token, eras[index % 2] ?? newEra, {
        listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => told(performance.now()) } },
      }),
    ),
  );
  const times: number[] = [];
  for (let save = 1; save <= SAVES; save++) {
    const all = Promise.withResolvers<void>();
    const from = performance.now();
    let count = 0;
    told = (at) => {
      times.push(at - from);
      if (++count === CLIENTS) all.resolve();
    };
    writeFileSync(join(bench.pluginDir, 'edited.ts'), plugin(save));
    await all.promise;
    for (const client of clients) {
      const result = await client.callTool({ name: 'edited', arguments: {} });
      if (JSON.stringify(result.content) !== JSON.stringify([{ type: 'text', text: String(save) }]))
        throw new Error('an old version');
    }
    await new Promise((resolve) => setTimeout(resolve, 120));
  }
  for (const client of clients) await client.close();
  await bench.close();
  const { p50, p99 } = summarise(times);
  return {
    name: `from a save to the notification of ${CLIENTS} clients of both eras, each of which then calls the new version`,
    unit: 'ms',
    p50,
    p99,
    target: '<= 50',
    met: p50 <= 50,
  };
}

/** The index against what one would write without any: every word of the query looked for in the text of every tool. */
async function measureSearch(): Promise<Row> {
  const verbs = ['create', 'list', 'delete', 'convert', 'send', 'merge', 'export'];
  const nouns = ['invoice', 'customer', 'report', 'image', 'calendar', 'ticket', 'payment', 'branch', 'server'];
  const entries = Array.from({ length: SEARCHED }, (_, at) => {
    const [verb = '', noun = ''] = [verbs[at % verbs.length], nouns[at % nouns.length]];
    const input = { type: 'object', properties: { [noun]: { type: 'string', description: `The ${noun} to ${verb}.` } } };
    return makeEntry({
      name: `${verb}_${noun}_${at}`,
      description: `Will ${verb} a ${noun} of the service ${at % 97}.`,
      tags: [noun],
      input,
    });
  });
  const index = createSearchIndex();
  const search = (text: string) => index.search(entries, { text, limit: 10, seen: entries });
  const scan = (text: string) =>
    entries
      .map(({ name, manifest }) => {
        const said = `${name} ${manifest.description} ${JSON.stringify(manifest.input)}`.toLowerCase();
        return { name, found: text.split(' ').filter((word) => said.includes(word)).length };
      })
      .filter(({ found }) => found > 0)
      .sort((one, other) => other.found - one.found)
      .slice(0, 10);
  await search('report');
  const [own, peer]: [number[], number[]] = [[], []];
  for (let round = 0; round < SEARCHES; round++) {
    const [verb = '', noun = ''] = [verbs[round % verbs.length], nouns[round % nouns.length]];
    // Words, a sentence, the beginning of a word, a misspelled name, and what nothing fits.
    for (const text of [
      `${verb} ${noun}`,
      `please ${verb} the ${noun} of my service`,
      noun.slice(0, 4),
      `${verb}x_${noun}_${round}`,
      `zzqq${round}`,
    ]) {
      const from = performance.now();
      await search(text);
      const between = performance.now();
      scan(text);
      own.push(between - from);
      peer.push(performance.now() - between);
    }
  }
  const { p50, p99 } = summarise(own);
  const scanned = summarise(peer).p50;
  return {
    name: `a search among ${SEARCHED} tools`,
    unit: 'ms',
    p50,
    p99,
    peer: { name: 'a scan of their texts', p50: scanned },
    ratio: p50 / scanned,
    ratioOf: 'times',
    target: '<= 0.5',
    met: p50 / scanned <= 0.5,
  };
}

async function post(url: string, body: object, headers: Record<string, string>): Promise<void> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (answer.status !== 200 || !text.includes('21')) throw new Error(`${answer.status} ${text}`);
}
