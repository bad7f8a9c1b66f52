/** A connection: its parts put together, and what the application sees of them. */
import { type Calls, createCalls } from './calls.ts';
import { createDelivery, type Delivery } from './delivery.ts';
import type { RelayHttp } from './http.ts';
import { type JsonObject, numberIn, stringIn } from './json.ts';
import type { LineEvent, Transport } from './line.ts';
import { keepLink, type LinkListener } from './link.ts';
import type {
  RelayClientOptions,
  RelayCloseOptions,
  RelayConnection,
  RelayStatus,
  RelayStatusEvent,
  RelayTransport,
} from './options.ts';
import { ownOptions } from './own-options.ts';
import { createProgressReports } from './progress.ts';
import { createRegistration, type Registration } from './registration.ts';
import {
  asRelayClientError,
  type RelayClientError,
  relayClientError,
} from './relay-client-error.ts';
import { createRelayClock, type RelayClock } from './relay-clock.ts';
import { createScope, type Scope, tell } from './scope.ts';
import type { RelayTool } from './tool.ts';
import { prepareTools, type ToolList } from './tool-list.ts';

/** Called with the outcome of the attempt to connect. Only the first call counts. */
export interface Ends {
  readonly connected: (connection: RelayConnection) => void;
  readonly closed: (error: unknown) => void;
}

/** What a connection is made of. */
export interface ConnectionParts {
  readonly http: RelayHttp;
  readonly transports: readonly Transport[];
  readonly list: ToolList;
  readonly plugin: JsonObject;
  readonly options: Pick<RelayClientOptions, 'onStatus' | 'onToolsChanged' | 'random' | 'signal'>;
  readonly ends: Ends;
}

interface State {
  readonly parts: ConnectionParts;
  readonly life: Scope;
  status: RelayStatus;
  transport: RelayTransport | undefined;
  /** A line was up at some time. */
  wasUp: boolean;
  /** The list that the application set last. */
  latest: ToolList;
  /** Those of `latest`, and of tools that the relay may still have. */
  handlers: ReadonlyMap<string, RelayTool['handler']>;
}

interface Workers {
  readonly clock: RelayClock;
  readonly registration: Registration;
  readonly delivery: Delivery;
  readonly calls: Calls;
}

/** Starts a connection. */
export function connectionOf(parts: ConnectionParts): void {
  const { list, options } = parts;
  const { signal, random = Math.random } = options;
  const life = createScope();
  const state: State = {
    parts,
    life,
    status: 'connecting',
    transport: undefined,
    wasUp: false,
    latest: list,
    handlers: list.handlers,
  };
  const workers = createWorkers(state, random);
  const connection = shownConnection(state, workers.registration);
  const start = async (): Promise<void> => {
    await workers.registration.set(list, 'plugin-registration');
    await keepLink(
      { life, random, transports: parts.transports, client: clientId() },
      linkListener(state, workers, connection),
    );
  };
  if (signal !== undefined) {
    const abort = (): void => finish(state, 'close', undefined, signal.reason);
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    life.onEnd(() => signal.removeEventListener('abort', abort));
  }
  report(state);
  // If the relay refuses the first registration, the connection ends before it began.
  start().catch((error: unknown) => over(state, asRelayClientError(error)));
}

function createWorkers(state: State, random: () => number): Workers {
  const { life, parts } = state;
  const { http, plugin } = parts;
  const clock = createRelayClock();
  const registration = createRegistration(
    { http, life, random, plugin },
    {
      taken(taken, failedTools) {
        // Removed tools could still be called until now.
        if (state.latest === taken) state.handlers = taken.handlers;
        report(state, { failedTools });
      },
      refused: (error, retryInMs) =>
        report(state, retryInMs === undefined ? { error } : { error, retryInMs }),
      over: (error) => over(state, error),
    },
  );
  const delivery = createDelivery({
    http,
    life,
    random,
    failed: (error) => report(state, { error }),
    freed: () => calls.resume(),
  });
  const calls: Calls = createCalls({
    life,
    clock,
    handler: (tool) => state.handlers.get(tool),
    answer: delivery.send,
    progress: createProgressReports({ http, life }),
    isFull: () => delivery.isFull,
  });
  return { clock, registration, delivery, calls };
}

