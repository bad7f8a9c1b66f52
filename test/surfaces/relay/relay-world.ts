/** The parts of relay nodes over one store, without HTTP. */
import { randomUUID } from 'node:crypto';
import type { Store } from '../../../src/extend.ts';
import type { JsonObject, JsonValue } from '../../../src/index.ts';
import { memoryStore } from '../../../src/index.ts';
import { type Calls, createCalls } from '../../../src/surfaces/relay/calls/calls.ts';
import {
  createLiveSessions,
  type LiveSessions,
} from '../../../src/surfaces/relay/calls/live-sessions.ts';
import { createRequests, type Requests } from '../../../src/surfaces/relay/calls/requests.ts';
import type {
  EventStreams,
  OpenStream,
  StreamEvent,
} from '../../../src/surfaces/relay/events/ports.ts';
import { createEventStreams } from '../../../src/surfaces/relay/events/registry.ts';
import { toToolsRecord } from '../../../src/surfaces/relay/events/tool-updates.ts';
import { createHub, type Hub } from '../../../src/surfaces/relay/hub.ts';
import type { RelaySessionOptions } from '../../../src/surfaces/relay/options.ts';
import {
  keys,
  logKeep,
  type RelayedDefinition,
  type SessionDocument,
  type ToolsDocument,
} from '../../../src/surfaces/relay/ports/documents.ts';
import { defaultLimits } from '../../../src/surfaces/relay/read-options.ts';
import type { RelaySettings } from '../../../src/surfaces/relay/settings.ts';
import { readTools, writeTools } from '../../../src/surfaces/relay/tools/tools-document.ts';
import { kept, on } from './watched-store.ts';

export interface Node {
  readonly settings: RelaySettings;
  readonly hub: Hub;
  readonly calls: Calls;
  readonly live: LiveSessions;
  readonly requests: Requests;
  readonly streams: EventStreams;
  /** What was logged: level and text. */
  readonly lines: readonly string[];
}

export interface NodeOptions {
  readonly session?: RelaySessionOptions;
  readonly leaseMs?: number;
  readonly heartbeatMs?: number;
  readonly requestTimeoutMs?: number;
  /** Most characters of definitions of the live sessions. */
  readonly maxChars?: number;
  /** Bytes of the results that a session keeps. */
  readonly resultBytes?: number;
  /** @default Date.now */
  readonly now?: () => number;
}

export interface World {
  readonly store: Store;
  node(options?: NodeOptions): Node;
  /** A session in the store; with tools when given. */
  session(definitions?: readonly RelayedDefinition[], ttlMs?: number): Promise<SessionDocument>;
  /** Changes its tools as a registration would. */
  tools(
    document: SessionDocument,
    definitions: readonly RelayedDefinition[],
    reason?: string,
  ): Promise<SessionDocument>;
  /** Ends all nodes. */
  close(): Promise<void>;
}

