import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import type { BorderView } from '../../border/border.ts';
import { createFrameReader, type Frame, type FrameBounds, streamWindowBytes } from './frames.ts';

/**
 * What the daemon and a guest that is a process (Deno, Node in a container) say to each other, as headers of frames. The
 * guest is hostile: what it sends is parsed by `createGuestReader` alone, and whatever does not fit ends the process.
 */

/** What a call is told about itself; the same as in every other engine. */
export interface CallFacts {
  readonly handler: string;
  readonly executionId: string;
  readonly caller: string;
  readonly session: string;
  readonly outputBytes: number;
  readonly seed: readonly [number, number, number];
}

/** From the daemon to the guest. What is named in capitals travels as the text of the frame. */
export type HostMessage =
  /** CODE: the bundle as an ES module. `label` is the plugin's file name. The guest answers `loaded` or `throw`. */
  | { readonly t: 'load'; readonly fileBase: string }
  /** ARGUMENTS as JSON. The guest answers `return` or `throw`. With `hook` that function of the plugin instead of a handler. */
  | {
      readonly t: 'call';
      readonly facts: CallFacts;
      readonly view: BorderView;
      readonly hook?: string;
      /** Beyond so many lines of the log, and messages of progress, the guest sends no more. */
      readonly logLines: number;
    }
  /** PAYLOAD of the answer, or `{code, message}` when it is not ok; bytes as the body. A changed view comes along. */
  | { readonly t: 'answer'; readonly id: number; readonly ok: boolean; readonly view?: BorderView }
  /** The connection that the guest dialled is open. */
  | { readonly t: 'opened'; readonly id: number }
  /** BODY came over it; `end` says that no more will come. */
  | { readonly t: 'data' | 'end'; readonly id: number }
  /** So much of what the guest sent was passed on: it may send as much again. */
  | { readonly t: 'ack'; readonly id: number; readonly bytes: number }
  /** It is over, or was never opened: then REASON is `{code, message}`. */
  | { readonly t: 'close'; readonly id: number };

const messageId = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });

const guestMessages = Type.Union([
  /** The runner is there and waits; or it took a call, and what follows belongs to that. */
  Type.Object({ t: Type.Literal('ready') }),
  /** TEXT: the exports as data, as `src/guests/cell/describe.ts` writes them. */
  Type.Object({ t: Type.Literal('loaded') }),
  /** PAYLOAD and body of a question. */
  Type.Object({
    t: Type.Literal('ask'),
    id: messageId,
    op: Type.String({ minLength: 1, maxLength: 80 }),
  }),
  /** Nobody waits for the answer any more. */
  Type.Object({ t: Type.Literal('cancel'), id: messageId }),
  /** TEXT: `{level, text}`. */
  Type.Object({ t: Type.Literal('log') }),
  /** TEXT: `{done, total?, message?}`. */
  Type.Object({ t: Type.Literal('progress') }),
  /** TEXT: a name of the view that the guest read in vain. */
  Type.Object({ t: Type.Literal('denied') }),
  /** TEXT: what the handler returned, as JSON. */
  Type.Object({ t: Type.Literal('return') }),
  /** TEXT: `{name?, message, stack?, code?}`. */
  Type.Object({ t: Type.Literal('throw') }),
  /** Opens a connection; numbers of connections grow. */
  Type.Object({
    t: Type.Literal('dial'),
    id: messageId,
    host: Type.String({ minLength: 1, maxLength: 255 }),
    port: Type.Integer({ minimum: 0, maximum: 65_535 }),
  }),
  /** BODY for a connection, no more than `streamWindowBytes` before the daemon says `ack`. */
  Type.Object({ t: Type.Literal('data'), id: messageId }),
  /** The guest writes no more, or wants no more of it. */
  Type.Object({ t: Type.Union([Type.Literal('end'), Type.Literal('close')]), id: messageId }),
  /** So many bytes of a connection were read. */
  Type.Object({ t: Type.Literal('ack'), id: messageId, bytes: Type.Integer({ minimum: 1, maximum: 2 * streamWindowBytes }) }),
]);

/** The header of a frame from the guest. */
export type GuestHeader = Static<typeof guestMessages>;

/** A message from the guest, whose header was checked. */
export interface GuestMessage {
  readonly header: GuestHeader;
  readonly text: string;
  readonly body?: Uint8Array;
}

/** What a guest sent that no honest one does; its process is to be ended. */
export class GuestMisbehaved extends Error {}

/** Sends one frame to the guest. */
export type SendToGuest = (message: HostMessage, text?: string, body?: Uint8Array) => void;

/** Bounds of what a guest may send in one message: room for the largest file or request body that the host takes. */
const bounds: FrameBounds = { headerBytes: 4 * 1024, textBytes: 32 * 1024 * 1024, bodyBytes: 17 * 1024 * 1024 };
const guestHeader = Compile(guestMessages);

/** Makes the daemon's reader of one guest. It throws for bytes that are no message: the process is to be ended then. */
export function createGuestReader(): (chunk: Uint8Array) => GuestMessage[] {
  const read = createFrameReader(bounds);
  return (chunk) => read(chunk).map(readMessage);
}

function readMessage({ header, text, body }: Frame): GuestMessage {
  return { header: guestHeader.Parse(header), text, ...(body === undefined ? {} : { body }) };
}
