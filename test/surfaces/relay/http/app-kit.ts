/**
 * The HTTP layer of a relay over the memory store, with fakes for everything behind it. For the
 * tests of that layer.
 */
import { vi } from 'vitest';
import type { Store } from '../../../../src/extend.ts';
import {
  HostToolRegistry,
  type JsonObject,
  memoryStore,
  type ToolResult,
} from '../../../../src/index.ts';
import type { LiveSession } from '../../../../src/surfaces/relay/calls/live-session.ts';
import { checkUse, type Use } from '../../../../src/surfaces/relay/calls/usage.ts';
import { createCounters } from '../../../../src/surfaces/relay/counters.ts';
import type { EventStreams, StreamRequest } from '../../../../src/surfaces/relay/events/ports.ts';
import { type App, createApp } from '../../../../src/surfaces/relay/http/app.ts';
import type { NodeParts } from '../../../../src/surfaces/relay/http/node-parts.ts';
import {
  createRateLimits,
  createRefusalPace,
} from '../../../../src/surfaces/relay/http/rate-limits.ts';
import { toResponse } from '../../../../src/surfaces/relay/http/responses.ts';
import type { RelayOptions } from '../../../../src/surfaces/relay/options.ts';
import { readRelayOptions } from '../../../../src/surfaces/relay/read-options.ts';
import { readTools } from '../../../../src/surfaces/relay/tools/tools-document.ts';

/** The parts of a request over HTTP. */
export interface Ask {
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON, unless it is a string or bytes. */
  readonly body?: unknown;
  readonly address?: string;
}

/** An answer whose body was read. */
export interface Told {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** `{}` if the body is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it.
  readonly body: Readonly<Record<string, any>>;
}

export type Kit = ReturnType<typeof frontKit>;

/** The answer to the creation of a session. */
export interface Made {
  readonly code: string;
  readonly sessionToken: string;
  readonly agentToken: string;
}

export const base = 'http://relay.test/api/sessions';

/** The result of faked calls. */
export const success: ToolResult = {
  success: true,
  output: { sum: 3 },
  metadata: { callId: 'r-1', toolName: 'add', status: 'succeeded', durationMs: 1, attempt: 1 },
};

/** Asks whatever answers. */
export async function askOf(
  fetch: (request: Request, info: { address?: string }) => Promise<Response>,
  method: string,
  url: string,
  ask: Ask = {},
): Promise<Told> {
  const { token, headers = {}, body, address } = ask;
  const raw = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
  const request = new Request(url, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: raw as string }),
  });
  const response = await fetch(request, address === undefined ? {} : { address });
  const text = await response.text();
  let read: Told['body'] = {};
  try {
    read = JSON.parse(text) as Told['body'];
  } catch {
    // The body is a stream, or is empty.
  }
  return { status: response.status, headers: response.headers, text, body: read };
}

/** A clock on which all requests are a second apart, so that no client is slowed down. */
function secondsApart(): () => number {
  let seconds = 0;
  return () => seconds++ * 1_000;
}

/**
 * Makes the HTTP layer of a node.
 * @param paceNow the clock for slowing down clients that are refused too often
 */
