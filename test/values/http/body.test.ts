import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { bodyTimeoutMs, readBodyText } from '../../../src/values/http/body.ts';
import { markDirect } from '../../../src/values/http/direct-body.ts';
import { bytesOf } from './node-kit.ts';

afterEach(() => {
  vi.useRealTimers();
});

function requestOf(
  body: ConstructorParameters<typeof Response>[0],
  headers: Readonly<Record<string, string>> = {},
): Request {
  return new Request('http://localhost/', {
    method: 'POST',
    headers,
    body,
    duplex: 'half',
  } as RequestInit);
}

/** A stream of these chunks that records whether its rest was cancelled. */
function streamOf(chunks: Iterable<Uint8Array>): {
  readonly stream: ReadableStream<Uint8Array>;
  readonly cancelled: () => boolean;
} {
  const left = chunks[Symbol.iterator]();
  let isCancelled = false;
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const { done, value } = left.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      cancel() {
        isCancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { stream, cancelled: () => isCancelled };
}

function* endless(): Generator<Uint8Array> {
  for (;;) yield new Uint8Array(1_000);
}

describe('the text of a body', () => {
  test('is empty for a request without one', async () => {
    expect(await readBodyText(new Request('http://localhost/'), 0)).toEqual({ text: '' });
    expect(await readBodyText(requestOf(''), 0)).toEqual({ text: '' });
  });

  test('may have as many bytes as the limit, and not one more', async () => {
    expect(await readBodyText(requestOf('four'), 4)).toEqual({ text: 'four' });
    expect(await readBodyText(requestOf('fives'), 4)).toEqual({ fault: 'too_large' });
  });

  test('is measured in bytes, not in characters', async () => {
    expect(await readBodyText(requestOf('éé'), 4)).toEqual({ text: 'éé' });
    expect(await readBodyText(requestOf('ééé'), 4)).toEqual({ fault: 'too_large' });
  });

  test('is the same however its bytes are cut into chunks', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'grapheme' }),
        fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1 }),
        async (text, sizes) => {
          const bytes = bytesOf(text);
          const chunks: Uint8Array[] = [];
          for (let at = 0, turn = 0; at < bytes.length; turn++) {
            const size = sizes[turn % sizes.length] as number;
            chunks.push(bytes.subarray(at, at + size));
            at += size;
          }
          const { stream } = streamOf(chunks);
          expect(await readBodyText(requestOf(stream), bytes.length)).toEqual({
            text: bytes.toString(),
          });
        },
      ),
    );
  });

  test('has no byte order mark', async () => {
    expect(await readBodyText(requestOf(bytesOf('\ufeff{}')), 10)).toEqual({ text: '{}' });
  });
});

describe('a body that is too large', () => {
  test('is refused by its declared length, and nothing of it is read', async () => {
    let pulled = 0;
    const { stream, cancelled } = streamOf(
      (function* () {
        pulled += 1;
        yield bytesOf('x');
      })(),
    );
    const request = requestOf(stream, { 'content-length': '11' });
    expect(await readBodyText(request, 10)).toEqual({ fault: 'too_large' });
    expect(pulled).toBe(0);
    expect(cancelled()).toBe(true);
  });

  test.each(['1', '0', '-1', 'abc', '', '1e1', '0x5', ' 5 '])(
    'is refused as it comes, whatever length it declares: %j',
    async (length) => {
      const { stream, cancelled } = streamOf(endless());
      const request = requestOf(stream, { 'content-length': length });
      expect(await readBodyText(request, 10)).toEqual({ fault: 'too_large' });
      expect(cancelled()).toBe(true);
    },
  );

  test('without end is cancelled at the limit', async () => {
    let pulled = 0;
    const { stream, cancelled } = streamOf(
      (function* () {
        for (const chunk of endless()) {
          pulled += 1;
          yield chunk;
        }
      })(),
    );
    expect(await readBodyText(requestOf(stream), 10_000)).toEqual({ fault: 'too_large' });
    expect(pulled).toBe(11);
    expect(cancelled()).toBe(true);
  });

  test('whose cancellation fails is still refused', async () => {
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(bytesOf('too long')),
      cancel: () => Promise.reject(new Error('no')),
    });
    expect(await readBodyText(requestOf(stream), 3)).toEqual({ fault: 'too_large' });
    const declared = new ReadableStream<Uint8Array>({
      cancel: () => Promise.reject(new Error('no')),
    });
    expect(await readBodyText(requestOf(declared, { 'content-length': '9' }), 3)).toEqual({
      fault: 'too_large',
    });
  });
});

describe('a body that is late', () => {
  test(`is given up after ${bodyTimeoutMs} ms, and cancelled`, async () => {
    vi.useFakeTimers();
    const cancel = vi.fn();
    const reading = readBodyText(requestOf(new ReadableStream<Uint8Array>({ cancel })), 10);
    await vi.advanceTimersByTimeAsync(bodyTimeoutMs - 1);
    expect(cancel).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(await reading).toEqual({ fault: 'too_late' });
    expect(cancel).toHaveBeenCalledOnce();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('is not given more time by sending a byte now and then', async () => {
    vi.useFakeTimers();
    const stream = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          await new Promise((resolve) => setTimeout(resolve, bodyTimeoutMs / 3));
          controller.enqueue(bytesOf('x'));
        },
      },
      { highWaterMark: 0 },
    );
    const reading = readBodyText(requestOf(stream), 1_000);
    await vi.advanceTimersByTimeAsync(bodyTimeoutMs * 2);
    expect(await reading).toEqual({ fault: 'too_late' });
    vi.clearAllTimers();
  });

  test('leaves no timer behind if it comes in time', async () => {
    vi.useFakeTimers();
    expect(await readBodyText(requestOf('{}'), 10)).toEqual({ text: '{}' });
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a body that cannot be read', () => {
  test.each([
    ['a byte that UTF-8 never has', [0xff]],
    ['a continuation byte alone', [0x80]],
    ['an overlong slash', [0xc0, 0xaf]],
    ['half a character at its end', [0x7b, 0xe2, 0x82]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
  ])('is not UTF-8: %s', async (_what, bytes) => {
    expect(await readBodyText(requestOf(Uint8Array.from(bytes)), 10)).toEqual({
      fault: 'unreadable',
    });
  });

  test('was cut off', async () => {
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => controller.error(new Error('socket hang up')),
    });
    expect(await readBodyText(requestOf(stream), 10)).toEqual({ fault: 'unreadable' });
  });
});

describe('a body that the server reads directly', () => {
  const directly = (read: (maxBytes: number) => Promise<Uint8Array | undefined>): Request => {
    const request = requestOf(null);
    markDirect(request, read);
    return request;
  };

  test('is read with the same limit', async () => {
    const read = vi.fn(async () => bytesOf('{}'));
    expect(await readBodyText(directly(read), 10)).toEqual({ text: '{}' });
    expect(read.mock.calls).toEqual([[10]]);
  });

  test.each<[string, () => Promise<Uint8Array | undefined>, string]>([
    ['too large', async () => undefined, 'too_large'],
    ['cut off', () => Promise.reject(new Error('gone')), 'unreadable'],
    ['not UTF-8', async () => Uint8Array.from([0xff]), 'unreadable'],
  ])('can be %s', async (_what, read, fault) => {
    expect(await readBodyText(directly(read), 10)).toEqual({ fault });
  });
});
