import { resolveLimits } from '../src/config/limits.ts';
import { Deadline } from '../src/engines/deadline.ts';
import type { Engine, Isolation, RunOutcome } from '../src/engines/engine.ts';

const limits = resolveLimits();
const never = new AbortController().signal;
/** A border that grants nothing. */
const host = {
  answer: async () => ({ ok: false, code: 'permission-denied', message: '' }) as const,
  view: () => ({ config: {}, env: {}, denied: {} }),
  log: () => {},
  progress: () => {},
};

/** Calls of one program on an engine alone, without a daemon around it. */
export function createEngineCall(
  engine: Engine,
  { label, code, argumentsJson }: { readonly label: string; readonly code: string | Uint8Array; readonly argumentsJson: string },
): (isolation: Isolation) => Promise<RunOutcome> {
  const program = {
    key: label,
    label,
    readCode: async () => code,
    readImage: async () => undefined,
    saveImage: () => {},
  };
  return (isolation) =>
    engine.run(
      {
        executionId: 'bench',
        program,
        handler: 'default',
        argumentsJson,
        isolation,
        cellKey: isolation,
        limits,
        deadline: new Deadline(limits.wallMs),
        caller: 'local',
        session: 'bench',
        holder: { callerId: 'tester', unitPath: 'tried.ts', isAdmin: false },
      },
      host,
      never,
    );
}