export function frontKit(given: RelayOptions = {}, paceNow = secondsApart()) {
  const lines: JsonObject[] = [];
  const faults: unknown[] = [];
  const clock = { now: Date.parse('2026-01-02T03:04:05.000Z') };
  const { now = () => clock.now } = given;
  const host = given.store ?? memoryStore({ now });
  const options: RelayOptions = { ...given, now, store: host };
  const logger = {
    info: (data: object) => void lines.push(data as JsonObject),
    warn: vi.fn(),
    error: vi.fn(),
  };
  const read = readRelayOptions({ logger, ...options });
  const { settings, origins: door } = read;
  const draining = new AbortController();
  const closed = new AbortController();
  const wakes: string[] = [];
  const opened: StreamRequest[] = [];
  const known = new Map<string, unknown>();
  const streams: EventStreams = {
    open: vi.fn(),
    poll: vi.fn(async () => []),
    count: 0,
    close: vi.fn(),
  };
  const live = {
    get: vi.fn(
      async () => ({ session: { tools: () => [] }, onClose() {} }) as unknown as LiveSession,
    ),
    describe: vi.fn<NodeParts['live']['describe']>(async ({ code }) => ({
      tools: [],
      listing: '',
      registered: (await readTools(settings.store, code))?.document,
    })),
    epoch: 0,
    listed: () => undefined,
    close: vi.fn(async () => {}),
    registry: new HostToolRegistry(),
    taken: (name: string) => (name === 'host_tool' ? name : undefined),
    count: 0,
  };
  /** Counts a use together with the operation that it is for. */
  const count = async (code: string, use: Use | undefined): Promise<void> => {
    const applied = use && (await settings.store.apply({ session: code }, [use.op]));
    if (applied !== undefined && applied.results === undefined) checkUse(use, applied);
  };
  const requests = {
    submit: vi.fn<NodeParts['requests']['submit']>(
      async ({ code }, { requestId = 'made', wait, use }) => {
        await count(code, use);
        return wait ? { requestId, result: success } : { requestId, status: 'queued' };
      },
    ),
    status: vi.fn<NodeParts['requests']['status']>(async (_code, requestId) =>
      requestId === 'r-1' ? { requestId, status: 'running' } : undefined,
    ),
    cancel: vi.fn<NodeParts['requests']['cancel']>(async (_document, requestId) =>
      requestId === 'r-1' ? { requestId, status: 'done' } : undefined,
    ),
    decide: vi.fn<NodeParts['requests']['decide']>(async (_document, approvalId) =>
      approvalId === 'a-1' ? { approvalId, requestId: 'r-1', status: 'running' } : undefined,
    ),
  };
  const calls = {
    usage: vi.fn<NodeParts['calls']['usage']>(async () => new Map()),
    progress: vi.fn<NodeParts['calls']['progress']>(async (_code, id) => id === 'call-1'),
    answer: vi.fn<NodeParts['calls']['answer']>(async (code, id, answer, use) => {
      await count(code, use);
      if (id !== 'call-1') return false;
      known.set(`${code} ${id}`, known.get(`${code} ${id}`) ?? answer);
      return true;
    }),
  };
  const parts: NodeParts = {
    settings,
    origins: door,
    hub: { wake: (code, wake) => void wakes.push(`${code} ${wake}`) },
    live,
    requests,
    calls,
    streams,
    respond: {
      sse: async (_streams, request) => {
        opened.push(request);
        return new Response('event: connected\n\n', {
          headers: {
            'Content-Type': 'text/event-stream',
            'Cache-Control': 'no-cache, no-transform',
          },
        });
      },
      poll: async (_streams, request) => {
        opened.push(request);
        return Response.json({ events: [] });
      },
    },
    limits: createRateLimits(settings),
    pace: createRefusalPace({ signal: draining.signal, now: paceNow }),
    counters: createCounters(),
    report: (kind, error) => void faults.push({ kind, error }),
    draining: draining.signal,
    closed: closed.signal,
  };
  const front: App = createApp(parts);
  const ask = (method: string, path: string, what: Ask = {}): Promise<Told> =>
    askOf(
      async (request, info) => toResponse(await front.fetch(request, info)),
      method,
      path.startsWith('http') ? path : `${base}${path}`,
      what,
    );
  const create = async (): Promise<Made> =>
    (await ask('POST', '', { body: {} })).body as unknown as Made;
  return {
    parts,
    front,
    ask,
    create,
    clock,
    lines,
    faults,
    wakes,
    opened,
    known,
    draining,
    closed,
    store: settings.store,
    /** The store as the host gives it. */
    host,
    live,
    requests,
    calls,
    logger,
  };
}

/** A store whose operations all fail. */
export function brokenStore(): Store {
  const fail = (): Promise<never> =>
    Promise.reject(new Error('ECONNREFUSED redis://user:a-secret-of-the-host@10.0.0.1'));
  return new Proxy({} as Store, {
    get: (_, name) =>
      name === 'kind'
        ? 'broken'
        : name === 'lacks' || name === 'maxMessageChars'
          ? undefined
          : fail,
  });
}

/** Definitions as an application sends them. */
export function registration(...names: string[]) {
  return {
    pluginType: 'custom',
    pluginVersion: '1.0.0',
    capabilities: [],
    environment: {},
    availableTools: names.map((name) => ({
      name,
      description: `The tool ${name}.`,
      parameters: { type: 'object', properties: {} },
    })),
  };
}
