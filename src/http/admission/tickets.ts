import { randomBytes } from 'node:crypto';
import { Type } from 'typebox';
import type { Caller } from '../../callers/caller.ts';
import { defineContract, implement, type Operation } from '../../operations/operation.ts';
import type { Shares } from './shares.ts';

/** Makes tickets for browsers, which cannot send an Authorization header with a WebSocket. */
export interface TicketOffice {
  readonly operation: Operation;
  /** Who the ticket was made for; a ticket works once. */
  redeem(ticket: string): Caller | undefined;
}

interface Ticket {
  readonly caller: Caller;
  /** As performance.now() tells. */
  readonly madeAtMs: number;
  readonly release: () => void;
}

const validMs = 30_000;

/** How a ticket is asked for. */
export const ticketContract = defineContract({
  name: 'tickets.create',
  summary: 'Makes a ticket that opens one WebSocket within 30 seconds: /ws?ticket=…',
  role: 'caller',
  isForPeople: true,
  input: {},
  output: Type.Object({ ticket: Type.String(), expiresAtMs: Type.Number() }),
  http: { method: 'POST', path: '/api/tickets' },
});

/** Tickets live in memory: a restart makes them void. */
export function createTicketOffice(shares: Shares, now: () => number = () => performance.now()): TicketOffice {
  const tickets = new Map<string, Ticket>();

  function forgetExpired(): void {
    // Oldest first, so the first one that is valid ends the search.
    for (const [ticket, { madeAtMs, release }] of tickets) {
      if (madeAtMs + validMs > now()) return;
      tickets.delete(ticket);
      release();
    }
  }

  return {
    operation: implement(ticketContract, (_input, { caller }) => {
      forgetExpired();
      const release = shares.take(caller);
      const ticket = randomBytes(24).toString('base64url');
      tickets.set(ticket, { caller, madeAtMs: now(), release });
      return { ticket, expiresAtMs: Date.now() + validMs };
    }),
    redeem(ticket) {
      forgetExpired();
      const entry = tickets.get(ticket);
      tickets.delete(ticket);
      entry?.release();
      return entry?.caller;
    },
  };
}
