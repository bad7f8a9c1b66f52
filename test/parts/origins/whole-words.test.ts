/** A text that was cut vouches for nothing for which the whole text does not. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { omission, wholeWords, withoutPieces } from '../../../src/parts/origins/whole-words.ts';
import { saidRecord } from './helpers.ts';

const marks = /\[cut\]/g;
const cutAt = (text: string, at: number): string =>
  withoutPieces(`${text.slice(0, at)}[cut]`, marks, false);

describe('a text that is cut', () => {
  test.each([
    ['steve@evil.example.org', 'eve@evil.example'],
    ['bob@good.example.evil.test', 'bob@good.example'],
    ['at 12:13:14', '12:13'],
    ['1,000,000 euros', '1,000'],
    ['see https://good.example/a/b?c=d', 'https://good.example/a'],
    ['write --force-all', '--force'],
    ['ids a_b-c.d', 'a_b'],
    ['x<\u0338y', 'x'],
    ['a＠b．c', 'a'],
    ['Zoe\u0308', 'Zoe'],
    ['DE02 1203 0000 0000 2020 51', 'DE02 1203 0000 0000 2020 5'],
  ])('does not vouch for a piece: %j', (text, piece) => {
    for (let at = 0; at <= text.length; at++) {
      expect(saidRecord(cutAt(text, at)).originOf(piece).origin).toBe('unknown');
      const rest = withoutPieces(`[cut]${text.slice(at)}`, marks, false);
      expect(saidRecord(rest).originOf(piece).origin).toBe('unknown');
    }
  });

  test('keeps the words before the last one, and those after the first', () => {
    const text = 'ann@example.com, bob@example.com and cy@example.com';
    expect(cutAt(text, 40)).toBe(`ann@example.com, bob@example.com${omission}`);
    expect(withoutPieces(`${text.slice(0, 20)}[cut]${text.slice(-20)}`, marks, false)).toBe(
      `ann@example.com,${omission}cy@example.com`,
    );
    expect(withoutPieces(text, marks, true)).toBe('ann@example.com, bob@example.com');
    expect(withoutPieces(text, marks, false)).toBe(text);
  });

  test('keeps what stands before white space, at which it was cut', () => {
    expect(cutAt('ann@example.com bob', 16)).toBe(`ann@example.com${omission}`);
    expect(cutAt('ann@example.com\nbob', 16)).toBe(`ann@example.com${omission}`);
  });

  test.each(['DE89 3704 0044 0532 0130 00', 'GB29 NWBK 6016 1331 9268 19', '+49 (30) 555 0199 22'])(
    'vouches for no groups of a number: %s',
    (number) => {
      const text = `Please transfer it to ${number} before Friday`;
      for (let at = 0; at <= text.length; at++)
        for (const part of [cutAt(text, at), withoutPieces(`[cut]${text.slice(at)}`, marks, false)])
          for (let from = 0; from < number.length; from++)
            for (let to = from + 6; to < number.length; to++)
              if (saidRecord(text).originOf(number.slice(from, to)).origin !== 'user')
                expect(saidRecord(part).originOf(number.slice(from, to)).origin).not.toBe('user');
    },
  );

  test('has words of a script without spaces', () => {
    expect(cutAt('田中さんへ、送ってください', 9)).toBe(`田中さんへ${omission}`);
  });

  test('has no value across the place of a cut', () => {
    const text = withoutPieces('to Sarah [cut] Baker now', marks, false);
    expect(saidRecord(text).originOf('Sarah').origin).toBe('user');
    expect(saidRecord(text).originOf('Sarah Baker').origin).toBe('unknown');
  });

  test('is empty if it is one word', () => {
    for (const text of ['x'.repeat(300), 'a.b@c', '😀', '\ud83d']) {
      expect(cutAt(text, text.length)).toBe(omission);
      expect(withoutPieces(text, marks, true)).toBe('');
    }
  });
});

describe('a range of a text', () => {
  const text = 'entry steve@evil.example.org, entry bob@example.com.';

  test('has the words at its ends as a whole', () => {
    const start = text.indexOf('eve@');
    expect(wholeWords(text, start, start + 16)).toBe('steve@evil.example.org,');
    expect(wholeWords(text, 0, 8)).toBe('entry steve@evil.example.org,');
    expect(wholeWords(text, 38, text.length)).toBe('bob@example.com.');
  });

  test('that is empty has none', () => {
    expect(wholeWords(text, 3, 3)).toBe('');
    expect(wholeWords(text, 9, 3)).toBe('');
  });

  test('has no part of a word that is very long', () => {
    const long = `first ${'x'.repeat(1_000)} second ${'y'.repeat(1_000)} third`;
    expect(wholeWords(long, 500, 1_500).trim()).toBe('second');
    expect(wholeWords(long, 500, 600)).toBe('');
  });
});

const sign = fc.constantFrom(
  ...['a', 'b', '1', '12', '000', '@', '.', ',', ':', '-', '/', '=', '_', '+', '?', '%', '~', '\\'],
  ...[' ', '\n', '"', "'", '(', ')', '<', '>', ';', '|', '\u0301', '\u0338', '\u200b', '\ufeff'],
  ...[
    '田',
    'か',
    '\u3099',
    'ﾞ',
    '＠',
    '．',
    '，',
    '\u00a0',
    '\u3000',
    '…',
    'é',
    '😀',
    '\ud83d',
    't1',
  ],
);
const text = fc.array(sign, { minLength: 1, maxLength: 24 }).map((signs) => signs.join(''));

describe('whatever is known by a part of a text is known by the whole text', () => {
  const holds = (whole: string, part: string): void => {
    const [known, all] = [saidRecord(part), saidRecord(whole)];
    for (let from = 0; from < whole.length; from++)
      for (let to = from + 1; to <= Math.min(whole.length, from + 12); to++) {
        const value = whole.slice(from, to);
        // The slash of `a /` is left out, and the space before it is compared with any other.
        if (/\s\/+$/.test(value)) continue;
        if (known.originOf(value).origin === 'user')
          expect([value, all.originOf(value).origin]).toEqual([value, 'user']);
      }
  };

  test('if the text was cut', () => {
    fc.assert(
      fc.property(text, fc.nat(), fc.nat(), (whole, one, other) => {
        const [front, back] = [one % (whole.length + 1), other % (whole.length + 1)];
        holds(whole, cutAt(whole, front));
        holds(whole, withoutPieces(`[cut]${whole.slice(back)}`, marks, false));
        holds(whole, withoutPieces(whole.slice(0, front), marks, true));
      }),
      { numRuns: 150 },
    );
  });

  test('if it is a range', () => {
    fc.assert(
      fc.property(text, fc.nat(), fc.nat(), (whole, one, other) => {
        const [a, b] = [one % (whole.length + 1), other % (whole.length + 1)];
        holds(whole, wholeWords(whole, Math.min(a, b), Math.max(a, b)));
      }),
      { numRuns: 150 },
    );
  });
});
