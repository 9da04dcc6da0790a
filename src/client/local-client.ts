import Value from 'typebox/value';
import { operatorCaller } from '../callers/caller.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { EventEnvelope } from '../events/event.ts';
import type { Daemon } from '../operations/daemon-types.ts';
import { prepareOperations } from '../operations/invoke.ts';
import type { Client } from './client.ts';

/** Speaks to the parts of a daemon in this process: the same operations, checks and answers, without a door. */
export function createLocalClient(daemon: Daemon): Client {
  const operations = prepareOperations(daemon.operations);
  return {
    isAlone: true,
    async invoke(contract, input, { signal, stream } = {}) {
      const context = {
        caller: operatorCaller,
        signal: signal ?? new AbortController().signal,
        cancelSignal: signal,
        stream: contract.streams === true ? stream : undefined,
      } as const;
      const output = await operations.get(contract.name)?.invoke(input, context);
      if (Value.Check(contract.output, output)) return output;
      throw new HotcellError('internal', `${contract.name} answered with something else than its contract says.`);
    },
    async *events({ types, signal, onOpen }) {
      const waiting: EventEnvelope[] = [];
      let wake = Promise.withResolvers<void>();
      const ring = (): void => wake.resolve();
      const end = daemon.parts.events.subscribe(types === undefined ? {} : { types }, (event) => {
        waiting.push(event);
        ring();
      });
      signal.addEventListener('abort', ring);
      onOpen?.();
      try {
        while (!signal.aborted) {
          await wake.promise;
          wake = Promise.withResolvers();
          yield* waiting.splice(0);
        }
      } finally {
        end();
        signal.removeEventListener('abort', ring);
      }
    },
    close: () => daemon.close('the command is done'),
  };
}
