/** Lines of a child process are counted before anything parses them, however they are cut. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { smallBounds } from '../../../../src/surfaces/mcp/client/message-guard.ts';
import { lineReader } from '../../../../src/surfaces/mcp/client/stdio-lines.ts';
import { cpuMs } from '../../../runner/cpu-time.ts';

const bounds = { maxDepth: 5, maxValues: 100 };
const ones = (count: number): string => `[${Array(count).fill('1').join(',')}]`;
const few = ones(20);

/** What was passed on, what was taken, and the bound that ended it. */
function read(
  chunks: readonly (string | Uint8Array)[],
  takes: (line: string) => boolean = () => false,
  maxBytes = 10_000,
  limits = bounds,
): { passed: string; taken: string[]; excess?: string } {
  const passed: Uint8Array[] = [];
  const taken: string[] = [];
  const reader = lineReader(
    maxBytes,
    {
      bounds: () => limits,
      take(line) {
        if (!takes(line)) return false;
        taken.push(line);
        return true;
      },
    },
    (line) => passed.push(line),
  );
  const seen = (): { passed: string; taken: string[] } => ({
    passed: Buffer.concat(passed).toString(),
    taken,
  });
  try {
    for (const chunk of chunks) reader(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
    return seen();
  } catch (error) {
    const [excess = ''] = /deeper|values|bytes/.exec((error as Error).message) ?? [];
    return { ...seen(), excess };
  }
}

describe('a line', () => {
  test.each<[string, readonly string[], string | undefined]>([
    ['lines are messages, each by itself', Array(50).fill(`${few}\n`), undefined],
    ['a line of too many values', [`${few}\n${ones(100)}\n`], 'values'],
    ['a line that is too deep', ['[[[[[[1]]]]]]\n'], 'deeper'],
    ['a carriage return ends no line', [...Array(10).fill(`${few},\r`), '\n'], 'values'],
    ['commas within a text are no values', [`["${','.repeat(500)}"]\n`], undefined],
  ])('%s', (_, chunks, excess) => {
    expect(read(chunks).excess).toBe(excess);
  });

  test('over the bounds is not passed on, and neither is what follows', () => {
    expect(read(['1\n', `${ones(100)}\n`, '2\n'])).toEqual({
      passed: '1\n',
      taken: [],
      excess: 'values',
    });
  });

  test('has at most its bytes, also while it has no end', () => {
    expect([
      read(['12345\n', '6789\n', '12345\n'], undefined, 6).excess,
      read(['1234', '567'], undefined, 6).excess,
    ]).toEqual([undefined, 'bytes']);
  });

  test('is passed on or taken as it was written, wherever it is cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.constant('mine'), fc.string({ unit: 'binary' })), { maxLength: 9 }),
        fc.array(fc.nat(300), { maxLength: 8 }),
        (texts, cuts) => {
          const lines = texts.map((text) => `${JSON.stringify(text)}\n`);
          const bytes = Buffer.from(lines.join(''));
          const places = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b)];
          const chunks = places.map((from, at) => bytes.subarray(from, places[at + 1]));
          const mine = (line: string): boolean => line === '"mine"\n';
          expect(read(chunks, mine)).toEqual({
            passed: lines.filter((line) => !mine(line)).join(''),
            taken: lines.filter(mine),
          });
        },
      ),
    );
  });
});

describe('a message after something else in its line', () => {
  /** Those of the first message of a server. */
  const readFirst = (
    chunks: readonly (string | Uint8Array)[],
    takes?: (line: string) => boolean,
  ): ReturnType<typeof read> => read(chunks, takes, undefined, smallBounds);
  const message =
    '{"jsonrpc":"2.0","id":0,"result":{"text":"a {\\"b\\":1} c","list":[{},{"x":{}}]}}\n';

  test.each<[string, string]>([
    ['a byte order mark', '\ufeff'],
    ['a text', 'Loading the packages ... '],
    ['a progress bar', '\r[=>  ] 10 %\r[==> ] 50 %\r[===>] 100 %'],
    ['escape sequences', '\u001b[2K\u001b[1G\u001b[32m✔\u001b[0m \u001b[?25h'],
    ['braces', 'config: { port: 1 } {{ {"a" '],
    ['a JSON object', '{"level":30,"msg":"listening"}'],
    ['a JSON object that has a message', '{"jsonrpc":"1.0","of":{"jsonrpc":"2.0"}} '],
    ['half a JSON object', '{"jsonrpc":"2.0","id":{"a":'],
    ['a quotation mark', 'It\u2019s 5" wide, "really'],
    ['brackets', '['.repeat(90)],
    ['commas', 'a,'.repeat(500)],
    ['white space', ' \t '],
    ['lines', 'one\n\r\n{ two }\nthree: '],
    ['a null character', '\0\0'],
  ])('is passed on alone: %s', (_, noise) => {
    const lines = noise.slice(0, noise.lastIndexOf('\n') + 1);
    expect(readFirst([noise, message])).toEqual({ passed: lines + message, taken: [] });
    expect(readFirst([noise + message], (line) => line === message)).toEqual({
      passed: lines,
      taken: [message],
    });
    expect(readFirst([message, noise, message, message])).toEqual({
      passed: message + lines + message + message,
      taken: [],
    });
    expect(readFirst([message, noise + message], (line) => line === message)).toEqual({
      passed: lines,
      taken: [message, message],
    });
  });

  test('also later, after a text', () => {
    expect(readFirst([message, 'tick ', message, message])).toEqual({
      passed: message.repeat(3),
      taken: [],
    });
  });

  test('is passed on whatever the noise is, wherever it is cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom(...'{}[]",:\\')), {
          maxLength: 30,
        }),
        fc.array(fc.nat(200), { maxLength: 4 }),
        (noise, cuts) => {
          const text = noise.join('').replaceAll('\n', '');
          const bytes = Buffer.from(text + message);
          const places = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b)];
          const chunks = places.map((from, at) => bytes.subarray(from, places[at + 1]));
          for (const before of ['', message]) {
            const { passed, excess } = readFirst([before, ...chunks]);
            // Only what looks like JSON is counted.
            if (excess === undefined) expect(passed).toBe(before + message);
            else expect(text).toMatch(/[[{]/);
          }
        },
      ),
    );
  });

  test('is within the bounds of a message, and a text without one is not searched for long', () => {
    expect(read([`noise {"jsonrpc":"2.0","result":${ones(100)}}\n`]).excess).toBe('values');
    const endless = `${'{"jsonrpc":'.repeat(60_000)}\n`;
    const before = cpuMs();
    const wide = { maxDepth: 1e9, maxValues: 1e9 };
    lineReader(10_000_000, { bounds: () => wide, take: () => false }, () => {})(
      Buffer.from(endless),
    );
    expect(cpuMs() - before).toBeLessThan(5_000);
  });
});
