/** Nodes over ports that are watched, on a faked clock, and what logs are filled with. */
import { afterEach, beforeEach, vi } from 'vitest';
import type { StreamEvent } from '../../../../src/surfaces/relay/events/ports.ts';
import { createHub } from '../../../../src/surfaces/relay/hub.ts';
import {
  keys,
  type LogRecord,
  logKeep,
  type SessionDocument,
  type Side,
} from '../../../../src/surfaces/relay/ports/documents.ts';
import {
  type Listener,
  type Node,
  type NodeOptions,
  relayWorld,
  type World,
} from '../relay-world.ts';
import { kept, on, type WatchedStore, watchedStore } from '../watched-store.ts';

export const leaseMs = 300;
export const heartbeatMs = 1_000;

/** The world of the running test. */
export interface StreamWorld {
  readonly ports: WatchedStore;
  readonly world: World;
}

/** Sets up a world before each test and takes it down after it. */
export function streamWorld(): StreamWorld {
  const current = {} as { ports: WatchedStore; world: World };
  beforeEach(() => {
    vi.useFakeTimers();
    current.ports = watchedStore();
    current.world = relayWorld(current.ports.store);
  });
  afterEach(async () => {
    current.ports.away = false;
    await current.world.close();
    vi.useRealTimers();
  });
  return current;
}

/** Lets time pass. */
export const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

export const nodeOf = ({ world }: StreamWorld, more: NodeOptions = {}): Node =>
  world.node({ leaseMs, heartbeatMs, ...more });

/** Adds to a log and wakes its readers. */
export async function append(
  { world }: StreamWorld,
  { code }: SessionDocument,
  record: LogRecord,
  side: Side = 'agent',
): Promise<void> {
  if (record.kind === 'result')
    await on(world.store).set(
      code,
      keys.request(record.id),
      JSON.stringify({ status: 'done', result: { success: true, output: record.id } }),
    );
  await on(world.store).append(code, side, JSON.stringify(record), logKeep);
  createHub(kept(world.store), () => {}).wake(code, `log:${side}`);
}

export const result = (world: StreamWorld, session: SessionDocument, id: string) =>
  append(world, session, { kind: 'result', id });

/** Writes a call down as the node does that waits for it. @returns its id */
export async function call(
  world: StreamWorld,
  session: SessionDocument,
  id: string,
  more: object = {},
): Promise<string> {
  const document = {
    tool: 't',
    args: {},
    deadline: Date.now() + 60_000,
    idempotent: false,
    attempt: 0,
    epoch: 0,
    state: 'open',
    ...more,
  };
  await on(world.world.store).set(session.code, keys.call(id), JSON.stringify(document));
  await append(world, session, { kind: 'call', id, attempt: 1 }, 'application');
  return id;
}

/**
 * What came but heartbeats and whether an application is connected: by its request, or its name.
 */
export const ids = (events: readonly StreamEvent[]) =>
  events
    .filter(({ event }) => event !== 'heartbeat' && event !== 'application-status')
    .map(({ event, data }) => data.requestId ?? event);

export const goodbyeOf = (listener: Listener) =>
  listener.of('goodbye').map(({ data }) => `${data.reason} ${data.reconnect}`);
