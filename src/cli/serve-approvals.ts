/** The approvals of `serve --http`: who may answer the kept calls, and where. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { headerOf } from '../http/direct-body.ts';
import type { HostToolRegistry } from '../index.ts';
import { createApprovalsHandler } from '../surfaces/approvals/index.ts';
import { toNodeListener } from '../surfaces/mcp/index.ts';

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
      const given = /^Bearer ([\w-]{1,512})$/.exec(headerOf(request, 'authorization') ?? '')?.[1];
      return timingSafeEqual(digest(given ?? ''), expected) ? principal : undefined;
    },
  });
  return { listener: toNodeListener(handler), token };
}

/** Digests have the same length, so comparing them takes the same time for every token. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
