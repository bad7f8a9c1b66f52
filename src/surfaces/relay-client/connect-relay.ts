/**
 * Connects an application to its session: registers its tools, passes calls to their handlers,
 * brings the answers back, and reconnects when needed.
 */
import { connectionOf, type Ends } from './connection.ts';
import { createHttp } from './http.ts';
import { isJsonObject, type JsonObject } from './json.ts';
import type { Transport } from './line.ts';
import type { RelayClientOptions, RelayConnection, RelayTransport } from './options.ts';
import { ownOptions } from './own-options.ts';
import { pollTransport } from './poll-transport.ts';
import { relayClientError } from './relay-client-error.ts';
import { sseTransport } from './sse-transport.ts';
import { type Target, targetOf } from './target.ts';
import { prepareTools } from './tool-list.ts';
import { websocketTransport } from './websocket-transport.ts';

const optionNames: readonly (keyof RelayClientOptions)[] = [
  'url',
  'code',
  'token',
  'tools',
  'onStatus',
  'onToolsChanged',
  'signal',
  'pluginType',
  'pluginVersion',
  'capabilities',
  'environment',
  'constraints',
  'transport',
  'fetch',
  'WebSocket',
  'random',
];

/**
 * Connects to a session of a relay. Resolves when the tools are registered and the connection is up
 * for the first time. Until then it keeps trying as long as that can help, for instance while the
 * network or the relay is away or a rate limit applies. `onStatus` is called for each attempt, and
 * `signal` stops them. Rejects with a `RelayClientError` if trying again cannot help: wrong options
 * (`invalid_options`), a token or a session that the relay does not know (status 401, 403, 404,
 * 410), a list of which it accepts no tool (422), or too many tools (413). If it accepts some tools
 * and refuses others, the refused ones are in `failed`.
 *
 * @example
 * ```ts
 * import { connectRelay } from 'host-tools/relay/client';
 *
 * declare const [code, token]: [string, string]; // from the host that created the session
 *
 * const relay = await connectRelay({
 *   url: 'https://relay.example.com',
 *   code,
 *   token,
 *   tools: [
 *     {
 *       name: 'get_title',
 *       description: 'The title of the document.',
 *       parameters: { type: 'object' },
 *       handler: () => 'Report 2025',
 *     },
 *   ],
 * });
 * // later: await relay.close();
 * ```
 */
export async function connectRelay(options: RelayClientOptions): Promise<RelayConnection> {
  const own = ownOptions('connectRelay', options, optionNames) as RelayClientOptions;
  const target = targetOf(own);
  const list = prepareTools(own.tools);
  const fetch = own.fetch ?? ((url: string, init?: RequestInit) => globalThis.fetch(url, init));
  const http = createHttp(target, fetch);
  const transports = transportsOf(own, http, target);
  return new Promise((resolve, reject) => {
    const ends: Ends = { connected: resolve, closed: reject };
    connectionOf({ http, transports, list, plugin: pluginOf(own), options: own, ends });
  });
}

function transportsOf(
  { transport = 'auto', WebSocket }: RelayClientOptions,
  http: ReturnType<typeof createHttp>,
  { base }: Target,
): readonly Transport[] {
  const Socket =
    WebSocket ??
    (globalThis as { readonly WebSocket?: NonNullable<RelayClientOptions['WebSocket']> }).WebSocket;
  const all: Record<RelayTransport, () => Transport[]> = {
    websocket: () => (typeof Socket === 'function' ? [websocketTransport(http, base, Socket)] : []),
    sse: () => [sseTransport(http)],
    poll: () => [pollTransport(http)],
  };
  if (transport === 'auto') return [...all.websocket(), ...all.sse(), ...all.poll()];
  if (!Object.hasOwn(all, transport))
    throw invalid("transport must be 'auto', 'websocket', 'sse' or 'poll'.");
  const [only] = all[transport]();
  if (only === undefined)
    throw invalid(
      'This environment has no WebSocket. Pass one as the option WebSocket, or use another ' +
        'transport.',
    );
  return [only];
}

function pluginOf({
  pluginType = 'custom',
  pluginVersion = '1.0.0',
  capabilities = [],
  environment = {},
  constraints = {},
}: RelayClientOptions): JsonObject {
  if (typeof pluginType !== 'string' || typeof pluginVersion !== 'string')
    throw invalid('pluginType and pluginVersion must be strings.');
  if (!Array.isArray(capabilities) || !isJsonObject(environment) || !isJsonObject(constraints))
    throw invalid(
      'capabilities must be an array, and environment and constraints must be objects.',
    );
  const plugin = { pluginType, pluginVersion, capabilities, environment, constraints };
  try {
    return JSON.parse(JSON.stringify(plugin)) as JsonObject;
  } catch {
    throw invalid('capabilities, environment and constraints must be plain JSON.');
  }
}

function invalid(message: string): Error {
  return relayClientError('invalid_options', message);
}
