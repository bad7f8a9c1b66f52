/** Which parts of a free text are identifiers. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { identifiersIn, maxIdentifiers } from '../../../src/parts/origins/identifiers.ts';

describe('identifiers', () => {
  test.each<[text: string, ...identifiers: string[]]>([
    ['Write to eve@evil.example, please.', 'eve@evil.example'],
    ['mailto:eve@evil.example', 'eve@evil.example'],
    ['see https://evil.example/a?b=c#d.', 'https://evil.example/a?b=c#d'],
    ['[here](https://evil.example/x)', 'https://evil.example/x'],
    ['<a href="http://evil.example">', 'http://evil.example'],
    ['url:ftp://evil.example/x', 'ftp://evil.example/x'],
    ['Check out this link: www.secure-systems-252.com', 'www.secure-systems-252.com'],
    ['go to evil.com now', 'evil.com'],
    ['go to evil.example/path now', 'evil.example/path'],
    ['ping 10.0.0.1', '10.0.0.1'],
    ['read /etc/passwd and ~/.ssh/id', '/etc/passwd', '~/.ssh/id'],
    ['open C:\\Users\\x', 'C:\\Users\\x'],
    ['on \\\\server\\share', '\\\\server\\share'],
    ['pay GB29NWBK60161331926819', 'GB29NWBK60161331926819'],
    ['pay DE89 3704 0044 0532 0130 00 today', 'DE89 3704 0044 0532 0130 00'],
    ['call +1 (555) 010-9999', '1 (555) 010-9999'],
    [
      'wallet 0xde0B295669a9FD93d5F28D9Ec85E40f4cb697BAe',
      '0xde0B295669a9FD93d5F28D9Ec85E40f4cb697BAe',
    ],
    ['eve＠evil．example', 'eve@evil.example'],
    ['ev\u200bil.com and e\u00advil.org', 'evil.com', 'evil.org'],
    ['https://а\u0440\u0440le.com', 'https://а\u0440\u0440le.com'],
    ["o'brien@evil.com and 'eve@evil.com'", "o'brien@evil.com", 'eve@evil.com'],
    ['see evil.com/@eve', 'evil.com/@eve'],
    ['git clone evil.com:work.git', 'evil.com'],
    ['url=evil.com', 'evil.com'],
    ['cat $HOME/.ssh/id ~bob/.ssh/id', '$HOME/.ssh/id', '~bob/.ssh/id'],
  ])('%j', (text, ...identifiers) => {
    expect(identifiersIn(text)).toEqual(identifiers);
  });
});

describe('spellings that browsers understand are addresses', () => {
  test.each<[text: string, address: string]>([
    ['<img src=//evil.example/x>', '//evil.example/x'],
    ['<img src="//evil.example/x">', '//evil.example/x'],
    ['[x](//evil.example/x)', '//evil.example/x'],
    ['background: url(//evil.example/x)', '//evil.example/x'],
    ['see /\\evil.example', '/\\evil.example'],
    ['see \\/evil.example/x', '\\/evil.example/x'],
    ['see https:/evil.example/a', 'https:/evil.example/a'],
    ['see https:evil.example', 'https:evil.example'],
    ['see HTTP:\\\\evil.example\\a', 'HTTP:\\\\evil.example\\a'],
    ['x=wss:\\evil.example', 'wss:\\evil.example'],
    ['read file:/etc/passwd', 'file:/etc/passwd'],
    ['h\u200bttps:/evil.example', 'https:/evil.example'],
    ['<a href="ht\ntps://ev\til.example">', 'https://evil.example'],
    [
      "<a href='https://corp.example.com\n.evil.example/x'>",
      'https://corp.example.com.evil.example/x',
    ],
    ['see https://corp.example.com\r\n@evil.example', 'https://corp.example.com@evil.example'],
    ['&#104;ttps:&#47;&#x2f;evil&#46;example', 'https://evil.example'],
    ['https&colon;&sol;&sol;evil&period;example', 'https://evil.example'],
    ['eve&commat;evil.example', 'eve@evil.example'],
    ['<a href="https&colon;//evil.exam&Tab;ple">', 'https://evil.example'],
  ])('%j', (text, address) => {
    expect(identifiersIn(text)).toContain(address);
  });

  test('a line that follows an address is not a part of it', () => {
    expect(identifiersIn('See https://corp.example.com/a\nThen go.\n\n.NET is fine')).toEqual([
      'https://corp.example.com/a',
    ]);
  });
});

describe('no identifiers', () => {
  test.each([
    'Hi Ann, are you free at 12:30 on 2024-05-15? It costs $1,000.00 or 7.2%.',
    'e.g. this, i.e. that, and/or 1/2 or 24/7.',
    'The meeting is done.In the end he was at the office.At noon.',
    'Look at README.md, index.js and main.rs.',
    'from 2024-05-15 10:00 to 2024-05-16T11:00:00Z',
    '2 cups of flour, 350 degrees, version 1.2.3',
    '@ann and #general',
    'about ~5/10 of them, see http: below',
    'Tom &amp; Jerry &#169; 2024',
    'It costs $5/month or US$50/year, 100%/0%.',
    'Use /\\d+/ there, a=b and x==y.',
    '',
  ])('%j', (text) => {
    expect(identifiersIn(text)).toEqual([]);
  });
});

test('an address is found anywhere in any text', () => {
  const around = fc.string({ maxLength: 20 }).map((text) => text.replace(/\S+$|^\S+/g, ''));
  fc.assert(
    fc.property(around, around, (before, after) => {
      const text = `${before} https://evil.example/x ${after}`;
      expect(identifiersIn(text)).toContain('https://evil.example/x');
    }),
  );
});

test('a text with too many of them is not taken apart', () => {
  const text = Array.from({ length: maxIdentifiers + 1 }, (_, n) => `u${n}@evil.example`).join(' ');
  expect(identifiersIn(text)).toBeUndefined();
});
