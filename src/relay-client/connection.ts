/** A connection: its parts put together, and what the application sees of them. */
import { createCalls } from './calls.ts';
import { createDelivery } from './delivery.ts';
import type { RelayHttp } from './http.ts';
import { type JsonObject, numberIn, stringIn } from './json.ts';
import type { LineEvent, Transport } from './line.ts';
import { keepLink } from './link.ts';
import type {
  RelayClientOptions,
  RelayCloseOptions,
  RelayConnection,
  RelayStatus,
  RelayStatusEvent,
  RelayTransport,
} from './options.ts';
import { ownOptions } from './own-options.ts';
import { createRegistration } from './registration.ts';
import {
  asRelayClientError,
  type RelayClientError,
  relayClientError,
} from './relay-client-error.ts';
import { createRelayClock } from './relay-clock.ts';
import { createScope, tell } from './scope.ts';
import type { RelayTool } from './tool.ts';
import { prepareTools, type ToolList } from './tool-list.ts';

/** Where it is told, once, what became of the attempt to connect. */
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

/** Starts it. */
export function connectionOf({
  http,
  transports,
  list,
  plugin,
  options,
  ends,
}: ConnectionParts): void {
  const { onStatus, onToolsChanged, signal, random = Math.random } = options;
  const life = createScope();
  const clock = createRelayClock();
  let status: RelayStatus = 'connecting';
  let transport: RelayTransport | undefined;
  let stoodBefore = false;
  let handlers: ReadonlyMap<string, RelayTool['handler']> = list.handlers;

  const report = (more: Omit<RelayStatusEvent, 'status' | 'transport'> = {}): void => {
    tell(
      onStatus,
      Object.freeze({ status, ...(transport === undefined ? {} : { transport }), ...more }),
    );
  };
  const finish = (
    reason: string,
    error: RelayClientError | undefined,
    why: unknown = error,
  ): void => {
    if (life.ended) return;
    status = 'closed';
    transport = undefined;
    life.end(why);
    report({ reason, ...(error === undefined ? {} : { error }) });
    ends.closed(why);
  };
  const over = (error: RelayClientError): void => finish(error.code, error);

  const registration = createRegistration(
    { http, life, random, plugin },
    {
      taken(taken, failedTools) {
        // A tool that was removed could be called until now.
        if (latest === taken) handlers = taken.handlers;
        report({ failedTools });
      },
      refused: (error, retryInMs) =>
        report(retryInMs === undefined ? { error } : { error, retryInMs }),
      over,
    },
  );
  const delivery = createDelivery({ http, life, random, failed: (error) => report({ error }) });
  const calls = createCalls({
    life,
    clock,
    handler: (tool) => handlers.get(tool),
    answer: delivery.send,
  });
  let latest = list;

  const receive = ({ event, data }: LineEvent): void => {
    if (event === 'connected' || event === 'heartbeat') clock.heard(data.timestamp);
    if (event === 'connected') {
      registration.seen(numberIn(data, 'toolsRevision'), stoodBefore);
      stoodBefore = true;
    } else if (event === 'tool-request') calls.request(data);
    else if (event === 'tool-cancel') calls.cancel(data);
    else if (event === 'tool-availability-update') tell(onToolsChanged, data);
    else if (event === 'response-stored') delivery.stored(stringIn(data, 'requestId') ?? '');
    else if (event === 'response-refused')
      delivery.refused(stringIn(data, 'requestId') ?? '', refusalOf(data, http));
  };
  const change = async (tools: readonly RelayTool[], reason: string): Promise<void> => {
    const next = prepareTools(tools);
    latest = next;
    handlers = new Map([...handlers, ...next.handlers]);
    await registration.set(next, reason);
  };
  const close = async (given: RelayCloseOptions): Promise<void> => {
    const { deleteSession } = ownOptions('close', given, ['deleteSession']);
    finish('close', undefined, relayClientError('closed', 'The connection was closed.'));
    if (deleteSession !== true) return;
    try {
      await http.call(createScope(), 'DELETE', '');
    } catch (thrown) {
      const error = asRelayClientError(thrown);
      // Then it is gone already.
      if (error.status !== 404 && error.status !== 410) throw error;
    }
  };
  const connection = {
    get status() {
      return status;
    },
    get transport() {
      return transport;
    },
    get failed() {
      return registration.failed;
    },
    update: (tools, reason = 'application-update') => quietly(change(tools, reason)),
    close: (given = {}) => quietly(close(given)),
  } as RelayConnection;
  if (typeof Symbol.asyncDispose === 'symbol')
    Object.defineProperty(connection, Symbol.asyncDispose, { value: () => connection.close() });

  const start = async (): Promise<void> => {
    await registration.set(list, 'plugin-registration');
    await keepLink(
      { life, random, transports, client: clientId() },
      {
        up(name) {
          status = 'connected';
          transport = name;
          report();
          ends.connected(connection);
        },
        down(error, retryInMs) {
          transport = undefined;
          if (status === 'connected') status = 'reconnecting';
          report({ error, retryInMs });
        },
        over,
        speak: delivery.socket,
        event: receive,
      },
    );
  };

  if (signal !== undefined) {
    const abort = (): void => finish('close', undefined, signal.reason);
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    life.onEnd(() => signal.removeEventListener('abort', abort));
  }
  report();
  // What the relay will not take of a first registration ends it before it began.
  start().catch((error: unknown) => over(asRelayClientError(error)));
}

function refusalOf(data: JsonObject, http: RelayHttp): RelayClientError {
  const message = http.scrub(stringIn(data, 'message') ?? 'The relay refused an answer.');
  return relayClientError(http.scrub(stringIn(data, 'error') ?? 'refused'), message, {
    status: numberIn(data, 'status') ?? 400,
  });
}

/**
 * 128 random bits: which running application this is, to a relay that must not give a call to two.
 */
function clientId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}

/** A promise whose rejection may go unlooked at. */
function quietly(promise: Promise<void>): Promise<void> {
  promise.catch(() => {});
  return promise;
}
