import type { JSONRPCMessage, JSONRPCRequest, RequestId, Transport } from '@modelcontextprotocol/client';
import {
  isInitializedNotification,
  isInitializeRequest,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  isJSONRPCResultResponse,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { isObject } from '../../../config/json-object.ts';

/** Where a daemon serves MCP. */
export interface McpEndpoint {
  readonly url: URL;
  readonly token: string;
}

/** What a bridge is made of. */
export interface BridgeParts {
  /** The client, on the standard streams of this process. */
  readonly client: Transport;
  /** Finds the daemon, or starts one; asked again when it is gone. */
  readonly find: () => Promise<McpEndpoint>;
  /** For people: standard error. */
  readonly note: (text: string) => void;
}

/** How one message is carried. */
interface Delivery {
  readonly requestSignal: AbortSignal;
  readonly onRequestStreamEnd: () => void;
}

const internalError = -32603;
/** Stands for the handshake that the bridge repeats with a daemon that was started anew. */
const greetingId = 'hotcell-bridge-greeting';

/**
 * Carries MCP between standard streams and the daemon, message by message, in both eras. A daemon that went away is found or
 * started again, and a client of the older era does not notice: its handshake is repeated.
 */
export class StdioBridge {
  readonly #parts: BridgeParts;
  /** Requests of the client that are not answered yet, and how each is given up. */
  readonly #open = new Map<RequestId, AbortController>();
  #daemon: Promise<StreamableHTTPClientTransport> | undefined;
  #greeting: JSONRPCRequest | undefined;
  #isGreeted = false;

  constructor(parts: BridgeParts) {
    this.#parts = parts;
    parts.client.onmessage = (message) => void this.#fromClient(message);
  }

  async close(): Promise<void> {
    for (const controller of this.#open.values()) controller.abort();
    const daemon = await this.#daemon?.catch(() => undefined);
    await daemon?.terminateSession().catch(() => {});
    await daemon?.close();
  }

  async #fromClient(message: JSONRPCMessage): Promise<void> {
    if (isInitializeRequest(message) && isJSONRPCRequest(message)) this.#greeting = message;
    const cancelled = readCancelled(message);
    if (cancelled !== undefined && this.#greeting === undefined) {
      // Without a session a request is cancelled by letting go of its answer.
      this.#open.get(cancelled)?.abort();
      this.#open.delete(cancelled);
      return;
    }
    const id = isJSONRPCRequest(message) ? message.id : undefined;
    const controller = new AbortController();
    if (id !== undefined) this.#open.set(id, controller);
    const fail = (reason: string): void => {
      this.#parts.note(`${reason}\n`);
      if (id === undefined || !this.#open.delete(id)) return;
      this.#tell({ jsonrpc: '2.0', id, error: { code: internalError, message: reason } });
    };
    try {
      // An answer that broke off comes no more: its client asks again rather than wait for ever.
      const onRequestStreamEnd = (): void => {
        if (id !== undefined && this.#open.has(id))
          fail('The daemon ended before it answered. Ask again: it is found or started.');
      };
      await this.#deliver(message, { requestSignal: controller.signal, onRequestStreamEnd });
      if (isInitializedNotification(message)) this.#isGreeted = true;
    } catch (error) {
      // It was cancelled, or the client is gone.
      if (controller.signal.aborted) return;
      fail(error instanceof Error ? error.message : String(error));
    }
  }

  /** A client that closed its streams meanwhile reads nothing more. */
  #tell(message: JSONRPCMessage): void {
    this.#parts.client.send(message).catch(() => {});
  }

  /** A daemon that is gone, or that knows nothing of the session, is asked once more from the start. */
  async #deliver(message: JSONRPCMessage, options: Delivery): Promise<void> {
    const daemon = await this.#connect();
    try {
      await daemon.send(message, options);
    } catch (error) {
      if (options.requestSignal.aborted || !isLost(error)) throw error;
      if (this.#daemon !== undefined && (await this.#daemon.catch(() => undefined)) === daemon) this.#daemon = undefined;
      await daemon.close();
      await (await this.#connect()).send(message, options);
    }
  }

  #connect(): Promise<StreamableHTTPClientTransport> {
    this.#daemon ??= this.#begin().catch((error: unknown) => {
      this.#daemon = undefined;
      throw error;
    });
    return this.#daemon;
  }

  async #begin(): Promise<StreamableHTTPClientTransport> {
    const { url, token } = await this.#parts.find();
    const daemon = new StreamableHTTPClientTransport(url, { requestInit: { headers: { authorization: `Bearer ${token}` } } });
    const greeted = Promise.withResolvers<void>();
    daemon.onmessage = (message) => {
      const isGreeting = isJSONRPCResponse(message) && (message.id === greetingId || message.id === this.#greeting?.id);
      if (isGreeting && isJSONRPCResultResponse(message) && typeof message.result.protocolVersion === 'string') {
        daemon.setProtocolVersion(message.result.protocolVersion);
      }
      if (isJSONRPCResponse(message) && message.id === greetingId) return greeted.resolve();
      if (isJSONRPCResponse(message) && message.id !== undefined) this.#open.delete(message.id);
      this.#tell(message);
    };
    await daemon.start();
    if (this.#greeting !== undefined && this.#isGreeted) {
      await daemon.send({ ...this.#greeting, id: greetingId });
      await greeted.promise;
      await daemon.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
      for (const list of ['tools', 'prompts', 'resources']) {
        this.#tell({ jsonrpc: '2.0', method: `notifications/${list}/list_changed` });
      }
    }
    return daemon;
  }
}

function readCancelled(message: JSONRPCMessage): RequestId | undefined {
  if (!isJSONRPCNotification(message) || message.method !== 'notifications/cancelled') return undefined;
  const id: unknown = message.params?.requestId;
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}

/** The daemon does not listen, or it was started anew and knows no session. */
function isLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ('status' in error) return error.status === 404;
  return error instanceof TypeError || (isObject(error) && isObject(error.cause) && 'code' in error.cause);
}
