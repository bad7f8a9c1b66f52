import { expect, test } from 'vitest';
import { spellings } from '../../../src/values/redaction/spellings.ts';

test.each<[secret: string, written: string[]]>([
  [
    'p@ss w"rd/\u00e9+',
    [
      'p@ss w"rd/\u00e9+',
      'p@ss w\\"rd/\u00e9+',
      'p@ss w\\\\\\"rd/\u00e9+',
      'p%40ss%20w%22rd%2F%C3%A9%2B',
      'p%40ss+w%22rd%2F%C3%A9%2B',
      'p@ss%20w%22rd/%C3%A9+',
      'p%40ss+w%22rd%2F%C3%A9%2B',
      'cEBzcyB3InJkL8OpK',
      'BAc3MgdyJyZC/DqS',
      'wQHNzIHcicmQvw6kr',
      'cEBzcyB3InJkL8OpK',
      'BAc3MgdyJyZC_DqS',
      'wQHNzIHcicmQvw6kr',
      '7040737320772272642fc3a92b',
    ],
  ],
  // A lone surrogate travels as U+FFFD.
  [
    '\ud800abc',
    [
      ...[
        '\ud800abc',
        '\\ud800abc',
        '\\\\ud800abc',
        '%EF%BF%BDabc',
        '%EF%BF%BDabc',
        '%EF%BF%BDabc',
        '%EF%BF%BDabc',
      ],
      ...['77+9YWJj', '+/vWFiY', 'vv71hYm', '77-9YWJj', '-_vWFiY', 'vv71hYm', 'efbfbd616263'],
    ],
  ],
  // Less than six characters of base64 are words as well as not.
  [
    'abcde',
    [
      'abcde',
      'abcde',
      'abcde',
      'abcde',
      'abcde',
      'abcde',
      'abcde',
      'YWJjZG',
      'FiY2Rl',
      'hYmNkZ',
      'YWJjZG',
      'FiY2Rl',
      'hYmNkZ',
      '6162636465',
    ],
  ],
  [
    'abcd',
    ['abcd', 'abcd', 'abcd', 'abcd', 'abcd', 'abcd', 'abcd', '', '', '', '', '', '', '61626364'],
  ],
])('a secret such as %j may be written as', (secret, written) => {
  expect(spellings.map((spelling) => spelling(secret))).toEqual(written);
});

test('the beginning of a secret has the beginning of its spellings', () => {
  const secret = 'p@ss w"rd/\u00e9+ and more of it';
  for (const spelling of spellings)
    expect(spelling(secret).startsWith(spelling(secret.slice(0, 12)))).toBe(true);
});
