import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createHttpClient } from '../../src/client/client.ts';
import { executionContracts } from '../../src/operations/contracts/executions.ts';
import { pluginContracts } from '../../src/operations/contracts/plugins.ts';
import { toolContracts } from '../../src/operations/contracts/tools.ts';
import { type DaemonHouse, openDaemonHouse } from './daemon-house.ts';
import { makeDaemonFolder, removeDaemonFolder, startDaemonProcess } from './daemon-process.ts';

const weather = (answer: string) => `export default {
  name: 'weather', version: '1.2.0', description: 'Tells the weather.',
  handler: (args: { city: string; days?: number }) => '${answer}',
};
`;

let house: DaemonHouse;

beforeAll(async () => {
  house = await openDaemonHouse(makeDaemonFolder({ 'weather.ts': weather('sun') }));
});

afterAll(async () => {
  await house.close();
  removeDaemonFolder(house.folder);
});

/** Posts a body as it is; answers the status and the problem as text. */
async function post(path: string, body: string, headers: Record<string, string> = {}) {
  const answer = await fetch(house.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${house.token}`, 'content-type': 'application/json', ...headers },
    body,
  });
  return { status: answer.status, problem: await answer.text() };
}

async function expectWeather(answer: string): Promise<void> {
  expect(await house.call('weather', { city: 'Oslo' })).toMatchObject({ status: 'success', output: answer });
}

describe('a call with bad input', () => {
  it('whose body is not JSON says so', async () => {
    const { status, problem } = await post('/api/tools/weather/call', '{"arguments": {city: Oslo}}');
    expect(status).toBe(400);
    expect(problem).toMatch(/"code":"body-invalid"/);
    expect(problem).toMatch(/not valid JSON/);
  });

  it('whose body is JSON of another kind says what was expected', async () => {
    const { status, problem } = await post('/api/tools/weather/call', '["Oslo"]');
    expect(status).toBe(400);
    expect(problem).toMatch(/Expected a JSON object as the request body, got an array/);
  });

  it('whose arguments are no object says what was expected', async () => {
    const { status, problem } = await post('/api/tools/weather/call', '{"arguments": "Oslo"}');
    expect(status).toBe(400);
    expect(problem).toMatch(/arguments/);
    expect(problem).toMatch(/object/);
  });

  it('whose arguments miss the schema names every misfit and the command that shows the schema', async () => {
    const { status, problem } = await post('/api/tools/weather/call', '{"arguments": {"days": "two"}}');
    expect(status).toBe(400);
    expect(problem).toMatch(/"code":"arguments-invalid"/);
    expect(problem).toMatch(/city/);
    expect(problem).toMatch(/days/);
    expect(problem).toMatch(/hotcell tool info weather/);
  });

  it('whose body is too large is refused before it is read', async () => {
    const { status, problem } = await post('/api/tools/weather/call', ' '.repeat(17 * 2 ** 20));
    expect(status).toBe(413);
    expect(problem).toMatch(/"code":"payload-too-large"/);
  });

  it('whose tool does not exist gets near names', async () => {
    await expect(house.call('wheather')).rejects.toMatchObject({
      code: 'tool-unknown',
      status: 404,
      message: expect.stringMatching(/"wheather".*Did you mean "weather"\?/),
      fix: expect.stringMatching(/hotcell tool list/),
    });
  });

  it('whose version does not exist gets those that do', async () => {
    await expect(house.call('weather@^2')).rejects.toMatchObject({
      code: 'tool-unknown',
      message: expect.stringMatching(/1\.2\.0/),
    });
  });

  it('leaves no record and harms nobody', async () => {
    const { total } = await house.client.invoke(executionContracts.list, {});
    await expectWeather('sun');
    expect((await house.client.invoke(executionContracts.list, {})).total).toBe(total + 1);
  });
});

describe('a caller without a valid token', () => {
  it.each([
    ['a wrong one', 'Bearer wrong', /not known, or was revoked/],
    ['an empty one', 'Bearer ', /Authorization/],
    ['another scheme', 'Basic YTpi', /Authorization/],
  ])('is refused with %s', async (_what, authorization, words) => {
    const { status, problem } = await post('/api/tools/weather/call', '{}', { authorization });
    expect(status).toBe(401);
    expect(problem).toMatch(/"code":"unauthenticated"/);
    expect(problem).toMatch(words);
    expect(problem).toMatch(/file \\"token\\" of the data directory/);
  });

  it('learns nothing about what there is', async () => {
    const stranger = createHttpClient({ url: house.url, token: 'wrong' });
    await expect(stranger.invoke(toolContracts.list, {})).rejects.toMatchObject({ code: 'unauthenticated' });
    await expect(stranger.invoke(pluginContracts.list, {})).rejects.toMatchObject({ code: 'unauthenticated' });
    await expect(stranger.invoke(toolContracts.get, { ref: 'nothing' })).rejects.toMatchObject({ code: 'unauthenticated' });
  });
});

// Four rounds of seeing, building and telling: each may take seconds where the machine is busy.
describe('a plugin folder', { timeout: 120_000 }, () => {
  it('that does not exist is created, and watched', async () => {
    const folder = makeDaemonFolder({}, { pluginDirs: ['not/there/yet'] });
    const other = await openDaemonHouse(folder);
    onTestFinished(async () => {
      await other.close();
      removeDaemonFolder(folder);
    });
    expect(existsSync(join(folder, 'not/there/yet'))).toBe(true);
    writeFileSync(join(folder, 'not/there/yet/weather.ts'), weather('fog'));
    await other.event('plugin-change', ({ data }) => data.state === 'ready');
    expect(await other.call('weather', { city: 'Oslo' })).toMatchObject({ output: 'fog' });
  });

  it('that disappears keeps serving, says so, and is picked up again when it is back', async () => {
    const away = `${house.pluginDir}-away`;
    renameSync(house.pluginDir, away);
    await house.event('watch-problem', ({ data }) => /is gone. Its plugins keep serving/.test(data.message));
    await expectWeather('sun');
    expect(await house.client.invoke(pluginContracts.get, { name: 'weather' })).toMatchObject({ state: 'ready' });

    writeFileSync(join(away, 'weather.ts'), weather('rain'));
    renameSync(away, house.pluginDir);
    await house.event('watch-problem', ({ data }) => /is there again/.test(data.message));
    await house.event('plugin-change', ({ data }) => data.generation === 2);
    await expectWeather('rain');
    writeFileSync(join(house.pluginDir, 'weather.ts'), weather('snow'));
    await house.event('plugin-change', ({ data }) => data.generation === 3);
    await expectWeather('snow');
  });

  it('that is deleted and made anew is picked up too', async () => {
    rmSync(house.pluginDir, { recursive: true });
    mkdirSync(house.pluginDir);
    writeFileSync(join(house.pluginDir, 'weather.ts'), weather('hail'));
    await house.event('plugin-change', ({ data }) => data.generation === 4);
    await expectWeather('hail');
  });
});

describe('a port in use', () => {
  it('is said with the flag that chooses another', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const folder = makeDaemonFolder({ 'weather.ts': weather('sun') }, { port });
    onTestFinished(() => {
      server.close();
      removeDaemonFolder(folder);
    });
    await expect(openDaemonHouse(folder)).rejects.toMatchObject({
      code: 'port-in-use',
      message: `Port ${port} of 127.0.0.1 is used by another program.`,
      fix: expect.stringMatching(/--port N/),
    });
    await expect(startDaemonProcess(folder)).rejects.toThrow(/is used by another program[\s\S]*--port N/);
    // Nothing of the failed start is left behind: another port serves at once.
    const other = await openDaemonHouse(folder, { port: 0 });
    expect(await other.call('weather', { city: 'Oslo' })).toMatchObject({ output: 'sun' });
    await other.close();
  });
});
