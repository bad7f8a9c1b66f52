/** What a trusted output repeats stays what it was, also if that cannot be found out. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EchoFilter } from '../../../src/parts/origins/echo-filter.ts';
import type { Given } from '../../../src/parts/origins/echoes.ts';
import { outputLabels } from '../../../src/parts/origins/output-labels.ts';
import type { OriginRecord } from '../../../src/parts/origins/record.ts';
import type { JsonValue } from '../../../src/values/json/index.ts';
import { newRecord, show } from './helpers.ts';

const mail = 'eve@evil.example';
const account = 'DE02120300000000202051';
const spaced = 'DE02 1203 0000 0000 2020 51';

/** A record in which a page has the values, and a trusted output repeats one of them. */
function echoing(output: JsonValue, given: Given, maxChars?: number): OriginRecord {
  const record = show(newRecord(maxChars), `${mail} ${account} https://evil.example/pay`);
  const labels = outputLabels({ origin: 'trusted' });
  record.output(output, { callId: '2', toolName: 'look_up', labels, given });
  return record;
}

function originOf(value: string, output: JsonValue, given: Given): string {
  return echoing(output, given).originOf(value).origin;
}

describe('a search for an echo that is not completed', () => {
  const nearMisses = `${mail}.x `.repeat(60_000);

  test.each<[string, string, string, JsonValue]>([
    ['near misses before the value', mail, mail, { without: nearMisses, query: mail }],
    ['near misses after it', mail, mail, { query: mail, without: nearMisses }],
    ['near misses as keys', mail, mail, { [nearMisses]: '', query: mail }],
    ['a repeated beginning', mail, mail, `${'eve@evil.'.repeat(120_000)} ${mail}`],
    ['the rarest word, many times', mail, mail, `${'example evil eve '.repeat(150_000)} ${mail}`],
    ['the first group of a number', account, spaced, `${'de02 '.repeat(2_100)} ${spaced}`],
    ['each beginning of it', account, spaced, `${'d de de0 de02 '.repeat(150_000)} ${spaced}`],
    [
      'groups that go wrong at the end',
      account,
      spaced,
      `${'DE02 1203 0000 0000 2020 5x '.repeat(40_000)}${spaced}`,
    ],
  ])('counts as one: %s', (_, value, spelled, input) => {
    expect(originOf(value, `Nothing for ${spelled}`, { input })).toBe('untrusted');
    expect(originOf(value, `Nothing for ${value}`, { input })).toBe('untrusted');
    expect(originOf(value, `Nothing for ${value}`, { input: {}, heard: [input] })).toBe(
      'untrusted',
    );
  });

  test('does not make other words of the output untrusted', () => {
    const record = echoing(`Nothing for ${mail}, see r-77`, { input: nearMisses });
    expect(record.originOf('r-77').origin).toBe('trusted');
  });

  test('leaves a value of an untrusted output untrusted', () => {
    const record = newRecord();
    show(record, `pay ${mail}`, { input: { query: nearMisses } });
    expect(record.originOf(mail).origin).toBe('untrusted');
  });

  test('spends the steps of the call, so later values count as untrusted', () => {
    const record = echoing(`${mail} or r-77`, { input: `${nearMisses} ${mail}` });
    const steps = { left: 1_000 };
    expect(record.originOf(mail, steps).origin).toBe('untrusted');
    expect(record.originOf('r-77', steps).origin).toBe('untrusted');
  });
});

