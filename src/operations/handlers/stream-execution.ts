import type { CallRequest } from '../../calls/call-types.ts';
import type { EventLog } from '../../events/event.ts';
import type { OperationContext } from '../operation.ts';
import { filterFor } from './events.ts';

/** Streams what happens in a call from its first moment on, to those who asked for it; returns the end of it. */
export function streamExecution(
  request: { onAccepted?: CallRequest['onAccepted'] },
  { stream, caller }: OperationContext,
  events: Pick<EventLog, 'subscribe'>,
): (() => void) | undefined {
  if (stream === undefined) return undefined;
  let end: (() => void) | undefined;
  request.onAccepted = (execution) => {
    stream.accepted(execution);
    end = events.subscribe({ ...filterFor(caller, undefined), execution }, (event) => stream.event(event));
  };
  return () => end?.();
}
