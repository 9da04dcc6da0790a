import type { GetPromptResult, ReadResourceResult } from '@modelcontextprotocol/client';
import { isObject, omitUndefined } from '../../config/json-object.ts';
import type { HostedCall, HostedOffering } from '../../tools/hosted/hosted-types.ts';
import { completionHandlerOf } from '../../units/offering.ts';
import type { Connection } from '../connection.ts';
import { fillTemplate, type ServerOffering } from './read-offerings.ts';

/** Asks a server that is there, or is waited for. */
export type AskServer = <Value>(call: HostedCall, ask: (connection: Connection) => Promise<Value>) => Promise<Value>;

/** A prompt or a resource of a server, answered by asking the server. */
export function hostOffering(offering: ServerOffering, askServer: AskServer): HostedOffering {
  const { manifest } = offering;
  const ref =
    'prompt' in offering
      ? ({ type: 'ref/prompt', name: offering.prompt } as const)
      : ({ type: 'ref/resource', uri: offering.uri } as const);
  const answer = (args: unknown, call: HostedCall): Promise<unknown> => {
    const given = isObject(args) ? args : {};
    return askServer(call, ({ ask }) =>
      ask(call, async (client, options) => {
        if (!('prompt' in offering))
          return readContents(
            await client.readResource({ uri: fillTemplate(offering.uri, given) }, { ...options, cacheMode: 'bypass' }),
          );
        const texts = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, String(value)]));
        return readMessages(await client.getPrompt({ name: offering.prompt, arguments: texts }, options));
      }),
    );
  };
  const complete = (name: string) => (args: unknown, call: HostedCall) => {
    const { value, context } = isObject(args) ? args : {};
    const others = Object.fromEntries(Object.entries(isObject(context) ? context : {}).map(([key, each]) => [key, String(each)]));
    return askServer(call, ({ ask }) =>
      ask(call, async (client, options) => {
        const argument = { name, value: String(value ?? '') };
        const { completion } = await client.complete({ ref, argument, context: { arguments: others } }, options);
        return completion.values;
      }),
    );
  };
  return {
    manifest,
    handlers: {
      [manifest.call.handler]: answer,
      ...Object.fromEntries(
        Object.keys(manifest.completions).map((name) => [completionHandlerOf(manifest, name), complete(name)]),
      ),
    },
  };
}

function readMessages({ description, messages }: GetPromptResult): unknown {
  return { ...omitUndefined({ description }), messages: messages.map(({ role, content }) => ({ role, content })) };
}

function readContents({ contents }: ReadResourceResult): unknown {
  return {
    contents: contents.map(({ uri, mimeType, ...each }) => ({
      uri,
      ...omitUndefined({ mimeType }),
      ...('text' in each ? { text: each.text } : { blob: each.blob }),
    })),
  };
}