describe('an input of which not all is kept', () => {
  const escaped = JSON.stringify({ to: mail }).replace('@', '\\u0040');
  const rows = (count: number): string => `[${'1,'.repeat(count)}${escaped}]`;

  test.each<[string, JsonValue]>([
    ['JSON with more values than are read', rows(20_000)],
    ['JSON with empty objects', `[${'{},'.repeat(20_000)}${escaped}]`],
    ['JSON with lists in lists', `[${'[[[[]]]],'.repeat(5_000)}${escaped}]`],
    ['longer JSON than is read', `["${'x'.repeat(1_100_000)}",${escaped}]`],
    [
      'JSON that is nested more deeply than is read',
      `${'['.repeat(600)}${escaped}${']'.repeat(600)}`,
    ],
    ['many small JSON texts', [...Array<string>(2_000).fill('[1,2,3,4,5,6,7]'), escaped]],
    ['many malformed JSON texts', [...Array<string>(2_000).fill('[x]'), escaped]],
    ['data that is nested more deeply than is read', nested(mail, 600)],
  ])('%s makes no word of the output trusted', (_, input) => {
    expect(originOf(mail, `Nothing for ${mail}`, { input })).toBe('untrusted');
    expect(originOf(mail, mail, { input: {}, heard: [input] })).toBe('untrusted');
  });

  test('nor does an input that cannot be read', () => {
    expect(originOf(mail, `Nothing for ${mail}`, { input: undefined })).toBe('untrusted');
  });

  test('nor one that does not fit into the record', () => {
    const input = `${'x'.repeat(5_000)} ${mail}`;
    const record = echoing(`Nothing for ${mail}`, { input }, 2_000);
    expect(record.originOf(mail).origin).toBe('untrusted');
    expect(record.isFull).toBe(true);
  });

  test('an input that is read vouches as before, next to the limits', () => {
    for (const input of [
      rows(4_000),
      `["${'x'.repeat(900_000)}",${escaped}]`,
      nested(escaped, 400),
    ]) {
      expect(originOf(mail, `Nothing for ${mail}`, { input })).toBe('untrusted');
      expect(originOf('r-77', 'See r-77', { input })).toBe('trusted');
    }
  });
});

function nested(value: string, depth: number): JsonValue {
  let found: JsonValue = value;
  for (let level = 0; level < depth; level++) found = [found];
  return found;
}

describe('what is compared', () => {
  test.each([
    ['three spaces', 'DE02   1203   0000   0000   2020   51'],
    ['line breaks', 'DE02\n1203\n0000\n0000\n2020\n51'],
    ['full stops', 'DE02.1203.0000.0000.2020.51'],
    ['slashes and tabs', 'DE02 /\t1203 /\t0000 /\t0000 /\t2020 /\t51'],
  ])('a number that the input has with %s between its groups', (_, input) => {
    expect(originOf(account, `Nothing for ${account}`, { input })).toBe('untrusted');
  });

  test.each([
    ['visible signs in the input', 'e\u200bve@evil.example', mail],
    ['and in the output', mail, 'e\u200bve@evil.example'],
    ['and in both', 'e\u200bve@evil.example', 'eve@ev\u2060il.example'],
    ['a soft hyphen', 'eve@evil.exam\u00adple', mail],
    ['a variation selector', 'eve@evil.example\ufe0f', mail],
  ])('texts without invisible signs: %s', (_, input, output) => {
    for (const value of [mail, input, output])
      expect(['untrusted', 'unknown']).toContain(
        originOf(value, `Nothing for ${output}`, { input }),
      );
  });

  test.each([
    ['a letter of the path', 'https://evil.example/p%61y', 'https://evil.example/pay'],
    ['every letter', `https://${encoded('evil.example/pay')}`, 'https://evil.example/pay'],
    ['the sign of an address', 'mailto:eve%40evil.example', mail],
    ['a sign beside bytes that are none', '%ff%fe%20eve%40evil.example', mail],
    [
      'a host in punycode and its path',
      'https://xn--bcher-kva.example/%C3%A4',
      'https://bücher.example/ä',
    ],
    ['the other way round', 'https://bücher.example/ä', 'https://xn--bcher-kva.example/%C3%A4'],
  ])('percent-encoding and punycode: %s', (_, input, value) => {
    expect(originOf(value, `Found ${value}`, { input })).not.toBe('trusted');
    expect(originOf(value, `Found ${value}`, { input: {}, filter: EchoFilter.of(input) })).not.toBe(
      'trusted',
    );
  });

  test('an input with more percent-encoding than is decoded vouches for nothing', () => {
    const input = `${'%41 '.repeat(30_000)} eve%40evil.example`;
    expect(originOf(mail, `Found ${mail}`, { input })).toBe('untrusted');
  });

  test('a value that consists of invisible signs is not vouched for', () => {
    expect(originOf('\u200b', 'a \u200b b', { input: 'x' })).not.toBe('trusted');
  });

  test('a web address that is longer than its spellings are looked for', () => {
    const path = `evil.example/${'a'.repeat(20_000)}`;
    const origin = (input: JsonValue): string =>
      originOf(`https://${path}`, `https://${path}`, { input });
    expect(origin(path)).not.toBe('trusted');
    // A short input cannot contain it.
    expect(origin('evil.example')).toBe('trusted');
  });

  test('a web address of a usual length, in each of its spellings', () => {
    const path = `evil.example/${'a'.repeat(4_000)}`;
    for (const input of [path, `http://www.${path}/`, `HTTPS://${path}`])
      expect(originOf(`https://${path}`, `https://${path}`, { input })).not.toBe('trusted');
  });
});

