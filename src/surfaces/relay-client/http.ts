/**
 * Requests to the relay. The token goes in a header, everything is bounded, and every failure is
 * one kind of error.
 */
import { retryAfterMs } from './backoff.ts';
import { type JsonObject, parseObject, stringIn } from './json.ts';
import type { Target } from './own-options.ts';
import {
  createScrub,
  failedToolsOf,
  isRelayClientError,
  type RelayClientError,
  relayClientError,
  type Scrub,
} from './relay-client-error.ts';
import { type Scope, within } from './scope.ts';

/** Further settings of a request. */
export interface HttpMore {
  /** JSON text. */
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds for the whole request. @default 30 000 */
  readonly timeoutMs?: number;
}

/**
 * Requests to one session of a relay. All of them reject with a RelayClientError, or with the
 * reason for which the scope ended.
 */
export interface RelayHttp {
  /** The object in the relay's answer; empty if the answer has no body. */
  call(
    scope: Scope,
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    more?: HttpMore,
  ): Promise<JsonObject>;
  /** A response that is read as it arrives, until `signal` aborts. */
  open(
    path: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Response>;
  /** Keeps the token out of errors. */
  readonly scrub: Scrub;
}

/** Most bytes of an answer. */
const maxAnswerBytes = 16 * 1_048_576;

export function createHttp(
  { base, token }: Target,
  fetch: (url: string, init?: RequestInit) => Promise<Response>,
): RelayHttp {
  const scrub = createScrub(token);
  const send = async (path: string, init: RequestInit): Promise<Response> => {
    try {
      // A redirect is an error: only the relay may get the token, definitions and answers.
      return await fetch(`${base}${path}`, {
        ...init,
        cache: 'no-store',
        redirect: 'error',
      } as RequestInit);
    } catch (error) {
      throw networkError(scrub.message(messageOf(error)));
    }
  };
  const read = async (response: Response): Promise<JsonObject> => {
    try {
      const answer = parseObject(await textOf(response));
      if (!response.ok) throw refusal(response, answer ?? {}, scrub);
      // Anything else is not a relay. It may be a portal that wants a login.
      if (answer === undefined && response.status !== 204)
        throw relayClientError(
          'invalid_answer',
          'The answer did not come from a relay: expected a JSON object. Check the url.',
        );
      return answer ?? {};
    } catch (error) {
      throw isRelayClientError(error) ? error : networkError(scrub.message(messageOf(error)));
    }
  };
  const authorization = { Authorization: `Bearer ${token}` };
  return {
    call(scope, method, path, { body, headers, timeoutMs = 30_000 } = {}) {
      const type = body === undefined ? {} : { 'Content-Type': 'application/json' };
      const init = {
        method,
        headers: { ...authorization, ...type, ...headers },
        ...(body === undefined ? {} : { body }),
      };
      return within(scope, timeoutMs, async (signal) =>
        read(await send(path, { ...init, signal })),
      );
    },
    async open(path, headers, signal) {
      const response = await send(path, {
        method: 'GET',
        headers: { ...authorization, ...headers },
        signal,
      });
      if (!response.ok) await read(response);
      return response;
    },
    scrub,
  };
}

function networkError(detail: string): RelayClientError {
  return relayClientError(
    'network_error',
    `The relay cannot be reached${detail === '' ? '' : ` (${detail})`}. In a browser, this also ` +
      'happens if the relay refuses the origin of the page.',
  );
}

function refusal(
  { status, headers }: Response,
  answer: JsonObject,
  scrub: Scrub,
): RelayClientError {
  const message = stringIn(answer, 'message');
  return relayClientError(
    scrub.code(stringIn(answer, 'error'), `http_${status}`),
    message === undefined ? `The relay answered with status ${status}.` : scrub.message(message),
    {
      status,
      retryAfterMs: retryAfterMs(headers.get('retry-after')),
      failedTools: failedToolsOf(answer),
    },
  );
}

async function textOf(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  // Some environments have a `fetch` without streams.
  if (reader === undefined) return response.text();
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.length;
    if (bytes > maxAnswerBytes) {
      await reader.cancel();
      throw relayClientError(
        'invalid_answer',
        `The relay's answer has more than ${maxAnswerBytes} bytes.`,
      );
    }
    text += decoder.decode(value, { stream: true });
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : '';
}
