/** The inspector: a page about a registry, and the answers to its requests. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { HostToolRegistry } from '../../core.ts';
import { inspectRegistry, type Store } from '../../extend.ts';
import { storeOption } from '../../stores/shared/use-store.ts';
import { headerOf } from '../../values/http/direct-body.ts';
import {
  isHostAllowed,
  isOriginAllowed,
  type OriginPolicy,
} from '../../values/http/origin-guard.ts';
import { flag, kind, readOptions, type TableOf, withDefault } from '../../values/options/index.ts';
import type { Page } from '../pages/build-page.ts';
import { always, createAnswers, refuse } from './answers.ts';

/** Options of {@link createInspector}. */
export interface InspectorOptions {
  /**
   * The token that the page must have to get answers: at least 32 letters, digits, `-` and `_`.
   *
   * @default 32 random bytes, in base64url
   */
  readonly token?: string | undefined;
  /**
   * Whether the page may call tools, under a profile and for a principal of its choice, and edit
   * the input of a call that waits for an approval. The calls pass all gates. @default false
   */
  readonly allowCalls?: boolean | undefined;
  /**
   * A store with an audit log (`createAuditLog({ store })`). The calls of earlier days and of other
   * processes are read from it, as long as a page is open. @default none
   */
  readonly store?: Store | undefined;
}

/** A page about a registry. */
export interface Inspector {
  /**
   * Answers requests for the page, at a path that ends with `/`, and the page's own requests. It
   * answers only those that reach it by a loopback name. Never rejects.
   */
  fetch(request: Request): Promise<Response>;
  /**
   * Ends the streams and the calls of pages, and stops watching. Later requests get 404.
   * Idempotent.
   */
  close(): Promise<void>;
  /** The text after `#token=` in the address of the page. */
  readonly token: string;
}

const where = 'createInspector';
const table = {
  token: kind<string>(
    'at least 32 letters, digits, `-` or `_`',
    (value) => typeof value === 'string' && /^[\w-]{32,512}$/.test(value),
  ),
  allowCalls: withDefault(flag, false),
  store: storeOption,
} satisfies TableOf<InspectorOptions>;

const loopbackOnly: OriginPolicy = {
  allowedHosts: undefined,
  allowedOrigins: undefined,
  unlistedHosts: 'loopback',
  unlistedOrigins: 'own',
  spelling: 'exact',
};

/**
 * Makes a page that shows what the tools of a registry do: sessions, calls as they happen, rules,
 * counts, and questions to answer. Create it before the sessions that it should show. It is meant
 * for the machine on which it runs. Anyone who has the token sees all calls, and can answer
 * questions.
 * @throws MisuseError `invalid_option`, also for anything but a registry.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { createInspector } from 'host-tools/inspector';
 * import { toNodeListener } from 'host-tools/mcp';
 *
 * const inspector = createInspector(registry);
 * const server = createServer(toNodeListener(inspector)).listen(4041, '127.0.0.1');
 * console.log(`http://127.0.0.1:4041/#token=${inspector.token}`);
 * // later: await inspector.close();
 * ```
 */
export function createInspector<S>(
  registry: HostToolRegistry<S>,
  options: InspectorOptions = {},
): Inspector {
  const read = readOptions(where, options, table);
  const { token = randomBytes(32).toString('base64url'), allowCalls, store } = read;
  const answers = createAnswers(registry as unknown as HostToolRegistry<never>, allowCalls, store);
  const expected = digest(token);
  let closed: Promise<void> | undefined;
  let page: Promise<Page> | undefined;
  const answer = async (request: Request): Promise<Response> => {
    if (closed !== undefined) return refuse(404, 'The inspector is closed.');
    if (!isHostAllowed(request, loopbackOnly) || !isOriginAllowed(request, loopbackOnly))
      return refuse(403, 'The inspector answers only pages of its own address on this machine.');
    const { pathname, searchParams } = new URL(request.url);
    const at = pathname.lastIndexOf('/api/');
    if (at !== -1) {
      const given = /^Bearer ([\w-]{1,512})$/.exec(headerOf(request, 'authorization') ?? '')?.[1];
      // An unknown sender gets the same answer for every path.
      if (!timingSafeEqual(digest(given ?? ''), expected))
        return refuse(401, 'The token is missing or wrong. Open the address that was printed.');
      return answers.answer(request, pathname.slice(at + 5), searchParams);
    }
    if (request.method !== 'GET' || !pathname.endsWith('/')) return refuse(404, 'Not found.');
    page ??= import('../pages/inspector-page.ts').then(({ inspectorPage }) => inspectorPage());
    const { html, policy } = await page;
    return new Response(html, {
      headers: {
        ...always,
        'Content-Type': 'text/html; charset=utf-8',
        'Content-Security-Policy': policy,
      },
    });
  };
  return Object.freeze<Inspector>({
    fetch: (request) =>
      answer(request).catch((error: unknown) => {
        inspectRegistry(registry).report(error, { source: 'inspector' }, 'the inspector failed');
        return refuse(500, 'The inspector failed. The log of the registry says why.');
      }),
    close() {
      closed ??= answers.close();
      return closed;
    },
    token,
  });
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
