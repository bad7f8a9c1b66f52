/** Policies in Rego, evaluated by OPA. */
import {
  type Decision,
  deny,
  MisuseError,
  type Policy,
  type PolicySubject,
} from '../../../core.ts';
import { webAddress } from '../../../values/http/web-address.ts';
import type { JsonObject } from '../../../values/json/index.ts';
import { fn, kind, object, readOptions, text, withDefault } from '../../../values/options/index.ts';
import { documentFault, type PolicyDocument, policyDocument } from '../policy-document.ts';
import { loadCompiled } from './compiled.ts';
import { askServer, decisionOf, type OpaFetch, opaFault } from './server.ts';

export type { PolicyDocument } from '../policy-document.ts';
export type { OpaFetch } from './server.ts';

/** Options of {@link opaPolicy} for a policy that is compiled to WebAssembly. */
export interface OpaWasmOptions {
  /** The policy's id, which is `ruleId` if it decides. @default "opa" */
  readonly id?: string | undefined;
  /**
   * The output of `opa build -t wasm`: the bytes of `policy.wasm`, which is in the bundle. It runs
   * in the host's thread.
   */
  readonly wasm: Uint8Array | ArrayBuffer;
  /**
   * The entry point to ask, as given to `opa build -e`, such as `tools/allow`.
   * @default the only one that the policy has
   */
  readonly entrypoint?: string | undefined;
  /** The `data` that the policy reads. @default {} */
  readonly data?: JsonObject | undefined;
}

/** Options of {@link opaPolicy} for a server. */
export interface OpaServerOptions {
  /** The policy's id, which is `ruleId` if it decides. @default "opa" */
  readonly id?: string | undefined;
  /**
   * The document to request from OPA's data API, such as
   * `http://127.0.0.1:8181/v1/data/tools/allow`.
   */
  readonly url: string | URL;
  /** Sends the requests. @default the global `fetch` */
  readonly fetch?: OpaFetch | undefined;
  /** Headers of each request, such as `Authorization`. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Options of {@link opaPolicy}: one of the two kinds. */
export type OpaOptions = OpaWasmOptions | OpaServerOptions;

const table = {
  id: withDefault(text(1), 'opa'),
  wasm: kind<Uint8Array | ArrayBuffer>(
    'the bytes of a `policy.wasm`',
    (value) => value instanceof Uint8Array || value instanceof ArrayBuffer,
  ),
  entrypoint: text(1),
  data: object<JsonObject>(),
  url: kind<string | URL>(
    'an http or https address without a password in it',
    (value) => addressOf(value) !== undefined,
  ),
  fetch: fn<OpaFetch>(),
  headers: object<Readonly<Record<string, string>>>(),
};

/**
 * Makes a policy that asks [OPA](https://www.openpolicyagent.org), either a policy that is compiled
 * to WebAssembly, which needs the package `@open-policy-agent/opa-wasm`, or a server over its REST
 * API. The policy's `input` is `{ principal, action, resource, context }`.
 *
 * The result may be `true`, `false`, or `{ effect, reason?, message?, prompt? }` with the effect
 * `allow`, `ask` or `deny`. A policy without a result for the call denies it (`opa_undefined`).
 * Anything else, a failure, and a server that does not answer within `policyTimeoutMs`, deny it as
 * well, and the logger gets the error.
 *
 * @throws MisuseError `invalid_option` if an option is wrong, or `wasm` is no policy.
 * `missing_dependency` if there is `wasm` without the package.
 * @example
 * ```ts
 * import { HostToolRegistry } from 'host-tools';
 * import { opaPolicy } from 'host-tools/opa';
 *
 * const registry = new HostToolRegistry({
 *   policies: [opaPolicy({ url: 'http://127.0.0.1:8181/v1/data/tools/allow' })],
 * });
 * ```
 */
export function opaPolicy(options: OpaOptions): Policy {
  const { id, wasm, url, entrypoint, data, fetch, headers } = readOptions(
    'opaPolicy',
    options,
    table,
  );
  if (wasm !== undefined && url === undefined) {
    only('wasm', { fetch, headers });
    const evaluate = loadCompiled(wasm, entrypoint, data);
    return { id, check: (call) => decisionOf(evaluate(shownOf(call))) };
  }
  if (url === undefined || wasm !== undefined)
    throw new MisuseError(
      'invalid_option',
      'opaPolicy: expected either `wasm` or `url`, got ' +
        `${url === undefined ? 'neither' : 'both'}.`,
    );
  only('url', { entrypoint, data });
  const address = addressOf(url) as URL;
  const sent = readHeaders(headers);
  // Looked up for each call, so that a `fetch` that is instrumented later is used.
  const send: OpaFetch = fetch ?? ((to, init) => globalThis.fetch(to, init));
  return { id, check: (call) => askAt(send, address, sent, call) };
}

async function askAt(
  fetch: OpaFetch,
  url: URL,
  headers: Headers,
  call: PolicySubject,
): Promise<Decision> {
  const { signal } = call;
  try {
    return decisionOf(await askServer(fetch, url, headers, shownOf(call), signal));
  } catch (error) {
    // Nothing waits for the answer of a cancelled call, and its end is not a fault of OPA.
    if (signal.aborted && (signal.reason as Error | undefined)?.name !== 'TimeoutError')
      return deny('opa_error', 'The call ended before OPA had answered.');
    throw error;
  }
}

function shownOf(call: PolicySubject): PolicyDocument {
  const document = policyDocument(call);
  const fault = documentFault(document);
  if (fault !== undefined) throw opaFault(`the call cannot be shown to OPA: ${fault}`);
  return document;
}

/** Refuses options that belong to the other kind. */
function only(kind: 'wasm' | 'url', others: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(others))
    if (value !== undefined)
      throw new MisuseError(
        'invalid_option',
        `opaPolicy: \`${name}\` has no meaning with \`${kind}\`` +
          `${name === 'data' ? '; the server has its own data' : ''}.`,
      );
}

function addressOf(value: unknown): URL | undefined {
  if (typeof value !== 'string' && !(value instanceof URL)) return undefined;
  const url = webAddress(value);
  return url?.username === '' && url.password === '' ? url : undefined;
}

function readHeaders(given: Readonly<Record<string, string>> | undefined): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given ?? {})) {
    try {
      if (typeof value !== 'string') throw new TypeError('no string');
      headers.set(name, value);
    } catch {
      // The value may be a secret, so the message does not show it.
      throw new MisuseError(
        'invalid_option',
        `opaPolicy: expected \`headers.${name.slice(0, 60)}\` to be the name and the text of a ` +
          'header.',
      );
    }
  }
  headers.set('Content-Type', 'application/json');
  headers.set('Accept', 'application/json');
  return headers;
}
