import { describe, expect, test, vi } from 'vitest';
import { pipe, whenGone } from '../../../src/values/http/node-response.ts';
import { bytesOf, FakeOutgoing } from './node-kit.ts';

/** A body that the test fills. */
function openBody(): {
  readonly body: ReadableStream<Uint8Array>;
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
  readonly cancel: ReturnType<typeof vi.fn>;
} {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const cancel = vi.fn();
  const body = new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given;
      },
      cancel,
    },
    { highWaterMark: 0 },
  );
  return { body, controller: controller as ReadableStreamDefaultController<Uint8Array>, cancel };
}

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
};
const listenersOf = (outgoing: FakeOutgoing): number =>
  outgoing.listenerCount('close') + outgoing.listenerCount('drain');

describe('a client that goes away', () => {
  test('before its answer was sent aborts the signal', () => {
    const outgoing = new FakeOutgoing();
    const { signal } = whenGone(outgoing);
    expect(signal.aborted).toBe(false);
    outgoing.destroy();
    expect(signal.aborted).toBe(true);
    expect(listenersOf(outgoing)).toBe(0);
  });

  test('before anything listens aborts the signal at once', () => {
    const outgoing = new FakeOutgoing();
    outgoing.destroy();
    expect(whenGone(outgoing).signal.aborted).toBe(true);
  });

  test('after its answer was sent aborts nothing', () => {
    const outgoing = new FakeOutgoing();
    const { signal } = whenGone(outgoing);
    outgoing.end();
    expect(signal.aborted).toBe(false);
    expect(listenersOf(outgoing)).toBe(0);
  });
});

describe('a body', () => {
  test('is written chunk by chunk, then the answer is ended', async () => {
    const outgoing = new FakeOutgoing();
    await pipe(new Response('hello').body as ReadableStream<Uint8Array>, outgoing);
    expect([outgoing.written.join(''), outgoing.ended]).toEqual(['hello', true]);
    expect(listenersOf(outgoing)).toBe(0);
  });

  test('is not read while the connection has no room', async () => {
    const outgoing = new FakeOutgoing();
    const { body, controller } = openBody();
    const backlog = { waits: vi.fn(), flows: vi.fn() };
    const piping = pipe(body, outgoing, backlog);
    outgoing.hasRoom = false;
    controller.enqueue(bytesOf('one'));
    await turns();
    controller.enqueue(bytesOf('two'));
    await turns();
    expect(outgoing.written).toEqual(['one']);
    expect([backlog.waits.mock.calls.length, backlog.flows.mock.calls.length]).toEqual([1, 0]);
    outgoing.hasRoom = true;
    outgoing.emit('drain');
    controller.close();
    await piping;
    expect([outgoing.written, outgoing.ended]).toEqual([['one', 'two'], true]);
    expect([backlog.waits.mock.calls.length, backlog.flows.mock.calls.length]).toEqual([1, 1]);
  });

  test('is cancelled when the client goes away, and the answer is not ended', async () => {
    const outgoing = new FakeOutgoing();
    const { body, controller, cancel } = openBody();
    const piping = pipe(body, outgoing);
    controller.enqueue(bytesOf('one'));
    await turns();
    outgoing.destroy();
    await piping;
    expect(cancel).toHaveBeenCalledOnce();
    expect([outgoing.written, outgoing.ended]).toEqual([['one'], false]);
    expect(listenersOf(outgoing)).toBe(0);
  });

  test('is cancelled when the client goes away while it reads nothing', async () => {
    const outgoing = new FakeOutgoing();
    outgoing.hasRoom = false;
    const { body, controller, cancel } = openBody();
    const backlog = { waits: vi.fn(), flows: vi.fn() };
    const piping = pipe(body, outgoing, backlog);
    controller.enqueue(bytesOf('one'));
    await turns();
    outgoing.destroy();
    await piping;
    expect(cancel).toHaveBeenCalledOnce();
    expect(backlog.flows).toHaveBeenCalledOnce();
  });

  test('whose cancellation fails is dropped without an unhandled rejection', async () => {
    const outgoing = new FakeOutgoing();
    const body = new ReadableStream<Uint8Array>({
      cancel: () => Promise.reject(new Error('cannot cancel')),
    });
    const piping = pipe(body, outgoing);
    outgoing.destroy();
    await piping;
    expect(outgoing.ended).toBe(false);
  });

  test('that fails rejects without ending the answer, which must not look complete', async () => {
    const outgoing = new FakeOutgoing();
    const { body, controller } = openBody();
    const piping = pipe(body, outgoing);
    controller.enqueue(bytesOf('half'));
    await turns();
    controller.error(new Error('source failed'));
    await expect(piping).rejects.toThrow('source failed');
    expect([outgoing.written, outgoing.ended]).toEqual([['half'], false]);
    expect(listenersOf(outgoing)).toBe(0);
  });

  test('that fails while the client reads nothing rejects at once', async () => {
    const outgoing = new FakeOutgoing();
    outgoing.hasRoom = false;
    const { body, controller } = openBody();
    const piping = pipe(body, outgoing);
    controller.enqueue(bytesOf('half'));
    await turns();
    controller.error(new Error('source failed'));
    await expect(piping).rejects.toThrow('source failed');
  });

  test('for a connection that is already closed is not written', async () => {
    const outgoing = new FakeOutgoing();
    outgoing.destroyed = true;
    await pipe(new Response('hello').body as ReadableStream<Uint8Array>, outgoing);
    expect([outgoing.written, outgoing.ended]).toEqual([[], false]);
  });
});
