/** Builds a relay node from its parts, and closes it. */
import pTimeout from 'p-timeout';
import type { HostToolRegistry } from '../../core.ts';
import { createCalls } from './calls/calls.ts';
import { createLiveSessions } from './calls/live-sessions.ts';
import { createRequests } from './calls/requests.ts';
import { createCounters, type RelayMetrics } from './counters.ts';
import { createEventStreams } from './events/registry.ts';
import { createApp, type RequestInfo } from './http/app.ts';
import type { NodeParts } from './http/node-parts.ts';
import { createRateLimits, createRefusalPace } from './http/rate-limits.ts';
import { type Answered, toResponse } from './http/responses.ts';
import { pollResponse, sseResponse } from './http/stream-responses.ts';
import { createHub } from './hub.ts';
import type { RelayOptions, RelaySessionOptions } from './options.ts';
import { readRelayOptions } from './read-options.ts';
import { giveServerPort } from './server/server-port.ts';
import { createSocketEntry } from './server/socket-entry.ts';

/** One node of a relay. */
export interface Relay<S = unknown> {
  /**
   * Answers a request of the relay's protocol. Mount it at the root of any server for web-standard
   * requests. Never rejects, and does not use `this`. The request's `signal` should abort when the
   * client goes away.
   * @param info facts about the request that only the server knows. @default none
   */
  fetch(request: Request, info?: RequestInfo): Promise<Response>;
  /**
   * Ends the node. `/readyz` answers 503 and new requests are refused, but answers of applications
   * are still accepted. Clients with open streams are asked to reconnect elsewhere. Running calls
   * have `requestTimeoutMs` to end, but ten seconds at most; other nodes take over those that are
   * still open then. A store or registry that the host has passed stays open. Idempotent.
   */
  close(): Promise<void>;
  /** The counters of this node, and the numbers of its open streams and sessions. Plain JSON. */
  metrics(): RelayMetrics;
  /** The registry of the host's tools. Sessions see its changes at once. */
  readonly registry: HostToolRegistry<S>;
}

/** The most milliseconds that closing waits for running calls. */
const longestDrainMs = 10_000;
/** The most milliseconds that closing waits until the answers of ended calls are sent. */
const leavingMs = 1_000;

/**
 * Creates a node of a relay. Applications register their tools in sessions at run time, agents see
 * and call these tools, the application executes them, and every call passes the host's checks.
 * Nodes that share a store form one relay.
 * @throws MisuseError `invalid_option`, and the errors of the host's tools and rules
 *
 * @example
 * ```ts
 * import { createRelay } from 'host-tools/relay';
 *
 * const relay = createRelay({
 *   session: { rules: [{ effect: 'deny', source: 'relay:*', tools: 'shell*' }] },
 * });
 * const response = await relay.fetch(new Request('http://localhost/healthz'));
 * await relay.close();
 * ```
 */
// Longer than 60 lines, since it only connects the parts of a node, and answering and closing share
// them.
export function createRelay<S = unknown>(options: RelayOptions<S> = {}): Relay<S> {
  const { settings, origins, session, report, closeOwn } = readRelayOptions(options);
  const hub = createHub(settings.store, (error) => report('listener', error));
  const calls = createCalls(settings, hub);
  const live = createLiveSessions(session as RelaySessionOptions, settings, hub, calls);
  const requests = createRequests(settings, hub, live, calls);
  const streams = createEventStreams(settings, hub, calls);
  const counters = createCounters();
  const draining = new AbortController();
  const closed = new AbortController();
  const sse: NodeParts['respond']['sse'] = (opened, wanted) =>
    sseResponse(opened, wanted, (reason) =>
      settings.logger.warn({ reason }, 'relay: a stream was dropped'),
    );
  const parts: NodeParts = {
    settings,
    origins,
    hub,
    live,
    requests,
    calls,
    streams,
    respond: { sse, poll: pollResponse },
    limits: createRateLimits(settings),
    pace: createRefusalPace({ signal: draining.signal }),
    counters,
    report,
    draining: draining.signal,
    closed: closed.signal,
  };
  const app = createApp(parts);
  const answering = new Set<Promise<Answered>>();
  let closing: Promise<void> | undefined;

  const close = async (): Promise<void> => {
    draining.abort();
    streams.close();
    await requests.close(Math.min(settings.requestTimeoutMs, longestDrainMs));
    await pTimeout(Promise.allSettled(answering), { milliseconds: leavingMs, fallback: () => [] });
    await live.closeAll();
    await pTimeout(Promise.allSettled(answering), { milliseconds: leavingMs, fallback: () => [] });
    closed.abort();
    await closeOwn();
  };
  const answered = async (request: Request, info: RequestInfo): Promise<Answered> => {
    const answer = app.fetch(request, info);
    answering.add(answer);
    try {
      return await answer;
    } finally {
      answering.delete(answer);
    }
  };
  const relay: Relay<S> = {
    fetch: async (request, info = {}) => toResponse(await answered(request, info)),
    close() {
      closing ??= close();
      return closing;
    },
    metrics: () => ({
      ...counters.snapshot(),
      openStreams: streams.count,
      liveSessions: live.count,
    }),
    registry: live.registry as HostToolRegistry<S>,
  };
  giveServerPort(relay, { answered, sockets: createSocketEntry(app, parts) });
  return relay;
}
