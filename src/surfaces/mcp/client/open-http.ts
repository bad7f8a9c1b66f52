/** A server behind Streamable HTTP. */
import type { StreamableHTTPClientTransport, Transport } from '@modelcontextprotocol/client';
import { messageOf } from '../../../values/errors/index.ts';
import { connectionFault } from '../../shared/executor-fault.ts';
import type { McpAuth } from './auth-options.ts';
import { boundedFetch, formOf } from './fetch.ts';
import { shakeHands } from './handshake.ts';
import { answerLost, type Link, type OpenOptions } from './link.ts';
import type { Authorizer } from './login.ts';
import { messageBounds, smallBounds } from './message-guard.ts';
import { loadSdk } from './sdk.ts';
import { createReconnections } from './storms.ts';
import { isCausedBy, waitForLogins } from './wait-for-logins.ts';
import { scopesIn } from './wanted-scopes.ts';

/** A server behind Streamable HTTP. */
export interface McpHttpConnection {
  /** The endpoint. Redirects are followed only within its origin. */
  readonly url: string | URL;
  /** Sent with every request, such as `authorization`. @default {} */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * How it gets tokens, if the server asks for them (OAuth 2.1). Requests of a login go to the
   * server's own origin and to https addresses only. A call that lacks a scope asks for it once,
   * and is then made again. @default no tokens
   */
  readonly auth?: McpAuth | undefined;
}

/** The error message for an answer that can no longer arrive. */
const lostMessage = 'The connection ended before the server had answered';

/** How long `close` waits for the server to end its session. */
const terminateMs = 1_000;

/** Completes the handshake over HTTP. @throws ConnectionFault */
export async function openHttp(
  { url, headers = {} }: Pick<McpHttpConnection, 'url' | 'headers'>,
  options: OpenOptions,
  authorizer?: Authorizer,
): Promise<Link> {
  const opening: Opening = {
    endpoint: new URL(url),
    headers,
    options,
    authorizer,
    logIn: undefined,
  };
  try {
    return await openOnce(opening);
  } catch (error) {
    const { UnauthorizedError } = await loadSdk();
    if (opening.logIn === undefined || !isCausedBy(error, UnauthorizedError)) throw error;
    // The handshake is over, since a person may take longer than a server.
    await opening.logIn().catch((cause: unknown) => {
      throw connectionFault(`Cannot log in to ${placeOf(opening)}: ${messageOf(cause)}`, cause);
    });
    return openOnce(opening);
  }
}

/** One connection that is being opened. */
interface Opening {
  readonly endpoint: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly options: OpenOptions;
  readonly authorizer: Authorizer | undefined;
  /** Waits for the login that the last request has begun. Undefined if nobody can log in. */
  logIn: (() => Promise<void>) | undefined;
}

function placeOf({ endpoint }: Opening): string {
  return `\`${endpoint.origin}${endpoint.pathname}\``;
}

async function openOnce(opening: Opening): Promise<Link> {
  const { options } = opening;
  // `greeted` becomes true after the handshake, whose messages have the tighter bounds.
  const state = { greeted: false, excess: undefined as string | undefined };
  const transport = await createTransport(opening, state);
  noticeLostAnswers(transport);
  const link = await shakeHands(
    {
      transport,
      place: placeOf(opening),
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
  opening: Opening,
  state: { readonly greeted: boolean; excess: string | undefined },
): Promise<StreamableHTTPClientTransport> {
  const { endpoint, headers, options, authorizer } = opening;
  const {
    StreamableHTTPClientTransport: SdkTransport,
    UnauthorizedError,
    extractWWWAuthenticateParams,
  } = await loadSdk();
  const reconnections = createReconnections({ now: () => performance.now() }, (run, ms) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  });
  const authProvider = authorizer?.provider ?? options.auth;
  const bounded = boundedFetch(fetch, {
    bounds: () => (state.greeted ? messageBounds : smallBounds),
    exceeded: (message) => {
      state.excess = message;
    },
  });
  const ask = options.auth?.over(bounded) ?? bounded;
  const transport = new SdkTransport(endpoint, {
    requestInit: { headers: { ...headers } },
    ...(authProvider === undefined ? {} : { authProvider }),
    // The SDK sends the requests of a login by the same function. A server may name its own
    // endpoint as the one that gives tokens.
    fetch:
      authorizer === undefined
        ? ask
        : async (address, init) => {
            const isMessage = String(address) === endpoint.href && formOf(init) === undefined;
            if (!isMessage) return authorizer.fetch(address, init);
            const response = await ask(address, init);
            const { error, scope } =
              response.status === 403 ? extractWWWAuthenticateParams(response) : {};
            if (error === 'insufficient_scope') authorizer.note?.(scopesIn(scope));
            return response;
          },
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
  if (authorizer?.finish !== undefined)
    opening.logIn = waitForLogins(transport, authorizer, state, UnauthorizedError);
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
