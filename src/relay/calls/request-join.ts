/** Waits for the result of a request that runs elsewhere. */
import type { ToolResult } from '../../index.ts';
import { relayError, sessionNotFound } from '../relay-error.ts';
import type { RequestParts } from './request-parts.ts';

/**
 * Waits until the result is stored. Reads the document when the hub wakes it, and once per lease.
 * @throws RelayError 404 when the session is gone, or when the result was large and is no longer
 * kept
 */
export async function joinRequest(
  { hub, documents, settings: { leaseMs } }: Pick<RequestParts, 'hub' | 'documents' | 'settings'>,
  code: string,
  id: string,
): Promise<ToolResult> {
  let woken = (): void => {};
  const stop = await hub.watch(code, (wake) => {
    if (wake === undefined || wake === 'closed' || wake === `request:${id}`) woken();
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    for (;;) {
      const wakes = new Promise<void>((resolve) => {
        woken = resolve;
        timer = setTimeout(resolve, leaseMs);
      });
      const found = await documents.find(code, id);
      if (found === undefined) throw sessionNotFound();
      if (found.document.result !== undefined) return found.document.result;
      if (found.document.status === 'done')
        throw relayError(
          404,
          'request_not_found',
          'This request is done. Its result was large and is no longer kept.',
        );
      await wakes;
      clearTimeout(timer);
    }
  } finally {
    clearTimeout(timer);
    stop();
  }
}