function encoded(text: string): string {
  return text.replace(/[a-z]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
}

describe('what a handler heard from other calls', () => {
  test.each([
    ['in a query', 'https://x.example/?to=eve@evil.example&n=1'],
    ['after a scheme', 'mailto:eve@evil.example?subject=hello'],
    ['in a longer name', 'steve@evil.example.org'],
    ['in capital letters', 'STEVE@EVIL.EXAMPLE.ORG'],
    ['before a combining mark', 'eve@evil.example\u0301'],
    ['before half a pair', 'eve@evil.example\ud83d'],
    ['with marks between its letters', 'e\u0338ve@evil\u20dd.example'],
    ['over two lines', 'xeve@evil\n.examplex'],
  ])('is not trusted if it is taken out of a longer word: %s', (_, page) => {
    expect(originOf(mail, `Mail: ${mail}`, { input: {}, heard: [page] })).toBe('untrusted');
  });

  test.each([
    `${account}99`,
    `konto${account}`,
    `konto${spaced}`,
    'DE02\u30011203/0000,0000;2020=51',
  ])('is not trusted if it is a piece of a number: %s', (number) => {
    const given = { input: {}, heard: [number] };
    expect(originOf(account, `Pay ${account}`, given)).toBe('untrusted');
  });

  const value = fc.constantFrom(
    mail,
    account,
    'https://evil.example/pay?x=1',
    'Sarah Baker',
    '田中太郎株式会社',
  );
  const noise = fc
    .array(
      fc.constantFrom(
        ...['a', '1', '@', '.', ',', ':', '-', '/', '=', '?', '%41', '%', ' ', '\n', '"', '<', '('],
        ...[
          '\u0301',
          '\u0338',
          '\u200b',
          '\ufeff',
          '田',
          'か',
          '\u3099',
          'ﾞ',
          '＠',
          'é',
          '😀',
          '\ud83d',
        ],
        ...[
          '\udc00',
          '\ufdfa',
          '\u3316',
          'ﬁ',
          'İ',
          'Σ',
          '\u1161',
          '\u11a8',
          '한',
          '\\u0041',
          '\0',
          '\u20e3',
        ],
      ),
      { maxLength: 6 },
    )
    .map((signs) => signs.join(''));

  test('is not trusted, wherever a handler cuts it out and however it normalises it', () => {
    const forms = fc.constantFrom<((text: string) => string)[]>(
      (text) => text,
      (text) => text.toLowerCase(),
      (text) => text.normalize('NFD'),
      (text) => text.normalize('NFKC'),
      (text) => text.replace(/\u200b|\ufeff|\u0301|\u0338/g, ''),
      (text) => text.replace(/\s+/g, ' ').trim(),
    );
    fc.assert(
      fc.property(
        noise,
        value,
        noise,
        fc.nat(),
        fc.nat(),
        forms,
        (before, one, after, a, b, form) => {
          const heard = before + one + after;
          const from = a % (before.length + 1);
          const to = before.length + one.length + (b % (after.length + 1));
          const output = `Found ${form(heard.slice(from, to))} there`;
          expect(originOf(one, output, { input: {}, heard: [heard] })).not.toBe('trusted');
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test.each([
    ['a number in a query', account, 'a=1&iban=DE02-1203-0000-0000-2020-51&b'],
    ['a number after a letter', account, 'xDE02 1203 0000 0000 2020 51'],
    ['a telephone number in a link', '+491701234567', 'tel:+49-170-1234567'],
    ['one between slashes', '01701234567', '/0170-1234567/'],
    ['emphasis', account, 'DE02 **1203** 0000 __0000__ 2020 51'],
    ['tags', account, 'DE02 <b class="x">1203</b> 0000 0000 2020 51'],
    ['character references', mail, 'x=&#101;ve&commat;evil.example'],
    ['commas', account, 'xDE02,1203,0000,0000,2020,51'],
    ['spaces', mail, 'eve @ evil . example'],
    ['a line end', mail, 'eve@evil.\nexample'],
    ['a null character', mail, 'eve\0@evil.example'],
    ['accents', mail, `${mail}${'\u0301'.repeat(10_000)}`],
    ['escapes in one of several lines', mail, '{"a":"\\u0065ve@evil.example"}\n{"b":1}'],
    ['escapes behind a key that comes twice', mail, '{"a":"\\u0065ve@evil.example","a":1}'],
    ['spaces in a longer word', 'Eve Miller Road', 'x=Eve\n\tMiller Road&'],
    ['two fields', mail, '["eve@ev", "il.example"]'],
  ])('is not trusted without what was between its signs: %s', (_, value, page) => {
    expect(originOf(value, `Found ${value}`, { input: {}, heard: [page] })).not.toBe('trusted');
  });

  test('is not trusted whatever signs are between its letters', () => {
    const sign = fc.constantFrom(
      ...' -./_*:,;|+=~"\'()[]\n\t\0\u00ad\u200b\u0301',
      '<b>',
      '&#8203;',
    );
    const signs = fc.array(fc.array(sign, { maxLength: 3 }), { minLength: 16, maxLength: 16 });
    fc.assert(
      fc.property(fc.constantFrom(mail, account), signs, (value, all) => {
        const page = [...value].map((char, at) => char + (all[at % 16] ?? []).join('')).join('');
        const given = { input: {}, heard: [`x${page}`] };
        expect(originOf(value, `Found ${value}`, given)).not.toBe('trusted');
      }),
    );
  });

  test('is trusted if nothing was heard that it could be made of', () => {
    const heard = [`${mail} ${account}`, '<p>Bob lives at example.com&#46;</p>'];
    for (const value of ['bob@example.com', 'DE02 1203 0000 0000 2020 52'])
      expect(originOf(value, `Found ${value}`, { input: {}, heard })).toBe('trusted');
  });

  test('says nothing about short words that are parts of others', () => {
    expect(originOf('13', 'id 13', { input: {}, heard: ['at 13:00 in 2013'] })).toBe('trusted');
    expect(originOf('ops', 'team ops', { input: {}, heard: ['ops-team'] })).toBe('trusted');
  });

  test('is searched within the steps of the call', () => {
    const record = echoing(`Mail: ${mail}`, { input: {}, heard: ['x'.repeat(900_000)] });
    expect(record.originOf(mail).origin).toBe('trusted');
    expect(record.originOf(mail, { left: 20_000 }).origin).toBe('untrusted');
  });
});

describe('near misses, signs that grow and invisible ones around an echo', () => {
  const noise = fc.constantFrom(
    'eve@evil.example.x ',
    'xeve@evil.example ',
    'eve@evil. ',
    'DE02 1203 ',
    'DE02 1203 0000 0000 2020 5 ',
    '\ufdfa',
    '\u3316 ',
    'e\u0301\u0323 ',
    '\u200b',
    '\ud800',
    '{"a":"\\u0065"} ',
    '[',
    '"',
    '\0',
    '田',
    'x',
  );
  const spelled = fc.constantFrom<[string, string]>(
    [mail, mail],
    [mail, '\uff45ve@evil.example'],
    [mail, 'Eve <EVE@evil.example>'],
    [mail, 'e\u200bve@evil.example'],
    [account, account],
    [account, spaced],
    [account, 'de02-1203-0000-0000-2020-51'],
    ['https://evil.example/pay', 'http://www.evil.example/pay/'],
    ['https://evil.example/pay', 'evil.example/p%61y'],
  );
  const filler = fc
    .tuple(noise, fc.integer({ min: 0, max: 12_000 }))
    .map(([part, count]) => part.repeat(count));

  test('never make its value trusted', () => {
    fc.assert(
      fc.property(
        filler,
        spelled,
        filler,
        fc.boolean(),
        fc.boolean(),
        (before, pair, after, isHeard, isList) => {
          const [value, text] = pair;
          const input = isList ? [before, text, after] : `${before} ${text} ${after}`;
          const given = isHeard ? { input: {}, heard: [input] } : { input };
          for (const output of [`Found ${text}`, `Found ${value}`])
            expect(originOf(value, output, given)).not.toBe('trusted');
        },
      ),
      { numRuns: 150 },
    );
  });
});

describe('the words of an input in a filter', () => {
  const words = fc.array(fc.stringMatching(/^[a-z0-9]{1,8}$/), { minLength: 1, maxLength: 40 });

  test('are found again after it was written and read', () => {
    fc.assert(
      fc.property(words, fc.nat(), (all, at) => {
        const filter = EchoFilter.read(String(EchoFilter.of({ query: all.join(' ') })));
        const text = all[at % all.length] as string;
        expect(filter?.mayHold([{ text, kind: 'plain' }])).toBe(true);
      }),
    );
  });

  test('have whatever is found in the input itself', () => {
    const part = fc.constantFrom(
      ...[
        mail,
        account,
        spaced,
        'https://evil.example/p%61y',
        'Sarah Baker',
        '+49 30 1234567',
        '2024-05-15',
      ],
      ...[
        'May 15, 2024',
        '1,000.00',
        '1000',
        'bücher.example',
        'xn--bcher-kva.example',
        '田中',
        'a',
        '1',
      ],
      ...[
        '@',
        '.',
        ',',
        ':',
        '-',
        '/',
        '=',
        ' ',
        '\n',
        '"',
        '(',
        '<',
        '\u0301',
        '\u200b',
        '＠',
        '\u3316',
        '\0',
      ],
    );
    const text = fc.array(part, { minLength: 1, maxLength: 8 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, text, fc.nat(), fc.nat(), (input, output, a, b) => {
        const from = a % output.length;
        const value = output.slice(from, from + 1 + (b % (output.length - from)));
        const filter = EchoFilter.read(String(EchoFilter.of(input)));
        if (originOf(value, output, { input }) !== 'trusted')
          expect(originOf(value, output, { input: {}, filter })).not.toBe('trusted');
      }),
      { numRuns: 1_000 },
    );
  });

  test('tell what an ordinary input has from what it has not', () => {
    const filter = EchoFilter.of({
      query: 'letters to bob@example.com about the 2nd of May',
      limit: 20,
    });
    const has = (text: string): boolean => filter.mayHold([{ text, kind: 'plain' }]);
    expect(['bob@example.com', '20', 'query', 'limit', 'of may'].every(has)).toBe(true);
    let wrong = 0;
    for (let index = 0; index < 10_000; index++) if (has(`user${index}`)) wrong++;
    expect(wrong).toBeLessThan(10);
  });

  test('are compared with a number in groups', () => {
    const filter = EchoFilter.of(spaced);
    expect(filter.mayHold([{ text: account.toLowerCase(), kind: 'digits' }])).toBe(true);
    expect(filter.mayHold([{ text: 'de02120300000000202052', kind: 'digits' }])).toBe(false);
    expect(EchoFilter.of(account).mayHold([{ text: account.toLowerCase(), kind: 'digits' }])).toBe(
      true,
    );
  });

  test('may be any word if the input is too long, or cannot be read', () => {
    for (const input of [undefined, 'x'.repeat(70_000), nested(mail, 600)]) {
      const filter = EchoFilter.of(input);
      expect(filter.mayHold([{ text: 'anything', kind: 'plain' }])).toBe(true);
      expect(filter.mayHold([{ text: '123456', kind: 'digits' }])).toBe(true);
    }
  });

  test('can be joined with others', () => {
    const filter = EchoFilter.of('ann');
    filter.join(EchoFilter.of('bob'));
    const has = (text: string): boolean => filter.mayHold([{ text, kind: 'plain' }]);
    expect([has('ann'), has('bob'), has('eve')]).toEqual([true, true, false]);
  });

  test.each([
    undefined,
    null,
    7,
    '',
    'AAAA',
    '*'.repeat(684),
    'A'.repeat(684),
    `${'A'.repeat(700)}==`,
  ])('are not read from %j', (text) => {
    expect(EchoFilter.read(text)).toBeUndefined();
  });

  test('take at most 700 characters, whatever the input is', () => {
    for (const input of [{}, 'x', 'x y '.repeat(100_000)])
      expect(String(EchoFilter.of(input)).length).toBeLessThan(700);
  });

  test('make an output that may repeat them untrusted, and nothing else', () => {
    const filter = EchoFilter.of({ query: mail });
    expect(originOf(mail, `Nothing for ${mail}`, { input: {}, filter })).toBe('untrusted');
    expect(originOf('r-77', `Nothing for ${mail}, r-77`, { input: {}, filter })).toBe('trusted');
  });
});
