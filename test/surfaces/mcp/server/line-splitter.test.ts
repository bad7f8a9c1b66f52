import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { keptOfLine, lineSplitter } from '../../../../src/surfaces/mcp/server/line-splitter.ts';

/** What the chunks are read as. */
function read(chunks: readonly string[], maxLength: number): unknown[] {
  const heard: unknown[] = [];
  const splitter = lineSplitter(maxLength, {
    take: (line) => heard.push(line),
    refuse: (beginning, end) => heard.push({ beginning, end }),
  });
  for (const chunk of chunks) splitter.add(chunk);
  splitter.end();
  return heard;
}

test('however text is cut into chunks, the lines are the same', () => {
  const maxLength = keptOfLine + 500;
  const line = fc.oneof(
    fc.string({ maxLength: 8 }),
    fc.nat({ max: 2 * maxLength }).map((length) => 'ab"{'.repeat(length).slice(0, length)),
  );
  const chunked = fc
    .tuple(fc.array(line, { maxLength: 6 }), fc.array(fc.nat({ max: 6_000 }), { maxLength: 12 }))
    .map(([lines, cuts]) => ({ text: lines.join('\n'), cuts: [...cuts].sort((a, b) => a - b) }));
  fc.assert(
    fc.property(chunked, ({ text, cuts }) => {
      const chunks = [0, ...cuts].map((cut, index) => text.slice(cut, cuts[index] ?? text.length));
      const lines = text.split('\n');
      if (lines.at(-1) === '') lines.pop();
      const expected = lines.map((one) =>
        one.length <= maxLength
          ? one
          : { beginning: one.slice(0, keptOfLine), end: one.slice(-keptOfLine) },
      );
      expect(read(chunks, maxLength)).toEqual(expected);
      expect(read([...text.split('')], maxLength)).toEqual(expected);
    }),
  );
});

test('a character is searched once, however small the chunks are', () => {
  const search = vi.spyOn(String.prototype, 'indexOf');
  let searched = 0;
  try {
    read([...Array<string>(1_000).fill('abcd'), '\nabcd'], 10_000);
    searched = (search.mock.contexts as string[]).reduce(
      (sum, text, index) => sum + text.length - (search.mock.calls[index]?.[1] ?? 0),
      0,
    );
  } finally {
    search.mockRestore();
  }
  // The line feed itself is passed by.
  expect(searched).toBe(4_000 + 5 + 4);
});
