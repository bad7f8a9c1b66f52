/** Waits for the result of a request that runs elsewhere. */
import type { ToolResult } from '../../../core.ts';
import type { WakeListener } from '../hub.ts';
import { keys } from '../ports/documents.ts';
import { documentsOf } from '../ports/kept-store.ts';
import { leaving, relayError, sessionNotFound } from '../relay-error.ts';
import { callIn, type FoundCall } from './call-documents.ts';
import { lookWake } from './node-lease.ts';
import { type FoundRequest, requestIn } from './request-documents.ts';
import { isOwn, type RequestParts, requestKey } from './request-parts.ts';

/**
 * The most milliseconds that a node has to end a request whose call was answered. After that, a
 * node that is asked for the request ends it, even if the other node is still alive.
 */
const answeredMs = 400;

/** The stored documents of a request and its call. */
export interface FoundPair {
  readonly found: FoundRequest | undefined;
  readonly call: FoundCall | undefined;
}

/** Reads a request and its call together. */
export async function findPair(
  { settings: { store } }: Pick<RequestParts, 'settings'>,
  code: string,
  id: string,
): Promise<FoundPair> {
  const [request, call] = await documentsOf(store, code, [keys.request(id), keys.call(id)]);
  return { found: requestIn(request), call: callIn(call) };
}

/** True when the application has answered but the answer has not become the result yet. */
export function isAnswered({ found, call }: FoundPair): boolean {
  return (
    found?.document.status !== 'done' &&
    found?.document.resumed !== true &&
    call?.document.answer !== undefined
  );
}

/**
 * Waits until the result is stored. Reads the documents when the hub wakes it, and once per lease
 * of a node. If the node that should end the request does not do so, this node takes it over.
 * @param withinMs milliseconds after which the result is undefined. @default no limit
 * @throws RelayError 404 when the session is gone, or when the result was large and is no longer
 * kept; 503 once this node is closed and there is no result
 */
export async function joinRequest(
  parts: RequestParts,
  code: string,
  id: string,
  withinMs = Number.POSITIVE_INFINITY,
): Promise<ToolResult | undefined> {
  const { hub, lease, state } = parts;
  let woken = (): void => {};
  const onWake: WakeListener = (wake) => {
    const isOfIt =
      wake === `request:${id}` || wake === `call:${id}` || wake?.startsWith(`call:${id} `);
    if (wake === undefined || wake === 'closed' || isOfIt) woken();
  };
  const stop = await hub.watch(code, onWake, id);
  const wake = (): void => woken();
  state.joins.add(wake);
  const begunAt = performance.now();
  const graceMs = Math.min(answeredMs, lease.leaseMs / 2);
  let answeredAt: number | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    for (;;) {
      const wakes = new Promise<void>((resolve) => {
        woken = resolve;
      });
      const pair = await findPair(parts, code, id);
      const result = resultIn(pair);
      if (result !== undefined) return result;
      // No one here would look after the request. The client has to ask another node.
      if (state.closed) throw leaving();
      const time = performance.now();
      if (isAnswered(pair)) answeredAt ??= time;
      const isLate = answeredAt !== undefined && time - answeredAt >= graceMs;
      if (await isLeft(parts, code, id, pair, isLate)) {
        const taken = await parts.takeUp(code, id, isLate);
        const running = state.running.get(requestKey(code, id));
        if (running !== undefined) return await running;
        if (taken) continue;
      }
      const leftMs = withinMs - (performance.now() - begunAt);
      if (leftMs <= 0) return undefined;
      const waitMs = Math.min(answeredAt === undefined ? lease.leaseMs : graceMs, leftMs);
      timer = setTimeout(woken, waitMs);
      await wakes;
      clearTimeout(timer);
    }
  } finally {
    clearTimeout(timer);
    state.joins.delete(wake);
    stop();
  }
}

/**
 * Gets the result if it is stored.
 * @throws RelayError 404 for a request that has no result any more
 */
function resultIn({ found }: FoundPair): ToolResult | undefined {
  if (found === undefined) throw sessionNotFound();
  const { result, status } = found.document;
  if (result === undefined && status === 'done')
    throw relayError(
      404,
      'request_not_found',
      'This request is done, but its large result made room for newer ones. Read large results ' +
        'sooner. If the tool may run again, call it with a new `requestId`.',
    );
  return result;
}

/**
 * Takes a request over if the node that should end it is gone. A scheduled look would do so later,
 * but that node may have died before it could schedule one.
 */
export async function lookAfter(
  parts: RequestParts,
  code: string,
  id: string,
  found: FoundRequest,
): Promise<void> {
  const { status, result } = found.document;
  if (status === 'done' || result !== undefined) return;
  if (await isLeft(parts, code, id, { found, call: undefined }, false))
    await parts.takeUp(code, id, false);
}

/** Whether the node that should end a request has left it. */
async function isLeft(
  parts: RequestParts,
  code: string,
  id: string,
  { found }: FoundPair,
  isLate: boolean,
): Promise<boolean> {
  const { hub, lease, settings, state } = parts;
  if (state.closing || found === undefined) return false;
  const { node } = found.document;
  if (isOwn(parts, code, id)) return false;
  if (isLate || node === settings.node) return true;
  if (node === undefined) return false;
  if (!lease.isSteady()) {
    // It is too early to tell. A look is scheduled, because the agent may not ask again.
    await settings.store.schedule([{ owner: code, key: id }], lease.leaseMs);
    return false;
  }
  if (!(await lease.isAlive(node))) return true;
  // The node is alive, but it may have failed to run the request. It then has to look after it.
  hub.wake(keys.node(node), lookWake(code, id));
  return false;
}
