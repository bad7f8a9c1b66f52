import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSseParser, type SseEvent } from '../../../src/surfaces/relay-client/sse-parser.ts';

function parse(
  bytes: Uint8Array,
  cuts: readonly number[] = [],
  maxChars?: number,
): { events: SseEvent[]; retries: number[] } {
  const events: SseEvent[] = [];
  const retries: number[] = [];
  const parser = createSseParser(
    { event: (event) => events.push(event), retry: (ms) => retries.push(ms) },
    maxChars,
  );
  const places = [
    ...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length]),
  ].sort((a, b) => a - b);
  for (const [index, from] of places.entries())
    parser.push(bytes.slice(from, places[index + 1] ?? from));
  return { events, retries };
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const event = (data: string, name = 'message', id?: string): SseEvent => ({
  id,
  event: name,
  data,
});

describe('a stream of server-sent events', () => {
  test.each<[string, string, SseEvent[]]>([
    ['an event', 'event: a\nid: 7\ndata: x\n\n', [event('x', 'a', '7')]],
    ['one without a name', 'data: x\n\n', [event('x')]],
    ['several lines of data', 'data: a\ndata:\ndata: b\n\n', [event('a\n\nb')]],
    ['no space, or one more, after the colon', 'data:a\ndata:  b\n\n', [event('a\n b')]],
    ['a field without a colon', 'data\n\n', [event('')]],
    ['comments', ': hello\n:\ndata: x\n: there\n\n', [event('x')]],
    [
      'carriage returns',
      'data: a\r\rdata: b\r\n\r\ndata: c\n\r',
      [event('a'), event('b'), event('c')],
    ],
    ['a byte order mark', '\uFEFFdata: x\n\n', [event('x')]],
    ['an event without data', 'event: a\nid: 1\n\ndata: x\n\n', [event('x')]],
    ['an id with a null character', 'id: a\0b\ndata: x\n\n', [event('x')]],
    ['unknown fields', 'dat: x\nfoo\n data: y\ndata: z\n\n', [event('z')]],
    ['an event that does not end', 'data: x\n', []],
    ['names of other languages', 'data: süß 🎈\n\n', [event('süß 🎈')]],
  ])('reads %s', (_, text, events) => {
    expect(parse(bytesOf(text)).events).toEqual(events);
  });

  test('says how long to wait, in digits only', () => {
    expect(parse(bytesOf('retry: 1500\nretry: 1.5\nretry: -1\nretry:\n\n')).retries).toEqual([
      1500,
    ]);
  });

  test('gives the same events however its bytes are cut', () => {
    const piece = fc.constantFrom(
      'data',
      'event',
      'id',
      'retry',
      ':',
      ' ',
      '\n',
      '\r',
      '\r\n',
      '\n\n',
      'x',
      'é',
      '🎈',
      '\uFEFF',
      '12',
      '\0',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), fc.array(fc.nat(200)), (pieces, cuts) => {
        const bytes = bytesOf(pieces.join(''));
        expect(parse(bytes, cuts)).toEqual(parse(bytes));
      }),
    );
  });

  test('cut into single bytes, is the stream it was', () => {
    const bytes = bytesOf(
      '\uFEFFevent: a\r\nid: 1\r\ndata: süß\r\ndata: 🎈\r\n\r\n: c\r\rdata: b\n\n',
    );
    expect(parse(bytes, [...bytes.keys()]).events).toEqual([
      event('süß\n🎈', 'a', '1'),
      event('b'),
    ]);
  });

  test('brings back what was written', () => {
    const text = fc.string({ unit: 'binary' }).filter((value) => !/[\r\n\0\uFEFF]/.test(value));
    const written = fc.record({
      id: text,
      event: text.filter((name) => name !== ''),
      data: fc.array(text, { minLength: 1 }).map((lines) => lines.join('\n')),
    });
    fc.assert(
      fc.property(fc.array(written), (events) => {
        const lines = events.map(
          ({ id, event: name, data }) =>
            `id: ${id}\nevent: ${name}\n${data
              .split('\n')
              .map((line) => `data: ${line}`)
              .join('\n')}\n\n`,
        );
        expect(parse(bytesOf(lines.join(''))).events).toEqual(events);
      }),
    );
  });

  test.each([
    ['a line without an end', `data: ${'x'.repeat(200)}`],
    ['data without an end', 'data: xxxxxxxx\n'.repeat(20)],
    ['a comment without an end', `:${'x'.repeat(200)}`],
  ])('is given up at %s', (_, text) => {
    expect(() => parse(bytesOf(text), [10, 50], 100)).toThrow(/100 characters/);
  });

  test('may continue forever as long as its events are small', () => {
    expect(parse(bytesOf('data: xxxxxxxx\n\n'.repeat(100)), [], 20).events).toHaveLength(100);
  });
});
