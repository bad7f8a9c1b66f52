/** The status of a request whose approval was not answered, while other nodes change the request. */
import { expect, test } from 'vitest';
import type { RequestParts } from '../../../../src/surfaces/relay/calls/request-parts.ts';
import { statusOf } from '../../../../src/surfaces/relay/calls/request-status.ts';
import type { RequestDocument } from '../../../../src/surfaces/relay/ports/documents.ts';

/** A node whose request waits in vain for an approval, and whose first writes are too late. */
function nodeWith(lateWrites: number) {
  const document = {
    tool: 'act',
    status: 'queued',
    createdAt: 0,
    waitsUntil: 1_000,
    result: { success: false, error: { code: 'approval_pending' } },
  } as unknown as RequestDocument;
  const seen = { writes: 0 };
  const parts = {
    settings: {
      now: () => 2_000,
      store: {
        apply: async () => ({
          results: [[{ value: JSON.stringify(document), version: 1 }, undefined]],
        }),
      },
    },
    documents: {
      finish: async () => (seen.writes++ < lateWrites ? false : { callEnded: true }),
    },
    calls: { ending: () => undefined },
  } as unknown as RequestParts;
  return { parts, seen };
}

test('it is found although the request has changed nineteen times in the meantime', async () => {
  const { parts, seen } = nodeWith(19);
  expect(await statusOf(parts, 'CODE', 'r')).toMatchObject({
    status: 'done',
    result: { error: { code: 'approval_timeout' } },
  });
  expect(seen.writes).toBe(20);
});

test('it is 503 busy if the request keeps changing', async () => {
  const { parts, seen } = nodeWith(100);
  await expect(statusOf(parts, 'CODE', 'r')).rejects.toMatchObject({ status: 503, error: 'busy' });
  expect(seen.writes).toBe(20);
});
