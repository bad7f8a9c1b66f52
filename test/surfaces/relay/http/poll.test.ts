import { describe, expect, test, vi } from 'vitest';
import { pollResponse } from '../../../../src/surfaces/relay/http/stream-responses.ts';
import { relayError } from '../../../../src/surfaces/relay/relay-error.ts';
import { application, fakeStreams } from '../events/stream-kit.ts';

describe('a poll', () => {
  test('answers with the available events, and with their ids if they have one', async () => {
    const poll = vi.fn(async () => [
      { id: 3, event: 'tool-request', data: { requestId: 'r' } },
      { event: 'goodbye', data: {} },
    ]);
    const { signal } = new AbortController();
    const response = await pollResponse({ ...fakeStreams(), poll }, application, 1_000, signal);
    expect([
      response.status,
      response.headers.get('content-type'),
      response.headers.get('cache-control'),
    ]).toEqual([200, 'application/json', 'no-store']);
    expect(await response.json()).toEqual({
      events: [
        { id: 3, event: 'tool-request', data: { requestId: 'r' } },
        { event: 'goodbye', data: {} },
      ],
    });
    expect(poll).toHaveBeenCalledWith(application, 1_000, signal);
  });

  test('without an event is answered with an empty list', async () => {
    expect(
      await (
        await pollResponse(fakeStreams(), application, 0, new AbortController().signal)
      ).json(),
    ).toEqual({ events: [] });
  });

  test('fails if its stream fails', async () => {
    const poll = () =>
      Promise.reject(relayError(503, 'store_unavailable', 'The relay cannot reach its store.'));
    await expect(
      pollResponse({ ...fakeStreams(), poll }, application, 0, new AbortController().signal),
    ).rejects.toMatchObject({ status: 503 });
  });
});
