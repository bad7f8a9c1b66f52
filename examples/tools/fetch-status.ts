import { z } from 'zod';
import { defineTool, fail, ok } from '../../src/index.ts';
import { fetchText, resolveTarget } from './http/fetch-text.ts';

/**
 * Asks a status page over HTTP: only from origins that the profile names, and never where a
 * redirect points.
 */
export const fetchStatusTool = defineTool({
  name: 'fetch_status',
  description:
    'Fetches a status page by its path or URL from an allowed server and gives the HTTP ' +
    'status and the text.',
  parameters: z.strictObject({
    target: z
      .string()
      .min(1)
      .max(2_000)
      .describe('A path such as /status, or a URL on an allowed server'),
  }),
  annotations: { readOnly: true, idempotent: true, openWorld: true },
  timeoutMs: 10_000,
  policy: {
    knobs: z.strictObject({
      /**
       * Such as `https://status.example.com`; a path belongs to the first. An empty list denies
       * every call.
       */
      allowedOrigins: z
        .array(z.url({ protocol: /^https?$/ }).transform((url) => new URL(url).origin))
        .default([]),
      /** Most bytes of a body that are read. */
      maxBytes: z.int().min(1).default(64_000),
    }),
    check({ input, knobs, allow, deny }) {
      const url = resolveTarget(input.target, knobs.allowedOrigins);
      return url === undefined
        ? deny(
            'origin_not_allowed',
            `only pages of: ${knobs.allowedOrigins.join(', ') || 'no server'}`,
          )
        : allow();
    },
  },
  async handler({ target }, { knobs, signal }) {
    const url = resolveTarget(target, knobs.allowedOrigins);
    if (url === undefined)
      return fail({ message: 'the address is not allowed', reason: 'origin_not_allowed' });
    const page = await fetchText(url, { signal, maxBytes: knobs.maxBytes });
    if (page === undefined)
      return fail({
        message: `${url.origin} does not answer`,
        reason: 'unreachable',
        retryable: true,
      });
    if (page.redirected)
      return fail({
        message: `${url.pathname} answers with a redirect, which is not followed`,
        reason: 'redirect_refused',
      });
    return ok({ status: page.status, text: page.text }, { cut: page.cut });
  },
});
