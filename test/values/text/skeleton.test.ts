/** What texts look like. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { derived, explicit } from '../../../src/values/text/confusables.ts';
import { looksOf, seen } from '../../../src/values/text/skeleton.ts';
import { readMappings, tableOf } from './confusables-table.ts';

function areAlike(one: string, other: string): boolean {
  const looks = looksOf(other);
  return looksOf(one).some((look, reading) => look === looks[reading]);
}

describe('texts that look alike', () => {
  test.each([
    ['digits', 'g00gle', 'google'],
    ['a capital I for an l', 'paypaI', 'paypal'],
    ['two letters for one', 'RNICROSOFT', 'MICROSOFT'],
    ['two letters for one, in the other case', 'rnicrosoft', 'Microsoft'],
    ['a Greek capital tau', 'VΤB', 'VTB'],
    ['a Greek capital tau after two letters for one', 'RNICROSOFΤ', 'MICROSOFT'],
    ['a Cherokee T after two letters for one', 'RNICROSOFᎢ', 'MICROSOFT'],
    ['a mathematical tau', '𝜏est', 'test'],
    ['Cyrillic letters', 'gооgle', 'google'],
    ['a word in Cyrillic', 'аррӏе', 'apple'],
    ['Cyrillic capitals', 'ВАНК', 'BAHK'],
    ['a small Cyrillic te', 'vosтok', 'VOSTOK'],
    ['full-width letters', 'Ｇｏｏｇｌｅ', 'google'],
    ['mathematical letters', '𝐆𝐨𝐨𝐠𝐥𝐞', 'google'],
    ['mathematical letters, with m', '𝓶𝓲𝓬𝓻𝓸', 'micro'],
    ['ss for ß', 'STRASSE', 'straße'],
    ['a capital ß', 'STRAẞE', 'strasse'],
    ['a ligature', 'ﬁnance', 'finance'],
    ['a long s for an s', 'ſafe', 'safe'],
    ['a long s for an f', 'ſafe', 'fafe'],
    ['a dotless i', 'dıyar', 'DIYAR'],
    ['a capital I with a dot', 'İstanbul', 'istanbul'],
    ['a dot on an i', 'i\u0307stanbul', 'ISTANBUL'],
    ['a final sigma', 'ΛΟΓΟΣ', 'λόγος'.normalize('NFD').replaceAll('\u0301', '')],
    ['spaces', 'V O S T O K', 'vostok'],
    ['white space of all kinds', '\tV\u00a0O\u2003S\r\nT\u3000O\ufeffK\u1680', 'vostok'],
    ['zero-width characters', 'go\u200bo\u200d\u2060gle', 'google'],
    ['bidirectional marks', '\u202agoo\u200egle\u202c\u2069', 'google'],
    ['soft hyphens, joiners, selectors and tags', 'g\u00ado\u034fo\ufe0fg\u{e0061}le', 'google'],
    ['blanks that are letters', 'goo\u3164g\u2800le', 'google'],
    ['control characters', 'goo\u0000g\u0008le', 'google'],
    ['a composed and a decomposed letter', 'Zoe\u0308', 'ZOË'],
    ['marks in another order', 'a\u0323\u0301', 'a\u0301\u0323'],
    ['dashes of another kind', 'a–b', 'a-b'],
  ])('%s', (_, one, other) => {
    expect(areAlike(one, other)).toBe(true);
    expect(areAlike(other, one)).toBe(true);
  });

  test('any text, with unseen characters and white space anywhere in it', () => {
    const extra = fc.constantFrom(' ', '\t', '\u200b', '\u202e', '\u00ad', '\u{e0020}', '\u3000');
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 8 }),
        extra,
        fc.nat(),
        (text, char, at) => {
          const chars = Array.from(text);
          chars.splice(at % (chars.length + 1), 0, char);
          expect(looksOf(chars.join(''))).toEqual(looksOf(text));
        },
      ),
    );
  });

  test('any text in any case of ASCII', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[ -~]{0,10}$/), (text) => {
        expect(areAlike(text.toUpperCase(), text.toLowerCase())).toBe(true);
      }),
    );
  });
});

describe('texts that do not', () => {
  test.each([
    ['google', 'goggle'],
    ['mail', 'mall'],
    ['clean', 'dean'],
    ['é', 'e'],
    ['goo\u0301gle', 'google'],
    ['google.', 'google'],
    ['a', 'ab'],
    ['北京', '北亰'],
  ])('%s and %s', (one, other) => {
    expect(areAlike(one, other)).toBe(false);
  });
});

test('what can be seen never looks like nothing', () => {
  let code = 0;
  const inTable = explicit.split(' ').map((entry) => {
    code += Number.parseInt(entry, 36);
    return code;
  });
  const composed = Array.from({ length: 0x30_000 }, (_, one) => one).filter((one) => {
    const char = String.fromCodePoint(one);
    return char.normalize('NFKD') !== char;
  });
  const codes = new Set([...inTable, ...composed]);
  expect(inTable).toContain('0'.charCodeAt(0));
  const chars = Array.from(codes, (one) => String.fromCodePoint(one));
  const visible = chars.filter((char) => seen(char) !== '');
  expect(visible.filter((char) => looksOf(`a${char}b`).includes('ab'))).toEqual([]);
});

test('many marks in turns are read in linear time', () => {
  const marks = '\u0301\u0316'.repeat(100_000);
  expect(looksOf(`a${marks}`)[0]).toHaveLength(200_001);
});

describe('the table', () => {
  // Written by `confusables-table.ts`. These are the mappings of Unicode 13.0 to 15.0.
  test('has the mappings of Unicode', () => {
    const digest = createHash('sha256').update(explicit).update(derived).digest('hex');
    expect([explicit.split(' ').length, derived.split(' ').length, digest]).toMatchInlineSnapshot(`
      [
        2673,
        47,
        "f7752f6add992e79a4576c621053ff5d3793c02545c0f783c33a74b0098edd11",
      ]
    `);
  });

  test('is made from either format', () => {
    const text =
      '# comment\n0441 ;\t0063 ;\tMA\n1D400 ;\t0041 ;\tMA\n33C2 ;\t0061 002E 006D 002E ;\tMA\n';
    const json = JSON.stringify({ с: 'c', 𝐀: 'A', '㏂': 'a.m.' });
    expect(readMappings(text)).toEqual(readMappings(json));
    expect(tableOf(readMappings(text))).toEqual({
      explicit: 'u9:2r',
      derived: 'a82-a82 2kg0-2kg0',
    });
  });
});
