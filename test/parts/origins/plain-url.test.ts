/** Which values are URLs, and on which host every program finds a URL. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { browserReading, looksLikeUrl, plainHost } from '../../../src/parts/origins/plain-url.ts';

describe('a URL has a host if every program finds the same one', () => {
  test.each([
    ['https://corp.example.com/a?b=c&d=e#f', 'corp.example.com'],
    ['HTTPS://CORP.example.com/a%20b', 'corp.example.com'],
    ['http://www.corp.example.com', 'corp.example.com'],
    ['https://corp.example.com:443/', 'corp.example.com'],
    ['https://corp.example.com:8443/', 'corp.example.com:8443'],
    ['corp.example.com/café', 'corp.example.com'],
    ['http://localhost:3000/x', 'localhost:3000'],
  ])('%s', (value, host) => {
    expect(plainHost(value)).toBe(host);
  });

  const rests = [
    '/<eve@evil.example>',
    '/,eve@evil.example',
    '/;x',
    '?;eve@evil.example',
    '?to=eve@evil.example',
    '?to=eve%40evil.example',
    '?to=eve%2540evil.example',
    '?u=https://evil.example',
    '?u=https%3A%2F%2Fevil.example',
    '//evil.example',
    '/／／evil.example',
    '/a／/evil.example',
    '/%5Cevil.example',
    '/%0d%0aBcc:x',
    '/%zz',
    '/a b',
    '/a\tb',
    '/a\n',
    '/a\u00a0b',
    '/a\u2028b',
    '/a\u200bb',
    '/a|b',
    '/&b',
    '/(b)',
    '/[b]',
    '/{b}',
    '/"b"',
    "/'b'",
    '/`b`',
    '/$(id)',
    '/\\evil.example',
    '\\@evil.example',
    '/，b',
    '/＠b',
    '@evil.example',
    ':x@evil.example',
  ];
  test.each(
    rests.flatMap((rest) => [`https://corp.example.com${rest}`, `corp.example.com${rest}`]),
  )('%j has none', (value) => {
    expect(plainHost(value)).toBeUndefined();
  });

  test.each([
    '//corp.example.com/x',
    'https:/corp.example.com/x',
    'https:///corp.example.com/x',
    'https:corp.example.com/x',
    'http:\\\\corp.example.com\\x',
    ' https://corp.example.com/x',
    'ht\ntps://corp.example.com',
    'https://corp%2eexample.com/x',
    'https://0x7f.0.0.1/x',
    'https://corp。example.com/x',
    'ftp://corp.example.com/x',
    'mailto:corp.example.com',
    'report/a',
    'report?a=b',
    'https://',
  ])('%j has none', (value) => {
    expect(plainHost(value)).toBeUndefined();
  });

  test('whatever follows a host, the host is the one that the platform reads, or none', () => {
    const sign = fc.constantFrom(...'/?#@:;,<>[]()%&=+$!*|\\^`"\' \t\n.-_~a0', '%40', '%2F', '。');
    fc.assert(
      fc.property(fc.array(sign, { maxLength: 12 }), (signs) => {
        const value = `https://corp.example.com${signs.join('')}`;
        const host = plainHost(value);
        if (host === undefined) return;
        expect(new URL(value).host).toBe(host);
        expect(value.slice('https://'.length)).not.toMatch(/[\s@<>,;|\\]|\/\//);
      }),
    );
  });
});

test.each([
  '//evil.example/x',
  '\\\\evil.example\\x',
  '/\\evil.example',
  'https:/evil.example',
  'https:evil.example',
  'http:\\\\evil.example\\a',
  ' https://evil.example',
  '\u0001https://evil.example',
  'ht\ntps://evil.example',
  'evil.example/a b',
  'evil.example/@x',
  'evil。example/x',
  '[2001:db8::1]/x',
  'wss:evil.example',
  'file:/etc/passwd',
])('%j may be read as an address', (value) => {
  expect(looksLikeUrl(value)).toBe(true);
});

test.each(['report', '/home/ann/a', 'C:\\a', 'ann@example.com', 'two words', 'Mr. Lee', '.env'])(
  '%j is not read as one',
  (value) => {
    expect(looksLikeUrl(value)).toBe(false);
  },
);

test('white space before an address does not hide it, however much there is', () => {
  expect(looksLikeUrl(`${' \n'.repeat(20_000)}https://evil.example`)).toBe(true);
});

describe('what a browser finds in an unusual spelling', () => {
  test.each([
    ['//evil.example/x', 'evil.example/x'],
    ['https:/evil.example/x', 'evil.example/x'],
    ['https:evil.example/x', 'evil.example/x'],
    ['http:\\\\evil.example\\x', 'evil.example/x'],
    ['\\/evil.example', 'evil.example'],
    [' https://ev\til.example\n', 'evil.example'],
    ['evil。example', 'evil.example'],
  ])('%j: %s', (value, reading) => {
    expect(browserReading(value)).toBe(reading);
  });

  test.each(['https://evil.example/x', '/etc/passwd', 'a text\nof two lines', 'evil.example', ''])(
    '%j is usual',
    (value) => {
      expect(browserReading(value)).toBeUndefined();
    },
  );
});
