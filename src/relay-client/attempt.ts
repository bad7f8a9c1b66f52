/** One line from its first request to its end: how long it stood, and why it ended. */
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
  /** Milliseconds that it stood; undefined where it never did. */
  readonly stoodMs: number | undefined;
  /**
   * `transport`: the way may be at fault, and another one better. `relay`: it is away for now.
   * `over`: the relay says that there is no more to come.
   */
  readonly fault: 'transport' | 'relay' | 'over';
  /** Milliseconds until the relay wants to hear again, where it said so. */
  readonly retryInMs: number | undefined;
}

/** What hears of a line. */
export interface LineListener {
  /** It stands. */
  up(): void;
  /** As of {@link Line}. */
  speak(send: (frame: string) => void): void;
  /** Every event but goodbyes. */
  event(event: LineEvent): void;
}

/** What lines have in common. */
export interface LineMemory {
  readonly client: string;
  /** Of the last event that came. */
  lastId: string | undefined;
  /** How often the relay lets hear of itself. */
  heartbeatMs: number;
  /** How long the relay lets calls wait for an application that is away. */
  leaseMs: number;
  /** Least milliseconds before a reconnection, as a stream may say. */
  leastMs: number;
}

/** Time for a line to stand. */
export const establishMs = 10_000;
/** Heartbeats that may fail to come. */
const patience = 2.5;
/** A timer that is later than this was asleep with its machine or page: the silence was ours. */
const asleepMs = 5_000;

/** Runs a line until it ends; resolves in any case. */
export async function attempt(
  life: Scope,
  transport: Transport,
  memory: LineMemory,
  listener: LineListener,
): Promise<Ending> {
  const scope = life.child();
  let upAt: number | undefined;
  let heardAt = performance.now();
  let fault: Ending['fault'] | undefined;
  let retryInMs: number | undefined;

  const silenceMs = (): number => patience * memory.heartbeatMs;
  const watch = (): void => {
    if (upAt === undefined || scope.ended) return;
    const dueInMs = heardAt + silenceMs() - performance.now();
    scope.after(Math.max(1, dueInMs), () => {
      const silentMs = performance.now() - heardAt;
      if (silentMs < silenceMs()) return watch();
      fault = silentMs > silenceMs() + asleepMs ? 'relay' : 'transport';
      scope.end(relayClientError('silent', 'Nothing was heard of the relay for too long.'));
    });
  };
  const up = (): void => {
    if (upAt !== undefined || scope.ended) return;
    upAt = performance.now();
    heardAt = upAt;
    establishing();
    watch();
    listener.up();
  };
  const goodbye = ({ data }: LineEvent): void => {
    const reason = /^[a-z][a-z_]{0,63}$/.exec(stringIn(data, 'reason') ?? '')?.[0] ?? 'goodbye';
    fault = data.reconnect === false ? 'over' : 'relay';
    retryInMs = numberIn(data, 'retryMs');
    scope.end(
      relayClientError(
        fault === 'over' ? reason : 'disconnected',
        `The relay ended the connection: ${reason}.`,
      ),
    );
  };
  const line: Line = {
    scope,
    after: () => memory.lastId,
    client: memory.client,
    silenceMs,
    heard() {
      heardAt = performance.now();
    },
    up,
    receive(event) {
      if (event.event === 'goodbye') return goodbye(event);
      if (event.event === 'connected') {
        const everyMs = numberIn(event.data, 'heartbeatMs') ?? 0;
        if (everyMs > 0) memory.heartbeatMs = everyMs;
        const leaseMs = numberIn(event.data, 'leaseMs') ?? 0;
        if (leaseMs > 0) memory.leaseMs = leaseMs;
        up();
      }
      listener.event(event);
      if (event.id !== undefined) memory.lastId = event.id;
    },
    speak: listener.speak,
    retry(ms) {
      memory.leastMs = ms;
    },
  };
  const establishing = scope.after(establishMs, () =>
    scope.end(
      relayClientError(
        'timeout',
        `The ${transport.name} line did not stand within ${establishMs} ms.`,
      ),
    ),
  );

  let broken: unknown = relayClientError('disconnected', 'The relay closed the connection.');
  try {
    await transport.run(line);
  } catch (thrown) {
    broken = thrown;
  }
  const error = asRelayClientError(scope.ended ? scope.reason : broken);
  scope.end(error);
  // An id that the relay cannot place: from now on, whatever it has.
  if (error.status === 400) memory.lastId = undefined;
  return {
    error,
    stoodMs: upAt === undefined ? undefined : performance.now() - upAt,
    fault: fault ?? faultOf(error, upAt),
    retryInMs: error.retryAfterMs ?? retryInMs,
  };
}

function faultOf(error: RelayClientError, upAt: number | undefined): Ending['fault'] {
  // Neither a relay that is away nor one that says "not now" says anything about the way there.
  const away = error.code === 'network_error' || (error.status !== undefined && isPassing(error));
  return upAt === undefined && !away ? 'transport' : 'relay';
}
