/** One call of an operation: the executor behind an imported definition. */
import {
  type CallInfo,
  type Executor,
  fail,
  type JsonObject,
  type ToolContext,
} from '../../core.ts';
import { wellFormedJson } from '../../values/json/index.ts';
import { noticeClosed } from '../../values/limits/stretches.ts';
import type { MaybePromise } from '../../values/maybe-promise.ts';
import { connectionFault, withdrawnFault } from '../shared/executor-fault.ts';
import { authorizationOf } from '../shared/import-options.ts';
import { maxAnswerBytes, outcomeOf, readBytes, tooLarge } from './answer.ts';
import { type Headers, headersOf, secretsIn } from './credentials.ts';
import { type BuiltRequest, buildRequest, type WirePlan } from './request.ts';
import { Unsendable } from './serialize.ts';

/** The request of a call, for those who sign it. */
export interface OpenApiRequest {
  /** The id of the operation, without a prefix. */
  readonly operation: string;
  /** In upper case. */
  readonly method: string;
  /** The whole address. */
  readonly url: string;
  /** By lower-case name, without those that `auth` gives. */
  readonly headers: Readonly<Record<string, string>>;
  /** The text that is sent; undefined for none. */
  readonly body: string | undefined;
}

/**
 * Gives the headers that say who asks, such as `authorization`. Called for each request, once
 * everything has been checked. They go to the server only, and into no error and no record.
 */
export type OpenApiAuth = (
  request: OpenApiRequest,
  context: { readonly session: CallInfo },
) => MaybePromise<Readonly<Record<string, string>>>;

type Context = ToolContext<unknown, unknown, string>;

/** How an import reaches its server. */
export interface Wire {
  readonly server: URL;
  /** The host's own headers, by lower-case name. */
  readonly headers: Headers;
  /** The host's own members of the query. */
  readonly query: Readonly<Record<string, string>>;
  readonly auth: OpenApiAuth | undefined;
  /** Whether each request has the token of the principal. */
  readonly sendsToken: boolean;
  /** Aborts when the import is closed. */
  readonly closed: AbortSignal;
}

/** Most redirects that are followed. */
const maxRedirects = 5;

/**
 * Makes the executor of one operation.
 * @param keys What {@link keysIn} found.
 * @param withdrawn why the definition may no longer be called; undefined while it may
 */
export function executorOf(
  operation: string,
  plan: WirePlan,
  wire: Wire,
  keys: ReadonlySet<string>,
  withdrawn: () => string | undefined,
): Executor {
  const own = { server: wire.server, query: wire.query, keys };
  const execute = async (input: JsonObject, context: Context): Promise<unknown> => {
    let request: BuiltRequest;
    try {
      request = buildRequest(plan, own, wellFormedJson(input));
    } catch (error) {
      if (!(error instanceof Unsendable)) throw error;
      return fail({ message: `Nothing was sent. ${error.message}`, reason: 'http_argument' });
    }
    const credentials = await credentialsOf(operation, plan, wire, request, context);
    // Asked last, since the host may have taken its time.
    const reason = wire.closed.aborted ? 'removed' : withdrawn();
    if (reason !== undefined) throw withdrawnFault(reason);
    return exchange(plan, wire, request, credentials, context.signal);
  };
  return Object.freeze({ kind: 'remote', execute });
}

/** @throws Error without what the host's function threw, which may quote a credential */
async function credentialsOf(
  operation: string,
  { method }: WirePlan,
  { headers, auth, sendsToken }: Wire,
  { url, headers: own, body }: BuiltRequest,
  context: Context,
): Promise<Headers> {
  const token = sendsToken ? { authorization: authorizationOf(context) } : {};
  if (auth === undefined) return { ...headers, ...token };
  const { sessionId, cwd, environment, metadata, principal, services, callId, toolName } = context;
  const session: CallInfo = Object.freeze({
    ...{ sessionId, cwd, environment, metadata, services, callId, toolName },
    ...(principal === undefined ? {} : { principal }),
  });
  const request: OpenApiRequest = Object.freeze({
    ...{ operation, method, url: url.href, headers: Object.freeze({ ...own, ...headers }), body },
  });
  let given: unknown;
  try {
    given = await auth(request, { session });
  } catch (error) {
    throw new Error('Nothing was sent: the `auth` of the import failed.', { cause: error });
  }
  const added = headersOf(given, 'the headers that `auth` returned');
  if (sendsToken && Object.hasOwn(added, 'authorization'))
    throw new Error('Nothing was sent: `auth` gave `authorization`, which `credentials` gives.');
  return { ...headers, ...added, ...token };
}

async function exchange(
  { method, answers }: WirePlan,
  { closed, query }: Wire,
  request: BuiltRequest,
  credentials: Headers,
  signal: AbortSignal,
): Promise<unknown> {
  const secrets = secretsIn(credentials, query);
  const hide = (text: string): string =>
    secrets.reduce((kept, secret) => kept.replaceAll(secret, '[redacted]'), text);
  const isRead = method === 'GET' || method === 'HEAD';
  // `AbortSignal.any` keeps a part of each call as long as the import lives.
  const ended = new AbortController();
  const stop = (): void => ended.abort();
  for (const one of [signal, closed]) {
    if (one.aborted) stop();
    one.addEventListener('abort', stop, { once: true });
  }
  try {
    let { url } = request;
    await noticeClosed();
    for (let followed = 0; ; followed++) {
      const response = await fetch(url, {
        method,
        headers: { ...request.headers, ...credentials },
        ...(request.body === undefined ? {} : { body: request.body }),
        redirect: 'manual',
        signal: ended.signal,
      });
      const next = nextOf(response, url);
      const follows = isRead && next?.origin === url.origin && followed < maxRedirects;
      if (next !== undefined) await response.body?.cancel().catch(() => {});
      if (next === undefined) {
        const bytes = await readBytes(response, maxAnswerBytes);
        if (bytes === undefined) return tooLarge();
        const { status, statusText } = response;
        const type = response.headers.get('content-type') ?? '';
        const mayRetry = isRead || method === 'PUT' || method === 'DELETE';
        return outcomeOf({ status, statusText, type, bytes }, answers, hide, mayRetry);
      }
      if (!follows) return redirected(response.status, next, isRead, hide);
      url = next;
    }
  } catch (error) {
    if (closed.aborted && !signal.aborted)
      throw connectionFault('The import was closed before the API had answered.');
    if (!(error instanceof TypeError)) throw error;
    // The message of `fetch` says nothing, and its cause may quote what was sent.
    throw connectionFault('The connection to the API failed. The call may have run.');
  } finally {
    for (const one of [signal, closed]) one.removeEventListener('abort', stop);
  }
}

/** Where a redirect leads; undefined for any other answer. */
function nextOf({ status, headers }: Response, from: URL): URL | undefined {
  if (![301, 302, 303, 307, 308].includes(status)) return undefined;
  const target = headers.get('location');
  return target !== null && URL.canParse(target, from.href) ? new URL(target, from) : undefined;
}

function redirected(
  status: number,
  next: URL,
  isRead: boolean,
  hide: (text: string) => string,
): unknown {
  const why = isRead
    ? 'Redirects are followed within the origin of the server only, and not without end.'
    : 'Redirects are followed for GET and HEAD only.';
  return fail({
    message: `The API answered ${status} and names \`${hide(next.origin)}\`. ${why}`,
    reason: 'http_error',
    details: { status },
  });
}
