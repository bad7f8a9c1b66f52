/** Answers requests about the approvals of a registry: with a page, and for programs. */

import type { Answerer } from '../../api/answers.ts';
import type { HostToolRegistry, MaybePromise } from '../../core.ts';
import { inspectRegistry, type RegistryView } from '../../extend.ts';
import { longestName, personIn } from '../../parts/durable-approvals/people.ts';
import {
  corsHeaders,
  isHostAllowed,
  isOriginAllowed,
  listedOrigin,
  type OriginPolicy,
  preflightHeaders,
} from '../../values/http/origin-guard.ts';
import { withDeadline } from '../../values/limits/with-deadline.ts';
import {
  arrayOf,
  flag,
  fn,
  kind,
  readOptions,
  required,
  type TableOf,
  text,
  withDefault,
  wrongOption,
} from '../../values/options/index.ts';
import { createInboxAnswers, refuse } from './handler-answers.ts';

/** The person who sent a request. */
export interface SignedIn {
  /** The name: 1 to 1 024 characters. */
  readonly principal: string;
  /** The roles of the person now, of which `approvers` may name some. @default none */
  readonly roles?: readonly string[] | undefined;
}

/** Options of {@link createApprovalsHandler}. */
export interface ApprovalsHandlerOptions {
  /**
   * Returns the person who sent a request, by its cookie or its `Authorization`: a name of 1 to 1
   * 024 characters, alone or with at most 100 roles. Undefined for an unknown sender, who always
   * gets 401. If this throws or takes longer than the registry's `policyTimeoutMs`, the answer is
   * 401 too, and the registry's logger gets the error. Anyone with a name can see and answer the
   * approvals that name no `approvers`; others are there for those whom they name, by name or role.
   */
  readonly authenticate: (request: Request) => MaybePromise<string | SignedIn | undefined>;
  /** The path below which the handler answers, such as `/approvals`. @default "" */
  readonly basePath?: string | undefined;
  /**
   * Whether an answer may change the input of a call that it allows. The changed input is validated
   * and judged again. @default true
   */
  readonly allowEdits?: boolean | undefined;
  /**
   * Whether somebody who may see a request may take its call back, after it was allowed here and
   * has succeeded. That passes the gates of the call's session, as `<tool>.revert`.
   * @default false
   */
  readonly allowUndo?: boolean | undefined;
  /**
   * The hosts in requests that are accepted: names for any port, or `name:port`.
   * @default loopback names only
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /**
   * Origins whose pages may send requests, in addition to the handler's own. They get CORS headers
   * without credentials, so they authenticate with a header.
   * @default none
   */
  readonly allowedOrigins?: readonly string[] | undefined;
}

/** Answers requests about approvals. */
export interface ApprovalsHandler {
  /** Answers one request. Never rejects. */
  fetch(request: Request): Promise<Response>;
}

const where = 'createApprovalsHandler';
const texts = arrayOf(text(1), 'non-empty strings');
const table = {
  authenticate: required(fn<ApprovalsHandlerOptions['authenticate']>()),
  basePath: withDefault(
    kind<string>(
      '"" or a path such as `/approvals`, without a slash at its end',
      (value) => typeof value === 'string' && /^(?:\/[\w.~-]+)*$/.test(value),
    ),
    '',
  ),
  allowEdits: withDefault(flag, true),
  allowUndo: withDefault(flag, false),
  allowedHosts: texts,
  allowedOrigins: texts,
} satisfies TableOf<ApprovalsHandlerOptions>;

/**
 * Makes a handler of web-standard requests that lists the approvals of all sessions, shows one, and
 * answers it. `GET` of the base path and a slash is a page that does this for a person.
 * `toNodeListener` of `host-tools/mcp` makes it a listener of `node:http`. No answer contains a
 * token. Serve it over TLS.
 * @throws MisuseError `invalid_option`, also for anything but a registry, and `missing_part` for a
 * registry that keeps no approvals.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { createApprovalsHandler } from 'host-tools/approvals';
 * import { toNodeListener } from 'host-tools/mcp';
 *
 * const people = new Map([['Bearer a-long-random-text', 'user:bob']]);
 * const handler = createApprovalsHandler(registry, {
 *   authenticate: (request) => people.get(request.headers.get('authorization') ?? ''),
 *   basePath: '/approvals',
 * });
 * createServer(toNodeListener(handler)).listen(4042, '127.0.0.1');
 * ```
 */
