/** Which numbers and codes of a text identify an account, a document or a person. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { accountsIn, ibanEnd } from '../../../src/parts/origins/accounts.ts';
import { originAfter } from './helpers.ts';

/** Examples of the registry of IBANs, with letters in many places. */
const ibans = [
  'AD1200012030200359100100',
  'BG80BNBG96611020345678',
  'BR1800360305000010009795493C1',
  'DE89370400440532013000',
  'FR1420041010050500013M02606',
  'GB33BUKB20201555555555',
  'GI75NWBK000000007099453',
  'IE29AIBK93115212345678',
  'KZ86125KZT5004100100',
  'LC55HEMM000100010012001200023015',
  'LV80BANK0000435195001',
  'MT84MALT011000012345MTLCAST001S',
  'NL91ABNA0417164300',
  'NO9386011117947',
  'QA58DOHB00001234567890ABCDEFG',
  'RO49AAAA1B31007593840000',
  'SC18SSCB11010000000000001497USD',
  'UA213223130000026007233566001',
  'VG96VPVG0000012345678901',
];
const inGroups = (text: string, size: number, gap: string): string =>
  (text.match(new RegExp(`.{1,${size}}`, 'g')) as string[]).join(gap);

describe.each(ibans)('%s', (iban) => {
  test.each(
    [iban, iban.toLowerCase()].flatMap((one) => [
      one,
      ...[' ', '-', '\u00a0', '\n'].map((gap) => inGroups(one, 4, gap)),
    ]),
  )('is found as %j', (written) => {
    const plain = written.replaceAll('\u00a0', ' ');
    expect(accountsIn(`Pay ${plain}, please`)).toEqual([plain]);
    expect(accountsIn(`IBAN:${plain} now`)).toEqual([plain]);
  });

  test('is the same value in groups and without', () => {
    for (const gap of [' ', '-']) {
      const grouped = inGroups(iban, 4, gap);
      expect(originAfter(`It is ${iban}.`, grouped)).toBe('user');
      expect(originAfter(`It is ${grouped}.`, iban.toLowerCase())).toBe('user');
    }
  });

  test('vouches for none of its parts', () => {
    const said = `It is ${inGroups(iban, 4, ' ')}.`;
    const rest = iban.slice(4);
    for (const part of [
      rest,
      inGroups(rest, 4, ' '),
      iban.slice(0, 12),
      inGroups(iban.slice(0, 12), 4, ' '),
    ])
      expect(originAfter(said, part)).toBe('unknown');
  });
});

test('an IBAN is found in any grouping, and ends where its country says', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...ibans),
      fc.integer({ min: 4, max: 9 }),
      fc.constantFrom(' ', '-'),
      fc.constantFrom('then', 'USD', '12', 'x9'),
      (iban, size, gap, next) => {
        const grouped = inGroups(iban, size, gap);
        // A group of five letters or more could be a word.
        fc.pre(!grouped.split(gap).some((group) => /^[A-Z]{5,}$/.test(group)));
        expect(ibanEnd(`${grouped} ${next}`, 0)).toBe(grouped.length);
      },
    ),
  );
});

test.each([
  ['XX00 EVIL 2020 1555 5555 55'],
  ['xx00 evil 2020 1555 5555 55'],
  ['GB33 BUKB 2020 1555 5555 559'],
  ['RF18 5390 0754 7034'],
  ['ABCDE-FGHIJ-12345-KLMNO'],
  ['abcde-fghij-12345-klmno'],
  ['550e8400-e29b-41d4-a716-446655440000'],
  ['MORGA 657054 SM9IJ 35'],
  ['D123-4567-8901-23'],
  ['1Z 999 AA1 01 2345 6784'],
  ['RR 123 456 789 GB'],
  ['REF-2024-00012345'],
  ['ref-2024-00012345'],
  ['INV/2024/00012345'],
  ['12345678'],
  ['555 010-9999'],
])('%s is one number', (number) => {
  expect(accountsIn(`About ${number}, then.`)).toEqual([number]);
});

test.each([
  ['Transfer 1000 EUR DE89 3704 0044 0532 0130 00', 'DE89 3704 0044 0532 0130 00'],
  [
    'NL91 ABNA 0417 1643 00 or IE29 AIBK 9311 5212 3456 78',
    'NL91 ABNA 0417 1643 00',
    'IE29 AIBK 9311 5212 3456 78',
  ],
  ['SEND 1000 NOW TO 12345678 ASAP', '12345678'],
  ['order 12345678 AND 87654321', '12345678', '87654321'],
  ['from ab12 this that 2020 1555 9999', '2020 1555 9999'],
  ['state-of-the-art-2024'],
  ['on 05/15/2024 we met'],
  ['DE89 is a code that many people use here'],
])('%j: the words around a number do not belong to it', (text, ...numbers) => {
  expect(accountsIn(text)).toEqual(numbers);
});

test('the time is linear in the length of the text', () => {
  for (const unit of ['DE89 ', 'de89', 'AB 12 ', 'A-1-', 'GB33 BUKB 2020 1555 5555 5 '])
    expect(accountsIn(unit.repeat(40_000)).length).toBeLessThan(40_001);
});
