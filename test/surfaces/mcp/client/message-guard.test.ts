/** What a message may hold is counted as it arrives, however it is cut and wrapped. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { boundedFetch } from '../../../../src/surfaces/mcp/client/fetch.ts';
import {
  createMessageGuard,
  type MessageEnd,
} from '../../../../src/surfaces/mcp/client/message-guard.ts';

const bounds = { maxDepth: 5, maxValues: 100 };
const ones = (count: number): string => `[${Array(count).fill('1').join(',')}]`;
const few = ones(20);
const many = ones(100);

/** Which bound the chunks are over; undefined where they are within all. */
function verdict(
  end: MessageEnd,
  chunks: readonly (string | Uint8Array)[],
  maxBytes = 10_000,
): string | undefined {
  const guard = createMessageGuard(end, maxBytes, () => bounds);
  try {
    for (const chunk of chunks) guard.take(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
    guard.end();
  } catch (error) {
    return /deeper|values|bytes/.exec((error as Error).message)?.[0];
  }
  return undefined;
}

describe('a message', () => {
  test.each<[string, MessageEnd, readonly string[], string | undefined]>([
    ['a body within the bounds', 'body', [few], undefined],
    ['a body of too many values', 'body', [many], 'values'],
    ['a body that is too deep', 'body', ['[[[[[[1]]]]]]'], 'deeper'],
    ['a body over many lines is one message', 'body', Array(10).fill(`${few}\n\n`), 'values'],
    ['commas within a text are no values', 'body', [`["${','.repeat(500)}"]`], undefined],
    [
      'events are messages, each by itself',
      'emptyLine',
      Array(50).fill(`data: ${few}\n\n`),
      undefined,
    ],
    ['an event of too many values', 'emptyLine', [`data: ${many}\n`], 'values'],
    ['lines of data are one event', 'emptyLine', Array(10).fill(`data: ${few},\n`), 'values'],
    [
      'lines that end with carriage returns alone are one event',
      'emptyLine',
      Array(10).fill(`data: ${few}\r\r`),
      'values',
    ],
    [
      'an open quote in another field hides nothing',
      'emptyLine',
      [`id: "\ndata: ${many}\n\n`],
      'values',
    ],
    ['a byte order mark hides nothing', 'emptyLine', [`\ufeff\ufeffdata: ${many}\n\n`], 'values'],
  ])('%s', (_, end, chunks, expected) => {
    expect(verdict(end, chunks)).toBe(expected);
  });

  test('a key on another line than its colon is counted as a key', () => {
    const members = (separator: string): string =>
      `{${Array.from({ length: 30 }, (_, index) => `"k${index}"${separator}:0`).join(',')}}`;
    for (const separator of ['', '\n', '\r\n'])
      expect(verdict('body', [members(separator)])).toBe('values');
  });

  test('is judged alike wherever it is cut, and in whatever bytes its texts are', () => {
    const ends = fc.constantFrom<MessageEnd>('body', 'emptyLine');
    const values = fc.array(fc.oneof(fc.jsonValue(), fc.string({ unit: 'binary' })), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(
        ends,
        values,
        fc.constantFrom(0, 1),
        fc.array(fc.nat(5_000), { maxLength: 8 }),
        (end, value, indent, cuts) => {
          const bytes = Buffer.from(`data: ${JSON.stringify(value, null, indent)}\n\n`);
          const places = [
            0,
            ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b),
            bytes.length,
          ];
          const chunks = places.slice(1).map((to, index) => bytes.subarray(places[index], to));
          expect(verdict(end, chunks)).toBe(verdict(end, [bytes]));
        },
      ),
    );
  });

  test('has at most its bytes', () => {
    expect([
      verdict('body', ['12345', '67890'], 10),
      verdict('body', ['12345', '67890', '1'], 10),
    ]).toEqual([undefined, 'bytes']);
  });
});

test.each(['', ' \n', '\ufeff', '\n\n \ufeff'])(
  'a body that is a list of messages, after %j, may hold 5 000 values',
  (before) => {
    const guardOf = (text: string): unknown => {
      const guard = createMessageGuard('body');
      try {
        guard.take(Buffer.from(text));
        guard.end();
        return undefined;
      } catch (error) {
        return (error as Error).message;
      }
    };
    expect(guardOf(before + ones(6_000))).toBe(
      'The server sent a message of more than 5000 values.',
    );
    expect([guardOf(before + ones(4_000)), guardOf(`${before}{"a":${ones(6_000)}}`)]).toEqual([
      undefined,
      undefined,
    ]);
  },
);

describe('a response', () => {
  const read = async (body: string, contentType: string, status = 200): Promise<unknown> => {
    const exceeded: string[] = [];
    const bounded = boundedFetch(
      async () => new Response(body, { status, headers: { 'content-type': contentType } }),
      {
        maxBytes: 10,
        exceeded: (message) => exceeded.push(message),
      },
    );
    const failed = await (await bounded('http://x')).text().then(
      () => false,
      () => true,
    );
    return [failed, exceeded.length];
  };
  const lines = '12345\n\n67890\n\n';
  test.each<[string, string, number, boolean]>([
    ['a stream is bounded by its events', 'text/event-stream', 200, false],
    ['so is one with parameters', 'Text/Event-Stream; charset=utf-8', 200, false],
    [
      'a stream that tells of a failure is read whole, and bounded so',
      'text/event-stream',
      400,
      true,
    ],
    ['so is what only begins like a stream', 'text/event-streams', 200, true],
    ['so is JSON', 'application/json', 200, true],
  ])('%s', async (_, type, status, tooMuch) => {
    expect(await read(lines, type, status)).toEqual([tooMuch, tooMuch ? 1 : 0]);
  });
});
