/** Hands the messages of a POST to their MCP session, each id once while it is in flight. */
import { isJsonObject } from '../../../values/json/index.ts';
import { nextTurn } from '../../../values/limits/next-turn.ts';
import type { OpenRequest } from './open-requests.ts';
import { refusal } from './refusal.ts';
import { duplicateAnswer, type RpcId, type RpcMessage, rpcCodes, tooManyOpen } from './rpc.ts';
import type { McpSession } from './session.ts';

type RpcRequest = RpcMessage & { readonly kind: 'request' };

/** @param messages the messages of `body`, in its order */
export async function deliver(
  request: Request,
  body: unknown,
  messages: readonly RpcMessage[],
  mcp: McpSession,
): Promise<Response> {
  const batched = Array.isArray(body);
  const requests = messages.filter((message) => message.kind === 'request');
  const ids = new Set(requests.map(({ id }) => id));
  const refused = refusedDelivery(batched, requests, ids, mcp);
  if (refused !== undefined) return refused;
  const taken = new Map(
    requests.map(({ id, method }): [RpcId, OpenRequest] => [
      id,
      { method, batched, delivered: false, begun: false },
    ]),
  );
  const full = !mcp.inFlight.add(taken);
  // Decided after all ids are taken, because a batch may cancel a request of its own. If there are
  // too many requests, the other messages are still delivered.
  const passes = (message: RpcMessage): boolean =>
    !isIdleCancel(message, mcp) && !(full && message.kind === 'request');
  const rest = batched
    ? (body as unknown[]).filter((_, index) => passes(messages[index] as RpcMessage))
    : passes(messages[0] as RpcMessage)
      ? [body]
      : [];
  let response: Response | undefined;
  try {
    response =
      rest.length === 0
        ? new Response(null, { status: 202 })
        : await mcp.handle(request, batched ? rest : body);
    for (const one of taken.values()) one.delivered = true;
    for (const message of messages) if (passes(message)) void abandonUnbegun(message, mcp);
    if (!full || requests.length === 0 || !response.ok) return response;
    const answers = requests.map(({ id }) => tooManyOpen(id));
    return Response.json(batched ? answers : answers[0]);
  } finally {
    // The transport refused the requests, so nothing will answer them.
    if (!full && response?.ok !== true) for (const id of ids) mcp.inFlight.delete(id);
  }
}

function refusedDelivery(
  batched: boolean,
  requests: readonly RpcRequest[],
  ids: ReadonlySet<RpcId>,
  mcp: McpSession,
): Response | undefined {
  // Only this version of the protocol has batches.
  if (batched && mcp.version() !== '2025-03-26')
    return refusal(
      400,
      rpcCodes.invalidRequest,
      'Invalid Request: this protocol version has no batches.',
    );
  const duplicate = requests.find(({ id }) => mcp.inFlight.get(id) !== undefined);
  if (batched && (duplicate !== undefined || ids.size < requests.length))
    return refusal(
      400,
      rpcCodes.invalidRequest,
      'Invalid Request: an id is in the batch twice, or is already in flight.',
    );
  return duplicate === undefined ? undefined : Response.json(duplicateAnswer(duplicate));
}

/**
 * Frees the place of a cancelled call whose handler never begins. If the parameters of such a call
 * are malformed, the package refuses it and, because it is cancelled, sends no answer. Nothing else
 * would free its place.
 */
async function abandonUnbegun(message: RpcMessage, mcp: McpSession): Promise<void> {
  const id = cancelledId(message);
  const target = id === undefined ? undefined : mcp.inFlight.get(id);
  if (id === undefined || target === undefined || !target.delivered) return;
  await nextTurn();
  if (!target.begun && mcp.inFlight.get(id) === target) mcp.abandon(id);
}

function cancelledId(message: RpcMessage): RpcId | undefined {
  if (
    message.kind !== 'notification' ||
    message.method !== 'notifications/cancelled' ||
    !isJsonObject(message.params)
  )
    return undefined;
  return message.params.requestId as RpcId;
}

/**
 * Whether a message cancels anything but a running call. Other requests are answered at once. They
 * cannot be cancelled, because a cancelled request would get no answer.
 */
function isIdleCancel(message: RpcMessage, mcp: McpSession): boolean {
  if (message.kind !== 'notification' || message.method !== 'notifications/cancelled') return false;
  const id = cancelledId(message);
  return id === undefined || mcp.inFlight.get(id)?.method !== 'tools/call';
}
