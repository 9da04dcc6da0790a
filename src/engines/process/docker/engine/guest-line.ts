import type { Duplex } from 'node:stream';
import type { BorderHost } from '../../../../border/border.ts';
import type { CellContainer } from '../container/container.ts';
import { createEgress, type Egress } from '../egress/egress.ts';
import { RelayedSocket } from '../egress/relayed-socket.ts';
import { fromInit, type InitFrame, toInit } from '../init/init-frames.ts';

/** Who hears what comes out of a container with a guest, beside its channel. */
export interface GuestLineListener {
  onOutput(stream: 'stdout' | 'stderr', bytes: Buffer): void;
  /** The guest's process ended; `oomKills` counts the processes that the kernel ended for want of memory. */
  onExit(end: { readonly status: number; readonly oomKills: number }): void;
  /** The guest could not be started, with the error number of the system. */
  onFailed(errno: number): void;
  /** The line is down: the container is gone, or speaks what is no frame. */
  onDown(): void;
}

/** What comes over the line to a container, told apart. */
export interface GuestLine {
  /** The channel of the guest: the first connection that is made in the container, before any code of a plugin runs there. */
  readonly channel: Promise<Duplex>;
  /** Later connections are those of network clients: they go where `dial` lets them, until this is called again. */
  allowDial(dial: BorderHost['dial'] | undefined): void;
}

const [stdoutChannel, stderrChannel] = [2, 3];

/** Takes over the line of a container. */
export function listenToGuest(cell: CellContainer, listener: GuestLineListener): GuestLine {
  const { link } = cell;
  const channel = Promise.withResolvers<Duplex>();
  let guest: { readonly id: number; readonly socket: RelayedSocket } | undefined;
  let egress: Egress | undefined;

  function accept(frame: InitFrame): void {
    if (guest !== undefined) {
      if (egress !== undefined) egress.hear(frame);
      else link.send(toInit.close, frame.channel);
      return;
    }
    guest = { id: frame.channel, socket: new RelayedSocket(link, frame.channel) };
    channel.resolve(guest.socket);
  }

  function hear(frame: InitFrame): void {
    const { type, channel: id, payload } = frame;
    if (type === fromInit.accept) accept(frame);
    else if (type === fromInit.ack && (id === guest?.id || id <= stderrChannel)) link.acknowledge(id, payload.readUInt32LE(0));
    else if (id === guest?.id) hearGuest(guest.socket, frame);
    else if (id > stderrChannel) egress?.hear(frame);
    else if (type === fromInit.data) {
      link.sendNumber(toInit.ack, id, payload.length);
      listener.onOutput(id === stdoutChannel ? 'stdout' : 'stderr', payload);
    } else if (type === fromInit.exit) {
      listener.onExit({ status: payload.readUInt32LE(0), oomKills: payload.readUInt32LE(4) });
    } else if (type === fromInit.failed) listener.onFailed(payload.readUInt32LE(0));
  }

  cell.listen({
    onFrame: (frame) => {
      try {
        hear(frame);
      } catch {
        // A frame that is shorter than it must be.
        link.close();
      }
    },
    onDown: () => {
      egress?.close();
      guest?.socket.destroy();
      listener.onDown();
    },
    onDrain: (id) => (id === guest?.id ? guest.socket.takeDrain() : egress?.drain(id)),
  });
  return {
    channel: channel.promise,
    allowDial: (dial) => {
      egress?.close();
      egress = dial === undefined ? undefined : createEgress({ link, dial });
    },
  };
}

function hearGuest(socket: RelayedSocket, { type, payload }: InitFrame): void {
  if (type === fromInit.data) socket.takeData(payload);
  else if (type === fromInit.end) socket.takeEnd();
  else if (type === fromInit.close) socket.takeClose();
}
