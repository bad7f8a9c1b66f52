/** The scopes that calls over MCP need, and those that a request has. */
import type { ToolSession } from '../../../core.ts';
import { inspectSession } from '../../../extend.ts';
import { isJsonObject } from '../../../values/json/index.ts';
import { learnerOf } from './acting.ts';
import { challenge } from './authorization.ts';
import type { Authorization } from './authorization-options.ts';
import type { RpcId, RpcMessage } from './rpc.ts';
import { calledTool } from './serving.ts';

/** A call that a request makes. */
interface AskedCall {
  readonly id: RpcId;
  readonly name: unknown;
  readonly input: unknown;
}

/** The call that a message asks for. */
function callIn(message: RpcMessage | undefined): AskedCall | undefined {
  if (message?.kind !== 'request' || message.method !== 'tools/call') return undefined;
  const params = isJsonObject(message.params) ? message.params : {};
  return { id: message.id, name: params.name, input: params.arguments };
}

/** The tool that a message calls. */
export function calledIn(message: RpcMessage, session: ToolSession): readonly string[] {
  const name = callIn(message)?.name;
  return typeof name === 'string' ? [calledTool(session, name)] : [];
}

/**
 * The 403 for a request whose token lacks scopes that its calls need; undefined if there is none.
 * Each call that is refused goes through the session, which denies and records it.
 * @param others Tools whose calls the request goes on with. An answer lets a call run, and may come
 * with another token than the call.
 */
export async function refuseScopes(
  request: Request,
  { authorization }: { readonly authorization: Authorization | undefined },
  scopes: readonly string[] | undefined,
  session: ToolSession,
  messages: readonly (RpcMessage | undefined)[],
  others: readonly string[],
): Promise<Response | undefined> {
  if (authorization === undefined || scopes === undefined) return undefined;
  const calls = messages.flatMap((message) => callIn(message) ?? []);
  const view = inspectSession(session);
  const needed = new Set<string>();
  const refused: (() => Promise<unknown>)[] = [];
  for (const { name, input } of calls) {
    if (typeof name !== 'string') continue;
    const tool = calledTool(session, name);
    const all = view.neededScopes(tool);
    if (all.every((scope) => scopes.includes(scope))) continue;
    for (const scope of all) needed.add(scope);
    const surface = { name: 'mcp', outside: true, exposeErrors: 'masked', scopes } as const;
    refused.push(() => session.call(tool, input, { signal: request.signal, surface }));
  }
  for (const tool of others)
    for (const scope of view.neededScopes(tool)) if (!scopes.includes(scope)) needed.add(scope);
  if (needed.size === 0) return undefined;
  await Promise.all(refused.map((call) => call()));
  const kept = scopes.filter((scope) => authorization.scopes.includes(scope));
  return challenge(403, request, authorization, {
    error: 'insufficient_scope',
    scopes: [...new Set([...kept, ...needed])],
    message: `The token lacks a scope that this call needs: ${[...needed].join(', ')}.`,
    id: messages.find((one) => one?.kind === 'request')?.id,
  });
}

/**
 * Sets the facts `scope.…` of a session that was made for one client. While other requests have no
 * answer, only the scopes that they have as well: a rule may look again after a wait.
 */
export function learnScopes(
  session: ToolSession,
  scopes: readonly string[],
  isShared = false,
): void {
  const view = inspectSession(learnerOf(session));
  const before = new Set(Object.keys(view.facts));
  const known = scopes.map((scope) => `scope.${scope}`);
  const kept = isShared ? known.filter((fact) => before.has(fact)) : known;
  view.declareFacts('scope.', Object.fromEntries(kept.map((fact) => [fact, true])));
}
