import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSmallDaemon } from '../small-daemon.ts';

const inspector = resolve('node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js');
const run = promisify(execFile);
let small: Awaited<ReturnType<typeof startSmallDaemon>>;
beforeAll(async () => {
  small = await startSmallDaemon(
    { 'hello.ts': `export default { description: 'Greets.', handler: ({ name }: { name: string }) => 'hello ' + name };` },
    {},
    { listen: true },
  );
});
afterAll(() => small.close());

async function inspect(era: string, ...words: string[]): Promise<ReturnType<typeof JSON.parse>> {
  const at = [
    '--cli',
    `${small.daemon.url}/mcp`,
    '--header',
    `Authorization: Bearer ${small.daemon.token}`,
    '--protocol-era',
    era,
  ];
  const { stdout } = await run(process.execPath, [inspector, ...at, '--format', 'json', '--quiet', ...words]);
  return JSON.parse(stdout);
}

describe.each(['legacy', 'modern'])('the inspector of MCP in the %s era', (era) => {
  it('lists the tools and calls one', async () => {
    expect(JSON.stringify(await inspect(era, '--method', 'tools/list'))).toContain('"name":"hello"');
    const called = await inspect(era, '--method', 'tools/call', '--tool-name', 'hello', '--tool-arg', 'name=you');
    expect(JSON.stringify(called)).toContain('hello you');
  });
});
