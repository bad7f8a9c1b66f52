/** A connection: its parts put together, and what the application sees of them. */
import { type Calls, createCalls, createRelayClock, type RelayClock } from './calls.ts';
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
import { createScope, type Scope, tell } from './scope.ts';
import type { RelayTool, RelayToolInput } from './tool.ts';
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

interface Workers {
  readonly clock: RelayClock;
  readonly registration: Registration;
  readonly delivery: Delivery;
  readonly calls: Calls;
}

/** One stay in the session. It ends when the connection is closed or replaced. */
interface Stay extends Workers {
  readonly life: Scope;
  /** A line was up at some time. */
  wasUp: boolean;
}

interface State {
  readonly parts: ConnectionParts;
  /** The present stay, or the last one. */
  stay: Stay;
  status: RelayStatus;
  transport: RelayTransport | undefined;
  /** Another connection has taken over, so this one may come back later. */
  replaced: boolean;
  /** Why it is closed. */
  why: unknown;
  /** The list that the application set last. */
  latest: ToolList;
  /** The names in `latest`, and of tools that the relay may still have. */
  handlers: ReadonlyMap<string, RelayTool['handler']>;
  /** Functions that make the next attempt at once. */
  readonly hurries: Set<() => void>;
  /** Callers that wait until the connection is up. */
  readonly waiting: Set<{ up(): void; over(why: unknown): void }>;
}

/** Starts a connection. */
export function connectionOf(parts: ConnectionParts): void {
  const state = {
    parts,
    status: 'connecting',
    transport: undefined,
    replaced: false,
    why: undefined,
    latest: parts.list,
    handlers: parts.list.handlers,
    hurries: new Set(),
    waiting: new Set(),
  } as Omit<State, 'stay'> as State;
  begin(state, shownConnection(state));
}

/** Begins a stay, as an application that the relay does not know yet. */
function begin(state: State, connection: RelayConnection): void {
  const { parts, hurries } = state;
  const { signal, random = Math.random } = parts.options;
  const life = createScope();
  const stay: Stay = { ...createWorkers(state, life, random), life, wasUp: false };
  state.stay = stay;
  state.replaced = false;
  state.handlers = state.latest.handlers;
  const start = async (): Promise<void> => {
    await stay.registration.set(state.latest, 'plugin-registration');
    const whenAsked = (run: () => void): (() => void) => {
      hurries.add(run);
      return () => hurries.delete(run);
    };
    await keepLink(
      { life, random, transports: parts.transports, client: clientId(), whenAsked },
      linkListener(state, stay, connection),
    );
  };
  if (signal !== undefined) {
    const abort = (): void => finish(state, 'close', undefined, signal.reason);
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    life.onEnd(() => signal.removeEventListener('abort', abort));
  }
  report(state);
  // If the relay refuses the first registration, the stay ends before it began.
  start().catch((error: unknown) => over(state, life, asRelayClientError(error)));
}

