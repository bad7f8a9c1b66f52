/** Waiting for a request that another node, or another asker, began. */
import type { ToolResult } from '../../index.ts';
import type { Hub } from '../hub.ts';
import { relayError, sessionNotFound } from '../relay-error.ts';
import type { RequestDocuments } from './request-documents.ts';

/** What the waiting needs. */
export interface Joining {
  readonly hub: Hub;
  readonly documents: RequestDocuments;
  /** Milliseconds between two looks where nothing wakes. */
  readonly leaseMs: number;
}

/**
 * Its result, once it is written. @throws RelayError 404 where the session is gone, or the result
 * was large and is kept no more
 */
export async function joinRequest(
  { hub, documents, leaseMs }: Joining,
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
          'This request is done; its result was large, and is kept no more.',
        );
      await wakes;
      clearTimeout(timer);
    }
  } finally {
    clearTimeout(timer);
    stop();
  }
}