/** A world with a store of its own. */
export function relayWorld(store: Store = memoryStore()): World {
  const nodes: Node[] = [];
  const hub = createHub(kept(store), () => {});
  return {
    store,
    node({
      session = {},
      leaseMs = 200,
      heartbeatMs = 30_000,
      requestTimeoutMs = 5_000,
      maxChars,
      resultBytes = defaultLimits.resultBytesPerSession,
      now = Date.now,
    } = {}) {
      const lines: string[] = [];
      const log = (level: string) => (data: object, message?: string) =>
        void lines.push(`${level} ${message} ${JSON.stringify(data)}`);
      const settings: RelaySettings = {
        store: kept(store),
        ttlMs: 3_600_000,
        maxTtlMs: 86_400_000,
        requestTimeoutMs,
        heartbeatMs,
        leaseMs,
        limits: { ...defaultLimits, resultBytesPerSession: resultBytes },
        pairing: false,
        pinDefinitions: false,
        now,
        logger: { info: log('info'), warn: log('warn'), error: log('error') },
        node: randomUUID(),
      };
      const own = createHub(kept(store), () => {});
      const calls = createCalls(settings, own);
      const live = createLiveSessions(session, settings, own, calls, maxChars);
      const requests = createRequests(settings, own, live, calls);
      const streams = createEventStreams(settings, own, calls);
      const node = { settings, hub: own, calls, live, requests, streams, lines };
      nodes.push(node);
      return node;
    },
    async session(definitions, ttlMs = 3_600_000) {
      const code = randomUUID().slice(0, 8);
      const at = Date.now();
      const document: SessionDocument = {
        code,
        createdAt: at,
        expiresAt: at + ttlMs,
        tokens: { application: [], agent: [] },
        paired: [],
        toolsRevision: 0,
      };
      await on(store).create(code, keys.session, JSON.stringify(document), at + ttlMs);
      return definitions === undefined ? document : this.tools(document, definitions);
    },
    async tools(document, definitions, reason = 'registered') {
      const { code } = document;
      const found = await readTools(kept(store), code);
      const before = found?.document;
      const texts = new Map(before?.definitions.map((one) => [one.name, JSON.stringify(one)]));
      const names = new Set(definitions.map(({ name }) => name));
      const change = {
        added: definitions.filter(({ name }) => !texts.has(name)).map(({ name }) => name),
        removed: [...texts.keys()].filter((name) => !names.has(name)),
        modified: definitions
          .filter((one) => texts.has(one.name) && texts.get(one.name) !== JSON.stringify(one))
          .map(({ name }) => name),
      };
      const at = Date.now();
      const tools: ToolsDocument = {
        revision: (before?.revision ?? 0) + 1,
        pluginType: 'custom',
        pluginVersion: '1',
        capabilities: [],
        environment: {},
        definitions,
        registeredAt: at,
        updatedAt: at,
      };
      const changed = { ...document, toolsRevision: tools.revision };
      await writeTools(kept(store), code, tools, found);
      await on(store).set(code, keys.session, JSON.stringify(changed));
      const record = JSON.stringify(toToolsRecord(change, reason, at));
      for (const side of ['application', 'agent'] as const) {
        await on(store).append(code, side, record, logKeep);
        hub.wake(code, `log:${side}`);
      }
      hub.wake(code, 'tools');
      return changed;
    },
    async close() {
      for (const { requests, live, streams } of nodes.splice(0)) {
        streams.close();
        await requests.close(0);
        await live.closeAll();
      }
      await store.close();
    },
  };
}

/** A definition that takes anything. */
export function relayed(name: string, more: Partial<RelayedDefinition> = {}): RelayedDefinition {
  return { name, description: `Does ${name}.`, parameters: { type: 'object' }, ...more };
}

/** An open stream, and what it was sent. */
export interface Listener extends OpenStream {
  readonly events: StreamEvent[];
  readonly ended: boolean;
  of(event: string): StreamEvent[];
}

export interface ListenOptions {
  readonly side?: 'application' | 'agent';
  readonly after?: number;
  readonly client?: string;
  /** False refuses the event, as a sink does that is full. */
  readonly accept?: (event: StreamEvent) => boolean;
  /**
   * Answers calls: what it returns is the result; nothing for undefined; what it throws is the
   * error.
   */
  readonly answer?: (call: {
    requestId: string;
    tool: string;
    args: JsonObject;
    attempt: number;
    deadline: number;
  }) => unknown;
}

/** Connects to a node, as an application unless said otherwise. */
export async function listen(
  node: Node,
  { code, expiresAt }: SessionDocument,
  { side = 'application', after, client, accept, answer }: ListenOptions = {},
): Promise<Listener> {
  const events: StreamEvent[] = [];
  let ended = false;
  const stream = await node.streams.open(
    {
      code,
      side,
      expiresAt,
      ...(after === undefined ? {} : { after }),
      ...(client === undefined ? {} : { client }),
    },
    {
      send(event) {
        if (accept?.(event) === false) return false;
        events.push(event);
        if (event.event === 'tool-request' && answer !== undefined) void reply(event.data);
        return true;
      },
      end() {
        ended = true;
      },
    },
  );
  const reply = async (data: JsonObject): Promise<void> => {
    const requestId = data.requestId as string;
    try {
      const result = await answer?.(data as never);
      if (result !== undefined)
        await node.calls.answer(code, requestId, { result: result as JsonValue });
    } catch (error) {
      await node.calls.answer(code, requestId, { error: { message: (error as Error).message } });
    }
  };
  return {
    events,
    get ended() {
      return ended;
    },
    of: (name) => events.filter(({ event }) => event === name),
    close: stream.close,
  };
}
