/** What a sandbox sends is read within bounds, whatever it is. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { frameOf, frameReader } from '../../../src/executors/sandbox/frames.ts';
import { maxMessage } from '../../../src/executors/sandbox/messages.ts';
import { readMessage } from '../../../src/executors/sandbox/read-message.ts';

describe('frames', () => {
  test('texts come out as they went in, however bytes are cut and memory is used again', () => {
    const memory = Buffer.alloc(9);
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme' })),
        fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
        (texts, cuts) => {
          const bytes = Buffer.concat(texts.map(frameOf));
          const read: string[] = [];
          const take = frameReader(1_000, (text) => read.push(text));
          for (let at = 0; at < bytes.length; ) {
            const length = bytes.copy(memory, 0, at, at + (cuts.next().value as number));
            expect(take(memory.subarray(0, length))).toBe(true);
            memory.fill(0xff);
            at += length;
          }
          expect(read).toEqual(texts);
        },
      ),
    );
  });

  test('a header that announces too much is refused before anything follows', () => {
    const take = frameReader(10, () => expect.unreachable());
    expect(take(Buffer.from([0, 0]))).toBe(true);
    expect(take(Buffer.from([0, 11]))).toBe(false);
    expect(frameReader(10, () => expect.unreachable())(Buffer.from('ffffffff', 'hex'))).toBe(false);
  });
});

describe('messages', () => {
  const faultOf = (value: unknown): string | undefined => {
    const read = readMessage(typeof value === 'string' ? value : JSON.stringify(value));
    return read.ok ? undefined : read.fault;
  };

  test.each([
    { t: 'up' },
    { t: 'ready' },
    { t: 'pong' },
    { t: 'unfit', why: 'export', message: 'it is nothing' },
    { t: 'progress', id: 1, done: null },
    { t: 'progress', id: 1, done: 1, total: 2, message: 'one' },
    { t: 'emit', id: 1, name: 'found', data: { any: ['thing'] } },
    { t: 'emit', id: 1, name: 'log', log: true, lost: 'too_large' },
    { t: 'ask', id: 1, ask: 1, kind: 'tool', name: 'child', input: null, options: {} },
    { t: 'unask', id: 1, ask: 1 },
    { t: 'returned', id: 1, kind: 'ok', value: 1, metadata: {}, content: true },
    { t: 'unreturnable', id: 1, reason: 'not_json', path: '/a', message: 'a bigint is not JSON' },
    { t: 'threw', id: 1, error: { name: 'Error', message: 'No.', stack: 'Error: No.' } },
    { t: 'crashed', rejection: true, error: { name: 'Error', message: '' } },
  ])('%j is one', (message) => {
    expect(readMessage(JSON.stringify(message))).toEqual({ ok: true, message });
  });

  test.each([
    ['', 'a message that is not JSON'],
    ['[]', 'a message that is not an object'],
    ['null', 'a message that is not an object'],
    [{}, 'a message of an unknown kind'],
    [{ t: 'constructor' }, 'a message of an unknown kind'],
    [{ t: 'run', id: 1 }, 'a message of an unknown kind'],
    [{ t: 'ready', more: 1 }, 'a `ready` message with an unknown member'],
    ['{"t":"ready","__proto__":1}', 'a `ready` message with an unknown member'],
    [{ t: 'unask', id: -1, ask: 1 }, 'a `unask` message with a wrong `id`'],
    [{ t: 'unask', id: 1.5, ask: 1 }, 'a `unask` message with a wrong `id`'],
    [{ t: 'returned', id: 1, kind: 'value' }, 'a `returned` message with a wrong `value`'],
    [{ t: 'returned', id: 1, kind: 'x', value: 1 }, 'a `returned` message with a wrong `kind`'],
    [{ t: 'threw', id: 1, error: { name: 'E' } }, 'a `threw` message with a wrong `error`'],
    [
      { t: 'threw', id: 1, error: { name: 'E', message: 'x'.repeat(9_000) } },
      'a `threw` message with a wrong `error`',
    ],
    ['x'.repeat(maxMessage + 1), `a message of more than ${maxMessage} characters`],
    [`{"t":${'['.repeat(600)}`, 'a message with too many levels'],
    [`{"t":[${'0,'.repeat(160_000)}`, 'a message with too many values'],
  ])('%.40j is none', (value, fault) => {
    expect(faultOf(value)).toBe(fault);
  });

  test('no text makes it throw', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(typeof readMessage(text).ok).toBe('boolean');
      }),
    );
  });

  test('a member that is only inherited does not count', () => {
    const prototype = Object.prototype as { t?: string };
    prototype.t = 'ready';
    try {
      expect(faultOf('{}')).toBe('a message of an unknown kind');
    } finally {
      delete prototype.t;
    }
  });
});
