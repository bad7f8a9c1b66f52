/** Asks an OPA server, over its REST API. */
import { messageOf } from '../../../values/errors/index.ts';
import type { PolicyDocument } from '../policy-document.ts';
import { opaFault } from './opa-answer.ts';

/** How requests are sent: the part of `fetch` that is used. */
export type OpaFetch = (url: string, init: RequestInit) => Promise<Response>;

/** Decisions are small. Anything larger is not the answer of a policy. */
const maxBytes = 65_536;

/**
 * Asks for a decision.
 * @returns undefined if the policy has no result
 * @throws PolicyFault if the server gives no answer. Its message has no query and no header.
 */
export async function askServer(
  fetch: OpaFetch,
  url: URL,
  headers: Headers,
  document: PolicyDocument,
  signal: AbortSignal,
): Promise<unknown> {
  const place = `OPA at ${url.origin}${url.pathname}`;
  // Without a prototype, so that a polluted prototype adds no option.
  const init: RequestInit = Object.assign(Object.create(null) as RequestInit, {
    method: 'POST',
    headers,
    body: JSON.stringify({ input: document }),
    signal,
    // Only this server may get the document and the headers.
    redirect: 'manual',
    credentials: 'omit',
    cache: 'no-store',
    referrerPolicy: 'no-referrer',
  });
  let text: string;
  try {
    const response = await fetch(url.href, init);
    text = await textOf(response);
  } catch (error) {
    throw opaFault(`${place} gave no decision: ${detailOf(error)}`, error);
  }
  const answer = parse(text);
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer))
    throw opaFault(`${place} gave no decision: its answer is not a JSON object`);
  return Object.hasOwn(answer, 'result')
    ? (answer as { readonly result: unknown }).result
    : undefined;
}

async function textOf(response: Response): Promise<string> {
  const { status, body } = response;
  if (status !== 200 || response.redirected) {
    // An unread answer would keep its connection.
    await body?.cancel().catch(() => {});
    throw new Error(
      response.redirected || (status >= 300 && status < 400)
        ? 'it redirects, which is not followed'
        : `it answered with the status ${status}`,
    );
  }
  if (body === null) return '';
  const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  try {
    for (let bytes = 0; ; ) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      bytes += value.byteLength;
      if (bytes > maxBytes) throw new Error(`its answer is larger than ${maxBytes} bytes`);
      text += decoder.decode(value, { stream: true });
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Node hides the reason of a failed request in the cause. */
function detailOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const message = messageOf(error);
  return cause instanceof Error ? `${message} (${messageOf(cause)})` : message;
}
