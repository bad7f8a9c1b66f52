/** Lines of a child process are counted before anything parses them, however they are cut. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lineReader } from '../../../../src/surfaces/mcp/client/stdio-lines.ts';

const bounds = { maxDepth: 5, maxValues: 100 };
const ones = (count: number): string => `[${Array(count).fill('1').join(',')}]`;
const few = ones(20);

/** What was passed on, what was taken, and the bound that ended it. */
function read(
  chunks: readonly (string | Uint8Array)[],
  takes: (line: string) => boolean = () => false,
  maxBytes = 10_000,
): { passed: string; taken: string[]; excess?: string } {
  const passed: Uint8Array[] = [];
  const taken: string[] = [];
  const reader = lineReader(
    maxBytes,
    {
      bounds: () => bounds,
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
