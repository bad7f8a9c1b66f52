/** A long text is worked on in slices, and the result is that of one go. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createOriginRecord } from '../../../src/parts/origins/record.ts';
import { finish, folded, sliceEnd } from '../../../src/parts/origins/slices.ts';
import { foldText } from '../../../src/parts/origins/text.ts';

/** What the slices of a text are. */
function slicesOf(text: string): string[] {
  const slices: string[] = [];
  for (let from = 0; from < text.length; ) {
    const to = sliceEnd(text, from);
    slices.push(text.slice(from, to));
    from = to;
  }
  return slices;
}

function repeated(part: string, chars = 300_000): string {
  return part.repeat(Math.ceil(chars / part.length));
}

describe('a slice', () => {
  test('is the whole of a short text', () => {
    expect(slicesOf('a short text')).toEqual(['a short text']);
  });

  test('ends before white space', () => {
    const slices = slicesOf(repeated('ann@example.com, bob '));
    expect(slices.length).toBeGreaterThan(2);
    for (const slice of slices.slice(1)) expect(slice[0]).toBe(' ');
  });

  test('ends before another sign if there is no white space', () => {
    for (const slice of slicesOf(repeated('example/path')).slice(1)) expect(slice[0]).toBe('/');
  });

  test('ends inside a word that is longer than a slice', () => {
    const slices = slicesOf(repeated('x'));
    expect(slices.length).toBeGreaterThan(2);
    expect(slices.join('')).toBe(repeated('x'));
  });

  test('has an end, whatever the text is', () => {
    for (const part of ['\u0301', '\u1161', '😀', '\ud800', '\udc00'])
      for (const slice of slicesOf(repeated(part, 2_000_000)))
        expect(slice.length).toBeLessThan(600_000);
  });
});

test('a text that is changed in slices is the text that is changed in one go', () => {
  const part = fc.constantFrom(
    'Grüße aus Köln. ',
    'e\u0301\u0323',
    'ﬁne ① ',
    '你好',
    'か\u3099き',
    'ｶﾞ',
    '\u1112\u1161\u11ab',
    '한국',
    'ΟΔΟΣ ',
    '👩\u200d🚀',
    'QUJD+/=',
    'x',
    '\0',
  );
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 6 }), (parts) => {
      const text = repeated(parts.join(''));
      expect(finish(folded(text, foldText)) === foldText(text)).toBe(true);
    }),
    { numRuns: 30 },
  );
});

test.each([
  'и\u0306',
  'и\u0306。',
  '\u1112\u1161\u11ab',
  'ｶﾞ',
  '\u{11099}\u{110ba}',
  '𐐀',
  '\u0627\u0653',
])('no slice of a text without ASCII begins inside a letter: %j', (part) => {
  for (const before of ['', 'я']) {
    const text = before + repeated(part, 700_000);
    expect(finish(folded(text, foldText)) === foldText(text)).toBe(true);
  }
});

test('a word that is longer than a slice is found, wherever it begins', () => {
  const long = 'y'.repeat(150_000);
  for (const before of [0, 1, 60_000, 130_000, 131_071, 131_072]) {
    const record = createOriginRecord();
    record.said(`${'x'.repeat(before)} ${long}`);
    expect(record.originOf(long).origin).toBe('user');
    expect(record.originOf('y'.repeat(149_999)).origin).toBe('unknown');
  }
});

test('every value of a long text is found, wherever it was cut', () => {
  const values = Array.from({ length: 40_000 }, (_, index) => `user${index}@example.com`);
  const record = createOriginRecord();
  record.said(values.join(' '));
  for (const value of values) expect(record.originOf(value).origin).toBe('user');
});

test('what has not been worked on is not found yet, and then it is', () => {
  const record = createOriginRecord();
  const slices = record.saying(`${repeated('lorem ipsum ')} ann@example.com`, 'user');
  slices.next();
  expect(record.originOf('ann@example.com').origin).toBe('unknown');
  finish(slices);
  expect(record.originOf('ann@example.com').origin).toBe('user');
});

test('an output may change after it was handed over', () => {
  const record = createOriginRecord();
  const output = [repeated('lorem ipsum '), 'eve@evil.example'];
  const labels = {
    origin: 'untrusted',
    mixed: true,
    hasUntrusted: true,
    fields: undefined,
  } as const;
  const slices = record.outputting(output, { callId: 'c', toolName: 't', labels });
  output.length = 0;
  finish(slices);
  expect(record.originOf('eve@evil.example').origin).toBe('untrusted');
});
