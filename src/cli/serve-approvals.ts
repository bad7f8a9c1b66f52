/** The approvals of `serve --http`: who may answer the kept calls, and where. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { HostToolRegistry } from '../core.ts';
import { createApprovalsHandler } from '../surfaces/approvals/index.ts';
import { toNodeListener } from '../surfaces/mcp/index.ts';
import { headerOf } from '../values/http/direct-body.ts';

/** The path of the page and of its requests. */
export const approvalsPath = '/approvals';

/** Answers requests about approvals, for anyone who has the token. */
export interface ServedApprovals {
  readonly listener: ReturnType<typeof toNodeListener>;
  /** What to put behind `#token=` in the address. */
  readonly token: string;
}

/**
 * @param principal the name of the person who answers. The holder of the token acts for the person
 * who runs the command
 */
export function serveApprovals(
  registry: HostToolRegistry,
  principal: string,
  allowedHosts: readonly string[],
): ServedApprovals {
  const token = randomBytes(32).toString('base64url');
  const expected = digest(token);
  const handler = createApprovalsHandler(registry, {
    basePath: approvalsPath,
    allowedHosts,
    authenticate(request) {
      if (isPage(request)) return principal;
      const given = /^Bearer ([\w-]{1,512})$/.exec(headerOf(request, 'authorization') ?? '')?.[1];
      return timingSafeEqual(digest(given ?? ''), expected) ? principal : undefined;
    },
  });
  return { listener: toNodeListener(handler), token };
}

/**
 * Whether a browser asks for the page itself. It cannot send the token with that request, since the
 * token is in the fragment. The page holds no approvals; it asks for them with the token.
 */
function isPage({ method, url }: Request): boolean {
  const { pathname } = new URL(url);
  return method === 'GET' && (pathname === approvalsPath || pathname === `${approvalsPath}/`);
}

/** Digests have the same length, so comparing them takes the same time for every token. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
