/** Asks an OPA server, over its REST API. */

import { allow, ask, type Decision, deny } from '../../../core.ts';
import { PolicyFault } from '../../../extend.ts';
import { describe, messageOf } from '../../../values/errors/index.ts';
import { isJsonObject, type JsonObject } from '../../../values/json/index.ts';
import { shortened } from '../../../values/text/characters.ts';
import type { PolicyDocument } from '../policy-document.ts';

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

// Reads the result of a Rego policy as a decision.

/** Models and people read these texts. */
const maxChars = 2_000;
const members: readonly string[] = ['effect', 'reason', 'message', 'prompt'];

/**
 * The decision.
 * @param result The result; undefined if the policy has none for the call.
 * @throws PolicyFault if it is anything else than a decision.
 */
export function decisionOf(result: unknown): Decision {
  if (result === undefined)
    return deny(
      'opa_undefined',
      'The call was denied, because the policy has no answer for it. Do not retry it unchanged.',
    );
  if (result === true) return allow();
  if (result === false) return deny('opa_denied');
  if (!isJsonObject(result)) throw nonsense(describe(result));
  // A policy may have added a condition, which would be ignored here.
  const unknown = Object.keys(result).find((name) => !members.includes(name));
  if (unknown !== undefined)
    throw nonsense(`an object with the member \`${unknown.slice(0, 60)}\``);
  const [reason, message, prompt] = ['reason', 'message', 'prompt'].map((name) =>
    textIn(result, name),
  );
  switch (Object.hasOwn(result, 'effect') ? result.effect : undefined) {
    case 'allow':
      return allow();
    case 'ask':
      return ask(prompt ?? message);
    case 'deny':
      return deny(wordOf(reason), message);
    default:
      throw nonsense('an object without such an `effect`');
  }
}

function textIn(result: JsonObject, name: string): string | undefined {
  if (!Object.hasOwn(result, name)) return undefined;
  const value = result[name];
  if (typeof value !== 'string') throw nonsense(`a \`${name}\` that is not a string`);
  return shortened(value, maxChars);
}

function wordOf(reason: string | undefined): string {
  if (reason === undefined) return 'opa_denied';
  if (!/^[a-z][a-z0-9_]{0,127}$/.test(reason))
    throw nonsense('a `reason` with other characters than `a` to `z`, `0` to `9` and `_`');
  return reason;
}

function nonsense(got: string): PolicyFault {
  return opaFault(
    'expected the policy to answer true, false or ' +
      `{ effect: "allow" | "ask" | "deny", reason?, message?, prompt? }, got ${got}`,
  );
}

/** A failure to get a decision. It denies the call, and is logged. */
export function opaFault(message: string, cause?: unknown): PolicyFault {
  return new PolicyFault('opa_error', message, cause === undefined ? undefined : { cause });
}
