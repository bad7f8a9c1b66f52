/** Processes frames like requests over HTTP: it paces, counts and refuses them in the same way. */
import { isJsonObject, type JsonObject } from '../../../values/json/index.ts';
import type { StreamEvent } from '../events/ports.ts';
import { findSession } from '../http/access.ts';
import { fieldOf } from '../http/bodies.ts';
import { clientNamed, type NodeParts } from '../http/node-parts.ts';
import { toRelayError } from '../http/responses.ts';
import type { SessionRouteName } from '../http/route-table.ts';
import type { SessionDocument, Side } from '../ports/documents.ts';
import { type RelayError, wrongValue } from '../relay-error.ts';

/** A kind of frame. */
export interface FrameKind {
  readonly code: string;
  readonly side: Side;
  /** The HTTP route that does the same. */
  readonly route: SessionRouteName;
  /** The event that tells the client about a refusal. */
  readonly event: string;
}

/**
 * Does the work of a client's request when the pace allows it, and counts the request. Never
 * rejects.
 * @param client as `clientNamed` makes it
 */
export async function paced<T>(
  { pace, counters, report }: Pick<NodeParts, 'pace' | 'counters' | 'report'>,
  client: string,
  route: SessionRouteName,
  work: () => Promise<T>,
): Promise<{ readonly done: T } | { readonly refusal: RelayError }> {
  await pace.enter(client);
  const startedAt = performance.now();
  try {
    const done = await work();
    counters.answered(route, 200, undefined);
    return { done };
  } catch (error) {
    const refusal = toRelayError(error, (fault) => report('internal', fault));
    const { status } = refusal;
    if (status >= 400 && status < 500) pace.refused(client, performance.now() - startedAt);
    counters.answered(route, status, refusal.error);
    return { refusal };
  }
}

/**
 * Does the work of a frame, and tells the client if it is refused. Never rejects.
 * @param work gets the session as it is now, since it may have changed or ended
 */
export async function workOfFrame(
  parts: NodeParts,
  { code, side, route, event }: FrameKind,
  data: unknown,
  reply: (event: StreamEvent) => void,
  work: (session: SessionDocument, data: JsonObject) => Promise<void>,
): Promise<void> {
  const { store, now } = parts.settings;
  const outcome = await paced(parts, clientNamed(code, side), route, async () =>
    work(await findSession(store, now(), code), objectOf(data)),
  );
  if ('refusal' in outcome) reply({ event, data: { ...idIn(data), ...toldOf(outcome.refusal) } });
}

/** The id that a frame names. A refusal repeats it, so that the client knows what was refused. */
export function idOf(data: unknown): string | undefined {
  if (!isJsonObject(data)) return undefined;
  const id = fieldOf(data, 'requestId', 'id');
  return typeof id === 'string' ? id : undefined;
}

function idIn(data: unknown): JsonObject {
  const id = idOf(data);
  return id === undefined ? {} : { requestId: id.slice(0, 200) };
}

function toldOf({ status, error, message, headers }: RelayError): JsonObject {
  const seconds = Number(headers['Retry-After'] ?? Number.NaN);
  return {
    status,
    error,
    message,
    ...(Number.isFinite(seconds) ? { retryAfterMs: seconds * 1_000 } : {}),
  };
}

/**
 * Reads the data of a frame. Its size was checked when the frame arrived.
 * @throws RelayError 400
 */
export function objectOf(data: unknown): JsonObject {
  if (!isJsonObject(data)) throw wrongValue('invalid_request', '`data`', 'a JSON object', data);
  return data;
}