function createWorkers(state: State, life: Scope, random: () => number): Workers {
  const { http, plugin } = state.parts;
  const clock = createRelayClock();
  const registration = createRegistration(
    { http, life, random, plugin },
    {
      taken(taken, failedTools, warnings) {
        // Removed tools could still be called until now.
        if (state.latest === taken) state.handlers = taken.handlers;
        report(state, { failedTools, ...(warnings.length === 0 ? {} : { warnings }) });
      },
      refused: (error, retryInMs) =>
        report(state, retryInMs === undefined ? { error } : { error, retryInMs }),
      over: (error) => over(state, life, error),
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

function linkListener(state: State, stay: Stay, connection: RelayConnection): LinkListener {
  return {
    up(name) {
      state.status = 'connected';
      state.transport = name;
      report(state);
      state.parts.ends.connected(connection);
      for (const one of state.waiting) one.up();
      state.waiting.clear();
    },
    down(error, retryInMs) {
      state.transport = undefined;
      if (state.status === 'connected') state.status = 'reconnecting';
      report(state, { error, retryInMs });
    },
    over: (error) => over(state, stay.life, error),
    addDecision: stay.delivery.socket,
    event: (event) => receive(state, stay, event),
  };
}

function receive(state: State, stay: Stay, { event, data }: LineEvent): void {
  const { clock, registration, delivery, calls } = stay;
  const { options, http } = state.parts;
  if (event === 'connected' || event === 'heartbeat') clock.heard(data.timestamp);
  if (event === 'connected') {
    registration.seen(numberIn(data, 'toolsRevision'), stay.wasUp);
    stay.wasUp = true;
  } else if (event === 'tool-request') calls.request(data);
  else if (event === 'tool-cancel') calls.cancel(data);
  else if (event === 'tool-availability-update') tell(options.onToolsChanged, data);
  else if (event === 'response-stored') delivery.stored(stringIn(data, 'requestId') ?? '');
  else if (event === 'response-refused')
    delivery.refused(stringIn(data, 'requestId') ?? '', refusalOf(data, http));
}

/** The connection as the application sees it. */
function shownConnection(state: State): RelayConnection {
  const connection = {
    get status() {
      return state.status;
    },
    get transport() {
      return state.transport;
    },
    get failed() {
      return state.stay.registration.failed;
    },
    update: (tools, reason = 'application-update') => quietly(update(state, tools, reason)),
    reconnect: () => quietly(reconnect(state, connection)),
    close: (given = {}) => quietly(close(state, given)),
  } as RelayConnection;
  if (typeof Symbol.asyncDispose === 'symbol')
    Object.defineProperty(connection, Symbol.asyncDispose, { value: () => connection.close() });
  return connection;
}

async function update(state: State, tools: readonly RelayToolInput[], reason: string) {
  const next = prepareTools(tools);
  state.latest = next;
  state.handlers = new Map([...state.handlers, ...next.handlers]);
  await state.stay.registration.set(next, reason);
}

async function reconnect(state: State, connection: RelayConnection): Promise<void> {
  const { stay, hurries } = state;
  if (state.status === 'connected') return;
  if (stay.life.ended && !state.replaced) throw state.why;
  const up = new Promise<void>((resolve, reject) => {
    state.waiting.add({ up: resolve, over: reject });
  });
  if (stay.life.ended) {
    state.status = 'reconnecting';
    begin(state, connection);
  } else for (const hurry of [...hurries]) hurry();
  await up;
}

async function close(state: State, given: RelayCloseOptions): Promise<void> {
  const { deleteSession } = ownOptions('close', given, ['deleteSession']);
  const why = relayClientError('closed', 'The connection was closed.');
  finish(state, 'close', undefined, why);
  if (state.replaced) Object.assign(state, { replaced: false, why });
  if (deleteSession !== true) return;
  try {
    await state.parts.http.call(createScope(), 'DELETE', '');
  } catch (thrown) {
    const error = asRelayClientError(thrown);
    // These mean that the session is gone already.
    if (error.status !== 404 && error.status !== 410) throw error;
  }
}

/** @param life of the stay that is over; an earlier one is ignored */
function over(state: State, life: Scope, error: RelayClientError): void {
  if (state.stay.life === life) finish(state, error.code, error);
}

/** @param why what the scopes of the stay end with */
function finish(
  state: State,
  reason: string,
  error: RelayClientError | undefined,
  why: unknown = error,
): void {
  const { life } = state.stay;
  if (life.ended) return;
  state.status = 'closed';
  state.transport = undefined;
  state.why = why;
  state.replaced = error?.code === 'replaced' && error.status === undefined;
  life.end(why);
  report(state, { reason, ...(error === undefined ? {} : { error }) });
  state.parts.ends.closed(why);
  for (const one of state.waiting) one.over(why);
  state.waiting.clear();
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

function refusalOf(data: JsonObject, { scrub }: RelayHttp): RelayClientError {
  const message = scrub.message(stringIn(data, 'message') ?? 'The relay refused an answer.');
  return relayClientError(scrub.code(stringIn(data, 'error'), 'refused'), message, {
    status: numberIn(data, 'status') ?? 400,
  });
}

/** The application may ignore the promise, even if it rejects. */
function quietly(promise: Promise<void>): Promise<void> {
  promise.catch(() => {});
  return promise;
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
