/** A server behind Streamable HTTP. */
import type { StreamableHTTPClientTransport, Transport } from '@modelcontextprotocol/client';
import { boundedFetch } from './fetch.ts';
import { shakeHands } from './handshake.ts';
import { answerLost, type Link, type OpenOptions } from './link.ts';
import { messageBounds, smallBounds } from './message-guard.ts';
import { loadSdk } from './sdk.ts';
import { createReconnections } from './storms.ts';

/** A server behind Streamable HTTP. */
export interface McpHttpConnection {
  /** The endpoint. Redirects are followed only within its origin. */
  readonly url: string | URL;
  /** Sent with every request, such as `authorization`. @default {} */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** The error message for an answer that can no longer arrive. */
const lostMessage = 'The connection ended before the server had answered';

/** How long `close` waits for the server to end its session. */
const terminateMs = 1_000;

/** Completes the handshake over HTTP. @throws ConnectionFault */
export async function openHttp(
  { url, headers = {} }: McpHttpConnection,
  options: OpenOptions,
): Promise<Link> {
  const endpoint = new URL(url);
  // `greeted` becomes true after the handshake, whose messages have the tighter bounds.
  const state = { greeted: false, excess: undefined as string | undefined };
  const transport = await createTransport(endpoint, headers, state, options.auth);
  noticeLostAnswers(transport);
  const link = await shakeHands(
    {
      transport,
      place: `\`${endpoint.origin}${endpoint.pathname}\``,
      probeMs: options.handshakeMs,
      stderr: () => '',
      excess: () => state.excess,
    },
    options,
  );
  state.greeted = true;
  return terminating(link, transport);
}

async function createTransport(
  endpoint: URL,
  headers: Readonly<Record<string, string>>,
  state: { readonly greeted: boolean; excess: string | undefined },
  auth: OpenOptions['auth'],
): Promise<StreamableHTTPClientTransport> {
  const { StreamableHTTPClientTransport: SdkTransport } = await loadSdk();
  const reconnections = createReconnections({ now: () => performance.now() }, (run, ms) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  });
  const transport = new SdkTransport(endpoint, {
    requestInit: { headers: { ...headers } },
    ...(auth === undefined ? {} : { authProvider: auth }),
    fetch: boundedFetch(fetch, {
      bounds: () => (state.greeted ? messageBounds : smallBounds),
      exceeded: (message) => {
        state.excess = message;
      },
    }),
    reconnectionOptions: {
      initialReconnectionDelay: 500,
      maxReconnectionDelay: 5_000,
      reconnectionDelayGrowFactor: 2,
      maxRetries: 3,
    },
    reconnectionScheduler: reconnections.schedule,
  });
  const close = transport.close.bind(transport);
  transport.close = () => {
    reconnections.clear();
    return close();
  };
  return transport;
}

/** The same link, which asks the server to end its session before it closes. */
function terminating(link: Link, transport: StreamableHTTPClientTransport): Link {
  return {
    ...link,
    get lost() {
      return link.lost;
    },
    get excess() {
      return link.excess;
    },
    set onlost(listener: (() => void) | undefined) {
      link.onlost = listener;
    },
    get onlost() {
      return link.onlost;
    },
    async close() {
      // A courtesy to the server, so a server that hangs must not delay the close.
      if (!link.lost)
        await Promise.race([transport.terminateSession().catch(() => {}), delay(terminateMs)]);
      await link.close();
    },
  };
}

/**
 * Over HTTP, each request has its own response. If that ends without an answer, the SDK would wait
 * forever, so an error is delivered instead.
 */
function noticeLostAnswers(transport: Transport): void {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if (Array.isArray(message) || !('id' in message) || !('method' in message))
      return send(message, options);
    const { id } = message;
    return send(message, {
      ...options,
      onRequestStreamEnd: () => {
        options?.onRequestStreamEnd?.();
        // Has no effect on a request that was answered: its id is no longer in use.
        transport.onmessage?.({
          jsonrpc: '2.0',
          id,
          error: { code: -32_000, message: lostMessage, data: answerLost },
        });
      },
    });
  };
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
