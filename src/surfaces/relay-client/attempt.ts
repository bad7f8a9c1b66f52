/** One line from its first request to its end: how long it was up, and why it ended. */
import { numberIn, stringIn } from './json.ts';
import type { Line, LineEvent, Transport } from './line.ts';
import {
  asRelayClientError,
  isPassing,
  type RelayClientError,
  relayClientError,
} from './relay-client-error.ts';
import type { Scope } from './scope.ts';

/** How a line ended. */
export interface Ending {
  readonly error: RelayClientError;
  /** Milliseconds that it was up; undefined if it never was. */
  readonly upMs: number | undefined;
  /**
   * `transport`: the transport may be at fault, and another one may work better. `relay`: the relay
   * is unavailable for now. `over`: the relay says that no line will come up again.
   */
  readonly fault: 'transport' | 'relay' | 'over';
  /** Milliseconds until the relay wants the next attempt, if it said so. */
  readonly retryInMs: number | undefined;
}

/** Receives the events of a line. */
export interface LineListener {
  /** The line is up. */
  up(): void;
  /** As in {@link Line}. */
  addDecision(send: (frame: string) => void): void;
  /** Every event except goodbyes. */
  event(event: LineEvent): void;
}

/** What all lines share. */
export interface LineMemory {
  readonly client: string;
  /** The id of the last event. */
  lastId: string | undefined;
  /** Milliseconds between the relay's heartbeats. */
  heartbeatMs: number;
  /** Milliseconds that the relay lets calls wait for an application that is away. */
  leaseMs: number;
  /** Least milliseconds before a reconnection, as a stream may say. */
  leastMs: number;
}

/** Milliseconds in which a line must come up. */
const establishMs = 10_000;
/** Heartbeats that may fail to arrive. */
const patience = 2.5;
/**
 * If a timer is late by more than this, the machine or the page was asleep, and the silence is not
 * the relay's fault.
 */
const asleepMs = 5_000;

/** An id that can be sent back in a header. With another one, no stream could be opened again. */
const sendable = /^[\x21-\x7e]{1,256}$/;

interface State {
  readonly scope: Scope;
  readonly memory: LineMemory;
  readonly listener: LineListener;
  /** By `performance.now()`; undefined until the line is up. */
  upAt: number | undefined;
  /** When something last arrived, by `performance.now()`. */
  heardAt: number;
  /** Set when the line is ended from here or by a goodbye. */
  fault: Ending['fault'] | undefined;
  retryInMs: number | undefined;
  /** Stops the timer of {@link establishMs}. */
  established: () => void;
}

/** Runs a line until it ends. Never rejects. */
export async function attempt(
  life: Scope,
  transport: Transport,
  memory: LineMemory,
  listener: LineListener,
): Promise<Ending> {
  const scope = life.child();
  const state: State = {
    scope,
    memory,
    listener,
    upAt: undefined,
    heardAt: performance.now(),
    fault: undefined,
    retryInMs: undefined,
    established: scope.after(establishMs, () =>
      scope.end(
        relayClientError(
          'timeout',
          `The ${transport.name} connection was not established within ${establishMs} ms.`,
        ),
      ),
    ),
  };
  let broken: unknown = relayClientError('disconnected', 'The relay closed the connection.');
  try {
    await transport.run(lineOf(state));
  } catch (thrown) {
    broken = thrown;
  }
  const error = asRelayClientError(scope.ended ? scope.reason : broken);
  scope.end(error);
  // The relay may not know the id any longer; the next line then starts with what the relay has.
  if (error.status === 400) memory.lastId = undefined;
  const { upAt, fault, retryInMs } = state;
  return {
    error,
    upMs: upAt === undefined ? undefined : performance.now() - upAt,
    fault: fault ?? faultOf(error, upAt),
    retryInMs: error.retryAfterMs ?? retryInMs,
  };
}

function lineOf(state: State): Line {
  const { scope, memory, listener } = state;
  return {
    scope,
    after: () => memory.lastId,
    client: memory.client,
    silenceMs: () => silenceMs(memory),
    heard() {
      state.heardAt = performance.now();
    },
    up: () => noteUp(state),
    receive: (event) => receive(state, event),
    addDecision: listener.addDecision,
    retry(ms) {
      memory.leastMs = ms;
    },
  };
}

function silenceMs({ heartbeatMs }: LineMemory): number {
  return patience * heartbeatMs;
}

function noteUp(state: State): void {
  if (state.upAt !== undefined || state.scope.ended) return;
  state.upAt = performance.now();
  state.heardAt = state.upAt;
  state.established();
  watch(state);
  state.listener.up();
}

/** Ends the line if nothing arrives for too long. */
function watch(state: State): void {
  const { scope, memory, upAt, heardAt } = state;
  if (upAt === undefined || scope.ended) return;
  const dueInMs = heardAt + silenceMs(memory) - performance.now();
  scope.after(Math.max(1, dueInMs), () => {
    const silentMs = performance.now() - state.heardAt;
    if (silentMs < silenceMs(memory)) return watch(state);
    state.fault = silentMs > silenceMs(memory) + asleepMs ? 'relay' : 'transport';
    scope.end(relayClientError('silent', 'The relay was silent for too long.'));
  });
}

function receive(state: State, event: LineEvent): void {
  const { memory, listener } = state;
  if (event.event === 'goodbye') return endByGoodbye(state, event);
  if (event.event === 'connected') {
    const everyMs = numberIn(event.data, 'heartbeatMs') ?? 0;
    if (everyMs > 0) memory.heartbeatMs = everyMs;
    const leaseMs = numberIn(event.data, 'leaseMs') ?? 0;
    if (leaseMs > 0) memory.leaseMs = leaseMs;
    noteUp(state);
  }
  listener.event(event);
  if (event.id !== undefined && sendable.test(event.id)) memory.lastId = event.id;
}

function endByGoodbye(state: State, { data }: LineEvent): void {
  const reason = /^[a-z][a-z_]{0,63}$/.exec(stringIn(data, 'reason') ?? '')?.[0] ?? 'goodbye';
  state.fault = data.reconnect === false ? 'over' : 'relay';
  state.retryInMs = numberIn(data, 'retryMs');
  state.scope.end(
    relayClientError(
      state.fault === 'over' ? reason : 'disconnected',
      `The relay ended the connection: ${reason}.`,
    ),
  );
}

function faultOf(error: RelayClientError, upAt: number | undefined): Ending['fault'] {
  // A relay that is unavailable, or that answers "not now", says nothing about the transport.
  const away = error.code === 'network_error' || (error.status !== undefined && isPassing(error));
  return upAt === undefined && !away ? 'transport' : 'relay';
}
