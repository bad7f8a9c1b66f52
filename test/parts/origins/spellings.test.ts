/** A value is known in each of its usual spellings, and in no other. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { originAfter } from './helpers.ts';

/** Each group is one value in several spellings: whichever was said, each is known. */
const groups: readonly (readonly [what: string, ...spellings: string[]])[] = [
  [
    'web addresses',
    'https://www.example.com/',
    'http://example.com',
    'www.example.com',
    'example.com',
    'EXAMPLE.com.',
  ],
  ['a page', 'https://example.com/a/b?c=1', 'www.example.com/a/b?c=1', 'example.com/a/b?c=1'],
  ['a page with percent-encoding', 'https://example.com/caf%C3%A9', 'example.com/café'],
  ['an international host', 'https://münchen.example/x', 'xn--mnchen-3ya.example/x'],
  ['e-mail addresses', 'ann@example.com', 'mailto:ann@example.com', 'Ann Lee <ann@example.com>'],
  [
    'accounts',
    'GB29NWBK60161331926819',
    'GB29 NWBK 6016 1331 9268 19',
    'gb29-nwbk-6016-1331-9268-19',
  ],
  ['telephones', '+1 (555) 010-9999', '+1 555 010 9999', '+15550109999', '1-555-010-9999'],
  ['numbers', '1,000.00', '1000', '1000.00', '1,000', '1000.0', "1'000"],
  ['fractions after a comma', '12,50', '12.50'],
  ['fractions', '1,234.5', '1234.50', '1234.5'],
  [
    'dates',
    '2024-05-15',
    'May 15, 2024',
    '15 May 2024',
    'May 15th, 2024',
    '15th of May 2024',
    '2024/05/15',
    '15.05.2024',
    '05/15/2024',
  ],
  ['names of channels', '#general', 'general'],
];

describe.each(groups)('%s', (_, ...spellings) => {
  const pairs = spellings.flatMap((said) => spellings.map((value) => [said, value] as const));

  test.each(pairs.filter(([said]) => !said.includes('<')))('said %j, asked %j', (said, value) => {
    expect(originAfter(`Please use ${said} today`, value)).toBe('user');
  });
});

test.each([
  ['example.com', 'https://example.com/a'],
  ['https://example.com/a', 'https://example.com/b'],
  ['https://example.com/a', 'ftp://example.com/a'],
  ['https://example.com/a', 'javascript:example.com/a'],
  ['example.com', 'https://example.com@evil.example'],
  ['example.com', 'https://evil.example/example.com'],
  ['example.com', 'example.com.evil.example'],
  ['https://example.com/a/b', 'https://example.com/a%2Fb'],
  ['https://example.com/A', 'https://example.com/%2541'],
  ['ann@example.com', 'Ann <eve@evil.example>'],
  ['ann@example.com', 'ann@example.com <eve@evil.example>'],
  ['ann@example.com', 'ann@example.com, eve@evil.example'],
  ['GB29NWBK60161331926819', 'GB29NWBK6016133192681'],
  ['GB29NWBK60161331926819', 'GB29NWBK60161331926818'],
  ['1000', '10000'],
  ['1.000', '1000'],
  ['version 2.1', '2.10'],
  ['version 2.10', '2.1'],
  ['version 2024.1', '2024.10'],
  ['https://example.com/a', 'https://example.com/a/..'],
  ['2024-05-15', '2024-05-16'],
  ['05/06/2024', '2024-05-06'],
])('said %j, %j is unknown', (said, value) => {
  expect(originAfter(`Please use ${said} today`, value)).toBe('unknown');
});

test.each([
  ['€1250', '1250'],
  ['1250€', '1250'],
  ['1.250,00 €', '1250'],
  ['£12.50', '12.50'],
  ['₹1,00,000', '1,00,000'],
])('said %j, the amount %j is known', (said, value) => {
  expect(originAfter(`Please pay ${said}, now`, value)).toBe('user');
});

test.each([
  ['x€1250', '1250'],
  ['1250€x', '1250'],
  ['€12,505', '12'],
  ['€12,505', '12.505'],
  ['1,250', '1.25'],
  ['steve€eve@evil.example', 'eve@evil.example'],
  ['eve@evil.example¥org', 'eve@evil.example'],
])('said %j, its part %j is unknown', (said, value) => {
  expect(originAfter(`Please take ${said}, now`, value)).toBe('unknown');
});

describe('for any value', () => {
  const word = fc.stringMatching(/^[a-z][a-z0-9]{2,8}$/);
  const email = fc.tuple(word, word).map(([name, host]) => `${name}@${host}.example`);
  const url = fc.tuple(word, word).map(([host, page]) => `https://${host}.example/${page}`);
  const account = fc.stringMatching(/^[A-Z]{2}[0-9]{12,18}$/);
  const value = fc.oneof(email, url, account);
  const around = fc.constantFrom(
    ['', ''],
    ['Pay ', ' now'],
    ['(', ')'],
    ['see: "', '".'],
    ['to\n', '\n'],
    ['**', '**'],
  );

  test('said in a sentence, it is found', () => {
    fc.assert(
      fc.property(value, around, (one, [before, after]) => {
        expect(originAfter(`${before}${one}${after}`, one)).toBe('user');
      }),
    );
  });

  test('an account is found in any grouping', () => {
    fc.assert(
      fc.property(
        account,
        fc.integer({ min: 2, max: 5 }),
        fc.constantFrom(' ', '-'),
        (one, size, gap) => {
          const grouped = (one.match(new RegExp(`.{1,${size}}`, 'g')) as string[]).join(gap);
          expect(originAfter(`to ${grouped}, please`, one)).toBe('user');
          expect(originAfter(`to ${one}, please`, grouped)).toBe('user');
        },
      ),
    );
  });

  test('changed in one character, it is not found', () => {
    fc.assert(
      fc.property(value, fc.nat(), fc.constantFrom(...'abc019'), (one, place, char) => {
        const at = place % one.length;
        if (!/[a-z0-9]/i.test(one[at] as string) || at < 'https://'.length) return;
        const changed = one.slice(0, at) + char + one.slice(at + 1);
        fc.pre(changed.toLowerCase() !== one.toLowerCase());
        expect(originAfter(`Use ${one}, please`, changed)).toBe('unknown');
      }),
    );
  });

  test('cut at either end, it is not found', () => {
    fc.assert(
      fc.property(fc.oneof(email, account), (one) => {
        expect(originAfter(`Use ${one}, please`, one.slice(1))).toBe('unknown');
        expect(originAfter(`Use ${one}, please`, one.slice(0, -1))).toBe('unknown');
      }),
    );
  });

  test('two words that were said apart are no value together', () => {
    fc.assert(
      fc.property(word, word, fc.constantFrom(' and ', ', ', '\n- ', ' / '), (a, b, between) => {
        fc.pre(a !== b && ![a, b].includes('and'));
        expect(originAfter(`Ask ${a}${between}${b}.`, `${a} ${b}`)).toBe('unknown');
        expect(originAfter(`Ask ${a}${between}${b}.`, `${a}@${b}`)).toBe('unknown');
        expect(originAfter(`Ask ${a}${between}${b}.`, `${a}.${b}`)).toBe('unknown');
      }),
    );
  });
});