export function createApprovalsHandler<S>(
  registry: HostToolRegistry<S>,
  options: ApprovalsHandlerOptions,
): ApprovalsHandler {
  const view = inspectRegistry(registry);
  const given = readOptions(where, options, table);
  view.requirePart('approvals', where);
  const { authenticate, basePath, allowEdits, allowUndo } = given;
  const policy = policyOf(given);
  const own = registry as unknown as HostToolRegistry<never>;
  const answers = createInboxAnswers(own, allowEdits, allowUndo);

  const answer = async (request: Request): Promise<Response> => {
    if (!isHostAllowed(request, policy))
      return refuse(403, 'This Host is not allowed here: see the option `allowedHosts`.');
    if (!isOriginAllowed(request, policy))
      return refuse(403, 'This Origin is not allowed here: see the option `allowedOrigins`.');
    const origin = listedOrigin(request, policy);
    if (request.method === 'OPTIONS' && origin !== undefined)
      return new Response(null, {
        status: 204,
        headers: preflightHeaders('GET, POST', 'Authorization, Content-Type'),
      });
    const person = await personOf(request, authenticate, view);
    // An unknown sender gets the same answer for every path, so the answer does not show what
    // exists.
    if (person === undefined) return refuse(401, 'Sign in first.');
    const { pathname, searchParams } = new URL(request.url);
    // The page finds the rest relative to its own address, which has to end with a slash.
    if (pathname === basePath && request.method === 'GET')
      return new Response(null, {
        status: 308,
        headers: {
          Location: `${basePath.slice(basePath.lastIndexOf('/') + 1)}/`,
          'Cache-Control': 'no-store',
        },
      });
    return pathname.startsWith(`${basePath}/`)
      ? answers({ request, person, path: pathname.slice(basePath.length + 1), searchParams })
      : refuse(404, 'Not found.');
  };
  return Object.freeze<ApprovalsHandler>({
    async fetch(request) {
      const response = await answer(request).catch((error: unknown) => {
        view.report(error, { source: 'approvals handler' }, 'the approvals handler failed');
        return refuse(503, 'Approvals cannot be read at the moment. Try again.');
      });
      if (policy.allowedOrigins === undefined) return response;
      response.headers.append('Vary', 'Origin');
      const origin = listedOrigin(request, policy);
      if (origin !== undefined)
        for (const [name, value] of Object.entries(corsHeaders(origin, policy, '')))
          if (value !== '') response.headers.set(name, value);
      return response;
    },
  });
}

function policyOf({
  allowedHosts,
  allowedOrigins,
}: Pick<ApprovalsHandlerOptions, 'allowedHosts' | 'allowedOrigins'>): OriginPolicy {
  return {
    allowedHosts: allowedHosts && new Set(allowedHosts.map((host) => host.toLowerCase())),
    allowedOrigins: allowedOrigins && new Set(allowedOrigins.map(readOrigin)),
    unlistedHosts: 'loopback',
    unlistedOrigins: 'own',
    spelling: 'exact',
  };
}

/** The person who asks. Undefined if `authenticate` gives none, or fails. */
async function personOf(
  request: Request,
  authenticate: ApprovalsHandlerOptions['authenticate'],
  view: RegistryView,
): Promise<Answerer | undefined> {
  try {
    const asking = Promise.resolve(authenticate(request));
    const given: unknown = await withDeadline(asking, view.policyTimeoutMs, () => {
      throw new Error(`\`authenticate\` took longer than ${view.policyTimeoutMs} ms.`);
    });
    if (given === undefined) return undefined;
    const person = personIn(given);
    if (person !== undefined) return person;
    // The message leaves the value out, because it may be a credential.
    throw new TypeError(
      `Expected \`authenticate\` to give undefined, a text of 1 to ${longestName} characters, or ` +
        'such a text as `principal` with at most 100 `roles`.',
    );
  } catch (error) {
    const source = 'approvals handler';
    view.report(error, { source }, '`authenticate` of the approvals handler failed');
    return undefined;
  }
}

function readOrigin(origin: string): string {
  const { origin: read } = URL.canParse(origin) ? new URL(origin) : { origin: 'null' };
  if (read === 'null')
    throw wrongOption(where, 'allowedOrigins', 'origins such as `https://app.example.com`', origin);
  return read;
}
