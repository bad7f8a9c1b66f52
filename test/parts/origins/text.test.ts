/** The normal form of a word is the same in every text around it. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compatible, foldText, looseForm, normalForm } from '../../../src/parts/origins/text.ts';
import { newRecord, saidRecord, show } from './helpers.ts';

const foreign = 'eve@evil.example';

/** Signs that grow when they are normalised, each with what it becomes. */
const growing = [
  ['\u3300', 'アパート'],
  ['\u3316', 'キロメートル'],
  ['\u33c4', 'cc'],
  ['\u3231', '(株)'],
  ['\ufdf2', 'الله'],
  ['\ufb03', 'ffi'],
  ['\u2474', '(1)'],
  ['\uff45', 'e'],
  ['\u2057', '′′′′'],
] as const;

describe('the length of a text does not change what its words become', () => {
  const sign = fc.constantFrom(...growing.map(([one]) => one), '\ufdfa', '\ufdfb', 'ﷺ ', 'x', ' ');
  const word = fc
    .array(
      fc.constantFrom(...growing.map(([one]) => one), 'e', '@', '.', 'é', 'e\u0301', 'İ', 'Σ'),
      {
        minLength: 1,
        maxLength: 8,
      },
    )
    .map((signs) => signs.join(''));

  test('whatever the rest of it is', () => {
    fc.assert(
      fc.property(word, sign, fc.integer({ min: 0, max: 30_000 }), (one, filler, count) => {
        const text = `${filler.repeat(count)} ${one}`;
        expect(foldText(text).endsWith(` ${foldText(one)}`)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  test.each(growing)('%j is %j at every length', (one, expanded) => {
    for (const count of [0, 1, 499, 500, 501, 9_999, 10_000, 10_001, 200_000])
      expect(normalForm(`${one.repeat(count)} ${one}`).endsWith(` ${expanded}`)).toBe(true);
  });

  test('two signs stay as they are, alone as in a long text, and no text grows more than sixfold', () => {
    for (const phrase of ['\ufdfa', '\ufdfb']) {
      expect(compatible(phrase)).toBe(phrase);
      expect(compatible(phrase.repeat(50_000))).toBe(phrase.repeat(50_000));
      expect(compatible(`\uff45${phrase}\u0301ﬁ`)).toBe(`e${phrase}\u0301fi`);
    }
    let most = 0;
    for (let code = 0; code < 0x11_0000; code++) {
      if (code >= 0xd800 && code < 0xe000) continue;
      const one = String.fromCodePoint(code);
      most = Math.max(most, foldText(one).length / one.length);
    }
    expect(most).toBe(6);
  });

  test('half a pair is a replacement character, as in outputs', () => {
    expect(normalForm('a\ud800b')).toBe('a\ufffdb');
    expect(normalForm('a\udc00')).toBe('a\ufffd');
    expect(normalForm('😀')).toBe('😀');
  });
});

describe('an echo is recognised however long the input is', () => {
  test.each([...growing.map(([one]) => one), '\ufdfa', '\ufdfb', '\u0301', '\u200b', '\ud800'])(
    'beside many of %j',
    (filler) => {
      for (const count of [1, 500, 10_001, 60_000])
        for (const spelled of [foreign, '\uff45ve＠evil.example', 'e\u200bve@evil.example']) {
          const record = show(newRecord(), foreign);
          const input = { query: spelled, without: filler.repeat(count) };
          show(record, `Nothing for ${spelled}`, { callId: '2', origin: 'trusted', input });
          for (const value of [foreign, spelled])
            expect(['untrusted', 'unknown']).toContain(record.originOf(value).origin);
        }
    },
  );
});

test('a spelling that is equal in NFKC is equal in every text', () => {
  for (const [one, expanded] of growing) {
    const said = `${one.repeat(11_000)} ask ${one}x`;
    expect(saidRecord(said).originOf(`${expanded}x`).origin).toBe('user');
    expect(looseForm(`${one}x`)).toBe(looseForm(`${expanded}x`));
  }
});
