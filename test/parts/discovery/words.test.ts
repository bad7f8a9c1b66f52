/** The words of a text, as searches compare them. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { wordsOf } from '../../../src/parts/discovery/words.ts';

const stems = (text: string) => wordsOf(text, 100).map(({ stem }) => stem);

describe('wordsOf', () => {
  test.each([
    ['getUserById', 'get_user_by_id', 'get user by id'],
    ['parseHTMLPage', 'parse-html-page', 'parse HTML page'],
    ['sha256Sum', 'sha256 sum', 'sha256_sum'],
  ])('%s, %s and %s are the same words', (one, two, three) => {
    expect(stems(one)).toEqual(stems(two));
    expect(stems(one)).toEqual(stems(three));
  });

  test('words of one stem are the same', () => {
    expect(new Set(stems('converts converted converting convert'))).toEqual(new Set(['convert']));
  });

  test('words that say nothing are left out', () => {
    expect(stems('what is the weather in my city')).toEqual(stems('weather city'));
  });

  test('compatible characters are the same', () => {
    expect(stems('ＵＳＥＲ ﬁle')).toEqual(stems('user file'));
  });

  test('letters of any script count, and scripts without spaces are cut into words', () => {
    expect(stems('Straße größe')).toEqual(['straße', 'größe']);
    expect(stems('天気を調べる').length).toBeGreaterThan(1);
    expect(stems('天気').every((word) => stems('天気を調べる').includes(word))).toBe(true);
  });

  test('a text of many short pieces of such a script costs little more than a long one', () => {
    const { Segmenter } = Intl;
    let made = 0;
    const counted = new Proxy(Segmenter, {
      construct: (target, options) => {
        made++;
        return Reflect.construct(target, options);
      },
    });
    Object.assign(Intl, { Segmenter: counted });
    try {
      expect(wordsOf('天 '.repeat(2_000), 2_000)).toHaveLength(2_000);
    } finally {
      Object.assign(Intl, { Segmenter });
    }
    expect(made).toBe(1);
  });

  test('a word keeps how it was written', () => {
    expect(wordsOf('Sending MAILS', 10)).toEqual([
      { stem: 'send', written: 'sending' },
      { stem: 'mail', written: 'mails' },
    ]);
  });

  test('it stops after as many words as it is asked for', () => {
    expect(wordsOf('one two three four', 2).map(({ written }) => written)).toEqual(['one', 'two']);
  });

  test('no word is long', () => {
    expect(wordsOf('x'.repeat(100_000), 10)[0]?.written).toHaveLength(40);
  });

  test('any text has words without white space, in lower case', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        for (const { stem, written } of wordsOf(text, 1_000)) {
          expect(stem).not.toMatch(/\s/);
          expect(written).toBe(written.toLowerCase());
        }
      }),
    );
  });
});

test('the words of an ASCII text are those of the same text in another script’s company', () => {
  const unit = fc.constantFrom('a', 'b', 'T', 'H', '3', '_', ' ', '-', '.', 'x', 'Q');
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 30 }), (text) => {
      expect(stems(text)).toEqual(stems(`${text} ß`).slice(0, -1));
    }),
  );
});

test('known words are read once, and are the same words', () => {
  const known = new Map();
  const once = wordsOf('Sends the files', 100, known);
  expect(wordsOf('Sends the files', 100, known)).toEqual(once);
  expect([...known.keys()]).toEqual(['Sends', 'the', 'files']);
});
