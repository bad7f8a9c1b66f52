/**
 * Connects an application to its session: registers its tools, passes calls to their handlers,
 * brings the answers back, and reconnects when needed.
 */
import { connectionOf, type Ends } from './connection.ts';
import { createHttp, type RelayHttp } from './http.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseObject, stringIn } from './json.ts';
import { type Line, streamPath, type Transport, transportUnavailable } from './line.ts';
import type { RelayClientOptions, RelayConnection, RelayTransport } from './options.ts';
import { ownOptions, type Target, targetOf } from './own-options.ts';
import { asRelayClientError, isRelayClientError, relayClientError } from './relay-client-error.ts';
import { createSseParser } from './sse-parser.ts';
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

// Receives events by long polling: a request waits at the relay until there is an event, or for the
// time of a heartbeat.

/** If the first request waits this long without an error, the line is up. */
const upMs = 1_000;
/** Least milliseconds between two requests if the first one brought nothing new. */
const pauseMs = 1_000;

function pollTransport(http: RelayHttp): Transport {
  return {
    name: 'poll',
    async run(line) {
      line.scope.after(upMs, line.up);
      let first = true;
      for (;;) {
        const after = line.after();
        const startedAt = performance.now();
        // Only the first poll may take the session from another application.
        const continues = first ? undefined : 'true';
        const path = streamPath(line, { mode: 'poll', after, continues });
        const answer = await http.call(line.scope, 'GET', path, { timeoutMs: line.silenceMs() });
        line.heard();
        // A stream sends this with its `connected` event, a poll next to its events.
        if (first) line.receive({ id: undefined, event: 'connected', data: about(answer) });
        first = false;
        take(line, answer);
        if (line.after() === after && !line.scope.ended)
          await line.scope.sleep(pauseMs - (performance.now() - startedAt));
        if (line.scope.ended) return;
      }
    },
  };
}

function about({ events: _, ...rest }: JsonObject): JsonObject {
  return rest;
}

function take(line: Line, { events }: JsonObject): void {
  if (!Array.isArray(events)) return;
  for (const item of events as readonly JsonValue[]) {
    if (line.scope.ended) return;
    if (!isJsonObject(item) || !isJsonObject(item.data)) continue;
    const { id, data } = item;
    line.receive({
      id: typeof id === 'string' || typeof id === 'number' ? String(id) : undefined,
      event: stringIn(item, 'event') ?? '',
      data,
    });
  }
}

/**
 * Receives server-sent events with `fetch`, because an `EventSource` cannot send the token in a
 * header.
 */
function sseTransport(http: RelayHttp): Transport {
  return {
    name: 'sse',
    run: (line) =>
      new Promise((resolve, reject) => {
        const controller = new AbortController();
        line.scope.onEnd((reason) => {
          reject(reason);
          controller.abort(reason);
        });
        read(http, line, controller.signal).then(resolve, reject);
      }),
  };
}

async function read(http: RelayHttp, line: Line, signal: AbortSignal): Promise<void> {
  const after = line.after();
  const response = await http.open(
    streamPath(line),
    { Accept: 'text/event-stream', ...(after === undefined ? {} : { 'Last-Event-ID': after }) },
    signal,
  );
  const type = response.headers.get('content-type') ?? '';
  const reader = response.body?.getReader();
  if (!/^text\/event-stream\b/i.test(type) || reader === undefined) {
    await reader?.cancel();
    throw transportUnavailable(
      reader === undefined
        ? 'The fetch of this environment does not support streams.'
        : 'The relay answered with something other than an event stream.',
    );
  }
  const parser = createSseParser({
    event({ id, event, data }) {
      const object = parseObject(data);
      if (object !== undefined && !line.scope.ended) line.receive({ id, event, data: object });
    },
    retry: line.retry,
  });
  for (;;) {
    const { done, value } = await reader.read().catch((error: unknown) => {
      throw line.scope.ended || isRelayClientError(error)
        ? asRelayClientError(error)
        : relayClientError('disconnected', 'The event stream was cut off.');
    });
    if (done || line.scope.ended) return;
    line.heard();
    try {
      parser.push(value);
    } catch (error) {
      await reader.cancel().catch(() => {});
      throw relayClientError(
        'invalid_answer',
        error instanceof Error ? error.message : 'The stream cannot be read.',
      );
    }
  }
}
