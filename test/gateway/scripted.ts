import type { WireFormatName } from '../../src/models/wire/wire-format.ts';
import { answers, streams, type UpstreamCall } from '../models/wire/upstreams.ts';
import { type Provider, sendJson, sendStream } from './provider-server.ts';

export const call = (id: string, name: string, args: object): UpstreamCall => ({ id, name, text: JSON.stringify(args) });

/** Has the provider answer the next requests with these calls, one list for each; with a text where a list is empty. */
export function say(
  provider: Provider,
  format: WireFormatName,
  isStreamed: boolean,
  rounds: ReadonlyArray<readonly UpstreamCall[]>,
): void {
  // What Gemini streams in fragments is another fixture.
  const shape = format === 'gemini' ? 'whole' : 'fragments';
  for (const calls of rounds) {
    provider.next((_request, response) => {
      if (isStreamed) sendStream(response, streams[format](shape, calls));
      else sendJson(response, answers[format]('fragments', calls));
    });
  }
}

/** Tools of the daemon in these tests: one that answers, one that needs a person. */
export const toolPlugins = {
  'weather.ts': `export default { name: 'weather', description: 'The weather of a city.', isParallelSafe: true,
    handler: (args: { city: string }) => 'sunny in ' + args.city }`,
  'wipe.ts': `export default { name: 'wipe', description: 'Wipes a disk.', isDangerous: true,
    handler: (args: { disk: string }) => 'wiped ' + args.disk }`,
};

/** Two calls side by side, one that a person approves, and the answer. */
export const threeRounds: ReadonlyArray<readonly UpstreamCall[]> = [
  [call('call_oslo', 'weather', { city: 'Oslo' }), call('call_bern', 'weather', { city: 'Bern' })],
  [call('call_wipe', 'wipe', { disk: 'C' })],
  [],
];