function linkListener(state: State, workers: Workers, connection: RelayConnection): LinkListener {
  return {
    up(name) {
      state.status = 'connected';
      state.transport = name;
      report(state);
      state.parts.ends.connected(connection);
    },
    down(error, retryInMs) {
      state.transport = undefined;
      if (state.status === 'connected') state.status = 'reconnecting';
      report(state, { error, retryInMs });
    },
    over: (error) => over(state, error),
    speak: workers.delivery.socket,
    event: (event) => receive(state, workers, event),
  };
}

function receive(
  state: State,
  { clock, registration, delivery, calls }: Workers,
  { event, data }: LineEvent,
): void {
  const { options, http } = state.parts;
  if (event === 'connected' || event === 'heartbeat') clock.heard(data.timestamp);
  if (event === 'connected') {
    registration.seen(numberIn(data, 'toolsRevision'), state.wasUp);
    state.wasUp = true;
  } else if (event === 'tool-request') calls.request(data);
  else if (event === 'tool-cancel') calls.cancel(data);
  else if (event === 'tool-availability-update') tell(options.onToolsChanged, data);
  else if (event === 'response-stored') delivery.stored(stringIn(data, 'requestId') ?? '');
  else if (event === 'response-refused')
    delivery.refused(stringIn(data, 'requestId') ?? '', refusalOf(data, http));
}

/** The connection as the application sees it. */
function shownConnection(state: State, registration: Registration): RelayConnection {
  const connection = {
    get status() {
      return state.status;
    },
    get transport() {
      return state.transport;
    },
    get failed() {
      return registration.failed;
    },
    update: (tools, reason = 'application-update') =>
      quietly(update(state, registration, tools, reason)),
    close: (given = {}) => quietly(close(state, given)),
  } as RelayConnection;
  if (typeof Symbol.asyncDispose === 'symbol')
    Object.defineProperty(connection, Symbol.asyncDispose, { value: () => connection.close() });
  return connection;
}

async function update(
  state: State,
  registration: Registration,
  tools: readonly RelayTool[],
  reason: string,
): Promise<void> {
  const next = prepareTools(tools);
  state.latest = next;
  state.handlers = new Map([...state.handlers, ...next.handlers]);
  await registration.set(next, reason);
}

async function close(state: State, given: RelayCloseOptions): Promise<void> {
  const { deleteSession } = ownOptions('close', given, ['deleteSession']);
  finish(state, 'close', undefined, relayClientError('closed', 'The connection was closed.'));
  if (deleteSession !== true) return;
  try {
    await state.parts.http.call(createScope(), 'DELETE', '');
  } catch (thrown) {
    const error = asRelayClientError(thrown);
    // These mean that the session is gone already.
    if (error.status !== 404 && error.status !== 410) throw error;
  }
}

function over(state: State, error: RelayClientError): void {
  finish(state, error.code, error);
}

/** @param why what the scopes of the connection end with */
function finish(
  state: State,
  reason: string,
  error: RelayClientError | undefined,
  why: unknown = error,
): void {
  if (state.life.ended) return;
  state.status = 'closed';
  state.transport = undefined;
  state.life.end(why);
  report(state, { reason, ...(error === undefined ? {} : { error }) });
  state.parts.ends.closed(why);
}

function report(
  { parts, status, transport }: State,
  more: Omit<RelayStatusEvent, 'status' | 'transport'> = {},
): void {
  tell(
    parts.options.onStatus,
    Object.freeze({ status, ...(transport === undefined ? {} : { transport }), ...more }),
  );
}

function refusalOf(data: JsonObject, http: RelayHttp): RelayClientError {
  const message = http.scrub(stringIn(data, 'message') ?? 'The relay refused an answer.');
  return relayClientError(http.scrub(stringIn(data, 'error') ?? 'refused'), message, {
    status: numberIn(data, 'status') ?? 400,
  });
}

/**
 * 128 random bits that identify this running application. The relay must not give one call to two
 * applications.
 */
function clientId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}

/** The application may ignore the promise, even if it rejects. */
function quietly(promise: Promise<void>): Promise<void> {
  promise.catch(() => {});
  return promise;
}
