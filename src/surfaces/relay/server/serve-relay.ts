/** The relay as a Node server: HTTP, server-sent events and WebSockets on one port. */

import { loopbackNames } from '../../../values/http/web-address.ts';
import {
  kind,
  readOptions,
  required,
  type TableOf,
  wholeNumber,
  withDefault,
} from '../../../values/options/index.ts';
import { createRelay, type Relay } from '../create-relay.ts';
import type { RelayOptions } from '../options.ts';
import { relayTable } from '../read-options.ts';
import { safeLogger } from '../report.ts';
import type { NodeServer } from './node-server.ts';
import { serverPortOf } from './server-port.ts';

/** Options of `serveRelay`: those of `createRelay`, and where to listen. */
export interface ServeRelayOptions<S = unknown> extends RelayOptions<S> {
  /** The port to listen on, 0 to 65 535. 0 takes any free port. */
  readonly port: number;
  /**
   * The name or address to listen on, IPv6 without brackets. Unless it is a loopback address, set
   * `hostKey` and put a proxy with TLS in front. @default "127.0.0.1"
   */
  readonly host?: string | undefined;
  /**
   * Most open connections, including streams and WebSockets. Further ones are closed at once. From
   * 1. @default 10_000
   */
  readonly maxConnections?: number | undefined;
}

/** A listening relay. */
export interface ServedRelay<S = unknown> {
  /** The address that it listens on, such as `http://127.0.0.1:4040`. */
  readonly url: string;
  /** The port from the options, or the one that was found. */
  readonly port: number;
  /** The node behind it. */
  readonly relay: Relay<S>;
  /**
   * Closes the relay like `relay.close()`, then stops listening, gives connections five seconds to
   * end, and cuts the rest. Idempotent.
   */
  close(): Promise<void>;
}

/** The options of `serveRelay`. Those with more complex checks are checked by `createRelay`. */
export const serveRelayTable = {
  ...relayTable,
  port: required(wholeNumber(0, 65_535)),
  host: withDefault(
    kind<string>(
      'a name or an address, IPv6 without brackets',
      (value) => typeof value === 'string' && /^[\w.:%-]+$/.test(value),
    ),
    '127.0.0.1',
  ),
  maxConnections: withDefault(wholeNumber(1, 2 ** 31 - 1), 10_000),
} satisfies TableOf<ServeRelayOptions>;

/**
 * Serves a relay. Clients have 10 seconds to send the headers of a request and 60 for all of it;
 * answers and streams may take longer. On a loopback address only loopback names are accepted in
 * the `Host` header, unless `allowedHosts` or `trustProxy` is set. WebSockets need the package
 * `ws`; without it they get 501. Rejects with a MisuseError `invalid_option` for invalid options,
 * and with the error of `node:net`, such as `EADDRINUSE`, when it cannot listen.
 *
 * @example
 * ```ts
 * import { serveRelay } from 'host-tools/relay';
 *
 * const relay = await serveRelay({ port: 4040 });
 * console.log(relay.url);
 * // later: await relay.close();
 * ```
 */
export async function serveRelay<S = unknown>(
  options: ServeRelayOptions<S>,
): Promise<ServedRelay<S>> {
  const given = readOptions('serveRelay', options, serveRelayTable);
  const { port, host, maxConnections, ...rest } = given;
  const shown = host.includes(':') ? `[${host}]` : host;
  const local = isLoopback(host);
  const { allowedHosts = local && !given.trustProxy ? [...loopbackNames, shown] : undefined } =
    given;
  const relay = createRelay<S>({ ...rest, allowedHosts });
  const own = serverPortOf(relay);
  if (own === undefined) throw new Error('The relay gave no port for servers.');
  const logger = safeLogger(given.logger);
  if (!local && given.hostKey === undefined)
    logger.warn(
      { host },
      'relay: this is not a loopback address and no `hostKey` is set, so anyone who can reach it ' +
        'can create sessions',
    );
  let server: NodeServer;
  try {
    // Hosts that mount `fetch` on a server of theirs do not load this one.
    const { listen } = await import('./node-server.ts');
    server = await listen(
      { answer: own.answered, sockets: own.sockets, logger, close: relay.close },
      { host, port, maxConnections },
    );
  } catch (error) {
    await relay.close();
    throw Object.assign(
      new Error(`The relay cannot listen on ${shown}:${port}: ${(error as Error).message}`, {
        cause: error,
      }),
      {
        code: (error as NodeJS.ErrnoException).code,
      },
    );
  }
  return { url: `http://${shown}:${server.port}`, port: server.port, relay, close: server.close };
}

function isLoopback(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i.test(host);
}
