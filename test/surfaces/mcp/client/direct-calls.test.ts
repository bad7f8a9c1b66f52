/** Calls beside the SDK's client: what answers them, and what is left to the client. */
import { describe, expect, test, vi } from 'vitest';
import { createDirectCalls } from '../../../../src/surfaces/mcp/client/direct-calls.ts';

interface Sent {
  readonly id?: number;
  readonly method: string;
  readonly params: { readonly [name: string]: unknown; readonly _meta?: object };
}

function world() {
  const sent: Sent[] = [];
  const calls = createDirectCalls(async (message) => void sent.push(message as never));
  const progress: unknown[] = [];
  const stop = new AbortController();
  const call = (params: object = { name: 'act' }) => {
    const answer = calls.call(params as never, {
      signal: stop.signal,
      onprogress: (one) => progress.push(one),
    });
    // Some tests never await it.
    answer.catch(() => {});
    return answer;
  };
  const take = (message: object): boolean =>
    calls.take(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  return { calls, call, take, sent, progress, stop, id: () => sent[0]?.id as number };
}

const result = { content: [] };

describe('a call', () => {
  test('is sent with its own number as id and progress token, with other metadata', () => {
    const { call, sent } = world();
    void call({ name: 'act', arguments: { a: 1 }, _meta: { traceparent: 't' } });
    void call();
    expect(sent).toEqual([
      {
        jsonrpc: '2.0',
        id: 1_000_000_000,
        method: 'tools/call',
        params: {
          name: 'act',
          arguments: { a: 1 },
          _meta: { traceparent: 't', progressToken: 1_000_000_000 },
        },
      },
      expect.objectContaining({ id: 1_000_000_001 }),
    ]);
  });

  test.each<[string, (id: number) => unknown]>([
    ['its id', (id) => id],
    ['its id as text', (id) => String(id)],
  ])('is answered by %s', async (_, idOf) => {
    const { call, take, id } = world();
    const answer = call();
    expect(take({ id: idOf(id()), result })).toBe(true);
    expect(await answer).toEqual(result);
    // The second answer is the client's, which ignores it.
    expect(take({ id: idOf(id()), result })).toBe(false);
  });

  test('rejects with the code and the data of an error', async () => {
    const { call, take, id } = world();
    const answer = call();
    expect(take({ id: id(), error: { code: -32_602, message: 'No.', data: 1 } })).toBe(true);
    await expect(answer).rejects.toMatchObject({ code: -32_602, message: 'No.', data: 1 });
  });

  test('hears its progress, in order and only its own', () => {
    const { call, take, id, progress } = world();
    void call();
    const tell = (params: object) => take({ method: 'notifications/progress', params });
    expect(tell({ progressToken: id(), progress: 1, total: 2, message: 'half' })).toBe(true);
    expect(tell({ progressToken: id(), progress: 2 })).toBe(true);
    expect(tell({ progressToken: 7, progress: 2 })).toBe(false);
    expect(progress).toEqual([{ progress: 1, total: 2, message: 'half' }, { progress: 2 }]);
  });

  test('a cancellation is sent to the server, and a late answer is ignored', async () => {
    const { call, take, id, sent, stop } = world();
    const answer = call();
    stop.abort('enough');
    await expect(answer).rejects.toThrow('cancelled');
    expect(sent[1]).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: id(), reason: 'enough' },
    });
    expect(take({ id: id(), result })).toBe(false);
    await expect(call()).rejects.toThrow('cancelled');
    expect(sent).toHaveLength(2);
  });

  test('fails when the connection ends, and so does one after it', async () => {
    const { calls, call } = world();
    const answer = call();
    calls.end();
    await expect(answer).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' });
    await expect(call()).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' });
  });

  test('fails when it cannot be sent', async () => {
    const send = vi.fn(() => Promise.reject(new Error('gone')));
    const { signal } = new AbortController();
    const answer = createDirectCalls(send).call({}, { signal, onprogress: () => {} });
    await expect(answer).rejects.toThrow('gone');
  });

  test('leaves no listener at its signal', async () => {
    const { call, take, id, stop } = world();
    const removed = vi.spyOn(stop.signal, 'removeEventListener');
    const answer = call();
    take({ id: id(), result });
    await answer;
    expect(removed).toHaveBeenCalledTimes(1);
  });
});

test.each<[string, (id: number) => unknown]>([
  ['nonsense', () => 'nonsense'],
  ['a list', (id) => [{ jsonrpc: '2.0', id, result }]],
  ['another version', (id) => ({ jsonrpc: '1.0', id, result })],
  ['a request of the server', (id) => ({ jsonrpc: '2.0', id, method: 'ping' })],
  ['an answer to the client', () => ({ jsonrpc: '2.0', id: 3, result })],
  ['a list as id', (id) => ({ jsonrpc: '2.0', id: [id], result })],
  ['a result that is no object', (id) => ({ jsonrpc: '2.0', id, result: 5 })],
  ['a result and an error', (id) => ({ jsonrpc: '2.0', id, result, error: {} })],
  ['an error without a code', (id) => ({ jsonrpc: '2.0', id, error: { message: 'x' } })],
  ['neither', (id) => ({ jsonrpc: '2.0', id })],
])('%s is left to the client, and the call goes on', async (_, message) => {
  const { calls, call, take, id } = world();
  const answer = call();
  expect(calls.take(`${JSON.stringify(message(id()))}\n`)).toBe(false);
  take({ id: id(), result });
  expect(await answer).toEqual(result);
});

test('while no call waits, no line is read', () => {
  const parse = vi.spyOn(JSON, 'parse');
  const { take } = world();
  expect(take({ id: 1_000_000_000, result })).toBe(false);
  expect(parse).not.toHaveBeenCalled();
  parse.mockRestore();
});
