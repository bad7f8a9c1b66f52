import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../../src/values/json/index.ts';
import { createBudget } from '../../../src/values/redaction/budget.ts';
import { holdsSecret, redactText, scrubStrings } from '../../../src/values/redaction/scrub.ts';
import { Secrets } from '../../../src/values/redaction/secrets.ts';
import { redacted } from '../../../src/values/redaction/spellings.ts';

function secretsOf(texts: Iterable<string>): Secrets {
  const secrets = new Secrets();
  for (const text of texts) secrets.addText(text);
  return secrets;
}

const hide = (text: string, secrets: Iterable<string>): string =>
  redactText(text, secretsOf(secrets));

describe('redactText', () => {
  test.each<[rule: string, text: string, secrets: string[], hidden: string]>([
    ['nothing to hide', 'plain', ['other'], 'plain'],
    [
      'every occurrence',
      'key hunter2, again hunter2!',
      ['hunter2'],
      `key ${redacted}, again ${redacted}!`,
    ],
    ['side by side', 'hunter2hunter2', ['hunter2'], redacted + redacted],
    ['the longer of two', 'abcdef abcd', ['abcd', 'abcdef'], `${redacted} ${redacted}`],
    ['overlapping secrets leave no remainder', 'abcdefghij', ['abcdef', 'defghij'], redacted],
    ['a secret that overlaps itself', 'xababababax', ['ababa'], `x${redacted}x`],
    [
      'long and overlapping itself',
      `<${'ab'.repeat(9)}a>`,
      [`${'ab'.repeat(5)}a`],
      `<${redacted}>`,
    ],
    ['escaped in JSON', 'body {"k":"a\\"b\\\\c\\n"}', ['a"b\\c\n'], `body {"k":"${redacted}"}`],
    [
      'escaped twice',
      JSON.stringify({ inner: JSON.stringify({ k: 'a"b\nc' }) }),
      ['a"b\nc'],
      `{"inner":"{\\"k\\":\\"${redacted}\\"}"}`,
    ],
    ['URI-encoded', 'GET /?k=p%40ss%2Fw%20rd', ['p@ss/w rd'], `GET /?k=${redacted}`],
    ['URI-encoded in lower case', 'GET /?k=p%40ss%2fw%20rd', ['p@ss/w rd'], `GET /?k=${redacted}`],
    ['form-encoded', 'k=p%40ss%2Fw+rd', ['p@ss/w rd'], `k=${redacted}`],
    ['an address with a path', 'open p@ss/w%20rd', ['p@ss/w rd'], `open ${redacted}`],
    [
      'signs of regular expressions and of replacement',
      'a $& (.*) b',
      ['$& (.*)'],
      `a ${redacted} b`,
    ],
    [
      'the placeholder is not searched again',
      'my redacted word',
      ['word', 'redacted'],
      `my ${redacted} ${redacted}`,
    ],
    ['lone surrogates', 'x \ud800abc y', ['\ud800abc'], `x ${redacted} y`],
    ['empty secrets are ignored', 'text', ['', 'none'], 'text'],
    ['a secret longer than the text', 'ab', ['abc'], 'ab'],
  ])('%s', (_, text, secrets, hidden) => {
    expect(hide(text, secrets)).toBe(hidden);
  });

  test('no secret is left in any text', () => {
    const part = fc.string({
      unit: fc.constantFrom('x', 'y', 'z', '"', '/'),
      minLength: 4,
      maxLength: 12,
    });
    fc.assert(
      fc.property(
        fc.uniqueArray(part, { maxLength: 4 }),
        fc.array(part, { maxLength: 6 }),
        (secrets, rest) => {
          const texts = [...secrets, ...rest];
          for (const text of [
            texts.join(''),
            texts.join('-'),
            JSON.stringify(texts),
            texts.map(encodeURIComponent).join('&'),
          ]) {
            const left = hide(text, secrets);
            for (const value of secrets) {
              expect(left).not.toContain(value);
              expect(left).not.toContain(JSON.stringify(value).slice(1, -1));
              expect(left).not.toContain(encodeURIComponent(value));
            }
          }
        },
      ),
    );
  });
});

describe('a secret in another spelling is hidden', () => {
  const secret = 'hunter2-Secret/value+1';
  const bytes = (text: string): Buffer => Buffer.from(text, 'utf8');
  test.each<[spelling: string, text: string, hidden: string]>([
    ['in upper case', `<${secret.toUpperCase()}>`, `<${redacted}>`],
    ['in lower case', `<${secret.toLowerCase()}>`, `<${redacted}>`],
    ['in hex', `<${bytes(secret).toString('hex')}>`, `<${redacted}>`],
    ['in upper-case hex', `<${bytes(secret).toString('hex').toUpperCase()}>`, `<${redacted}>`],
    ['in hex within longer data', bytes(`ab${secret}cd`).toString('hex'), `6162${redacted}6364`],
  ])('%s', (_, text, hidden) => {
    expect(hide(text, [secret])).toBe(hidden);
  });

  test.each(['base64', 'base64url'] as const)(
    'in %s, whatever stands before and after it',
    (encoding) => {
      for (const value of [secret, 'hunter2', '\u00ff\u00fe>>>???\u00ff\u00fe']) {
        for (const before of ['', 'u', 'us', 'use', 'user:']) {
          for (const after of ['', 'x', 'xy', 'xyz']) {
            const text = bytes(before + value + after).toString(encoding);
            const kept = hide(text, [value]).split(redacted);
            expect(kept).toHaveLength(2);
            // A character at either end belongs to the neighbours as well.
            const left = (kept[0] as string).length - Math.floor((bytes(before).length * 8) / 6);
            expect(left).toBeLessThanOrEqual(1);
            expect((kept[1] as string).replaceAll('=', '').length).toBeLessThanOrEqual(
              Math.ceil((bytes(after).length * 8) / 6) + 1,
            );
          }
        }
      }
    },
  );

  test('but letters beyond ASCII only in their own case', () => {
    expect(hide('STRA\u00c9-GEHEIM stra\u00e9-GEHEIM', ['stra\u00e9-geheim'])).toBe(
      `STRA\u00c9-GEHEIM ${redacted}`,
    );
  });
});

describe('a long secret', () => {
  const long =
    '-----BEGIN ' +
    `KEY-----\n${Array.from({ length: 200 }, (_, index) => `line ${index} of "it"`).join('\n')}`;
  test.each<[spelling: string, text: string]>([
    ['as it is', long],
    ['in JSON', JSON.stringify(long).slice(1, -1)],
    ['in JSON in JSON', JSON.stringify(JSON.stringify(long)).slice(3, -3)],
    ['percent-encoded', encodeURIComponent(long)],
    ['in hex', Buffer.from(long).toString('hex')],
  ])('is found %s', (_, text) => {
    expect(hide(`a ${text} b ${text} c`, [long])).toBe(`a ${redacted} b ${redacted} c`);
  });

  test('is not found if only its beginning occurs', () => {
    const text = `a ${long.slice(0, 300)} b`;
    expect(hide(text, [long])).toBe(text);
    expect(holdsSecret(text, secretsOf([long]))).toBe(false);
  });

  test('that begins like another one is distinguished from it', () => {
    const [one, other] = [`${'x'.repeat(100)}1`, `${'x'.repeat(100)}2`];
    expect(hide(`<${other}>`, [one])).toBe(`<${other}>`);
    expect(hide(`<${other}>`, [one, other])).toBe(`<${redacted}>`);
  });

  test('may have half a surrogate pair where its beginning ends', () => {
    for (let at = 28; at < 68; at++) {
      const pair = `${'x'.repeat(at)}\u{1f511}${'y'.repeat(80)}`;
      expect(hide(JSON.stringify([pair, encodeURIComponent(pair)]), [pair])).toBe(
        `["${redacted}","${redacted}"]`,
      );
    }
  });
});

describe('values', () => {
  test('lose secrets in texts, numbers and keys, and share what holds none', () => {
    const secrets = secretsOf(['hunter2']);
    secrets.addNumber('12345678');
    const kept = { list: [1, 'plain'] };
    const value = JSON.parse(
      '{"a":"is hunter2","__proto__":"hunter2","b":[12345678,{"hunter2":true}]}',
    ) as JsonValue;
    const scrubbed = scrubStrings({ value, kept }, secrets) as {
      value: JsonValue;
      kept: JsonValue;
    };
    expect(JSON.stringify(scrubbed.value)).toBe(
      `{"a":"is ${redacted}","__proto__":"${redacted}","b":["${redacted}",{"${redacted}":true}]}`,
    );
    expect(scrubbed.kept).toBe(kept);
    expect(JSON.stringify(value)).toContain('hunter2');
  });

  test('are searched for secrets that were added since', () => {
    const secrets = secretsOf(['hunter2']);
    expect(scrubStrings(['hunter2 hunter3'], secrets)).toEqual([`${redacted} hunter3`]);
    secrets.addText('hunter3');
    expect(scrubStrings(['hunter2 hunter3'], secrets)).toEqual([`${redacted} ${redacted}`]);
  });
});

describe('work is counted in steps, and bounded', () => {
  const hostile: [what: string, secrets: string[], text: string][] = [
    [
      'a text of one letter, and secrets of it',
      ['aaaa', 'a'.repeat(500_000)],
      'a'.repeat(1_000_000),
    ],
    [
      'a secret that almost stands everywhere',
      [`${'a'.repeat(200_000)}b${'a'.repeat(200_000)}`],
      'a'.repeat(1_000_000),
    ],
    [
      'secrets that are beginnings of each other',
      Array.from({ length: 200 }, (_, index) => 'a'.repeat(index + 4)),
      'a'.repeat(500_000),
    ],
    [
      'secrets with one long beginning',
      Array.from({ length: 400 }, (_, index) => `${'a'.repeat(40)}${index}`),
      'a'.repeat(500_000),
    ],
    ['secrets that alternate', ['abab', 'babab', 'ab'.repeat(16)], 'ab'.repeat(500_000)],
  ];
  test.each(hostile)('%s', (_, secrets, text) => {
    const budget = createBudget();
    redactText(text, secretsOf(secrets), budget);
    expect(budget.spent).toBeLessThanOrEqual(budget.limit);
    // A small budget hides the whole, and is never exceeded either.
    const small = createBudget(10_000);
    expect(redactText(text, secretsOf(secrets), small)).toBe(redacted);
    expect(small.spent).toBe(small.limit);
  });

  test('hostile texts are still searched exactly', () => {
    const text = 'a'.repeat(1_000_000);
    // Compared here, for a failure would print a megabyte.
    expect(hide(text, [`${'a'.repeat(200_000)}b${'a'.repeat(200_000)}`]) === text).toBe(true);
    expect(hide(text, [`${'a'.repeat(300)}b`]) === text).toBe(true);
    expect(hide(`${text}b`, [`${'a'.repeat(300)}b`]) === `${'a'.repeat(999_700)}${redacted}`).toBe(
      true,
    );
  });

  test('steps grow with the text and not with the number of secrets', () => {
    const text = 'nothing of this is secret '.repeat(8_000);
    const cost = (count: number): number => {
      const secrets = secretsOf(Array.from({ length: count }, (_, index) => `secret-${index}`));
      redactText('to build the search', secrets);
      const budget = createBudget();
      expect(redactText(text, secrets, budget)).toBe(text);
      return budget.spent;
    };
    expect(cost(400)).toBe(cost(1));
  });

  test('the search is built once for a set of secrets, and once more when it has grown', () => {
    const secrets = secretsOf(['hunter2-hunter2']);
    const cost = (): number => {
      const budget = createBudget();
      redactText('text', secrets, budget);
      return budget.spent;
    };
    const first = cost();
    const second = cost();
    expect(second).toBeLessThan(first / 20);
    secrets.addText('hunter2-hunter2');
    expect(cost()).toBe(second);
    secrets.addText('hunter3-hunter3');
    expect(cost()).toBeGreaterThan(first);
    expect(cost()).toBe(second);
  });

  test('a payload with 20 secrets and 200 KB is redacted precisely', () => {
    const secrets = Array.from(
      { length: 20 },
      (_, index) => `correct horse ${index} battery staple`,
    );
    const rows = Array.from({ length: 2_000 }, (_, index) => ({
      id: index,
      text: `row ${index} ${'.'.repeat(80)} ${secrets[index % 20]}!`,
    }));
    const budget = createBudget();
    const scrubbed = scrubStrings(rows, secretsOf(secrets), budget);
    expect(scrubbed).toEqual(
      rows.map(({ id }) => ({ id, text: `row ${id} ${'.'.repeat(80)} ${redacted}!` })),
    );
    expect(budget.spent).toBeLessThan(budget.limit / 4);
  });

  test('so is one whose secrets begin alike, as tokens with one header do', () => {
    const header = 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiI';
    const secrets = Array.from(
      { length: 50 },
      (_, index) => `${header}${String(index).repeat(100)}`,
    );
    const rows = Array.from(
      { length: 1_000 },
      (_, index) => `${index} ${secrets[index % 50]} and ${header}...`,
    );
    expect(scrubStrings(rows, secretsOf(secrets))).toEqual(
      rows.map((_, index) => `${index} ${redacted} and ${header}...`),
    );
  });

  test('over the budget, the payload and everything after it is hidden', () => {
    const secrets = secretsOf(['hunter2']);
    const budget = createBudget(5_000);
    expect(scrubStrings(['x'.repeat(10_000), 'y'], secrets, budget)).toBe(redacted);
    expect(redactText('short text', secrets, budget)).toBe(redacted);
  });

  test.each([
    ['too many secrets', Array.from({ length: 501 }, (_, index) => `secret-${index}`)],
    [
      'too many characters',
      Array.from({ length: 500 }, (_, index) => `"p@ss"/${index}/${'\u00e9'.repeat(60)}`),
    ],
  ])('with %s everything is hidden, and stays so', (_, texts) => {
    const secrets = secretsOf(texts);
    expect(redactText('some text', secrets)).toBe(redacted);
    expect(scrubStrings({ some: 'text' }, secrets)).toBe(redacted);
    expect(redactText('some text', new Secrets(secrets))).toBe(redacted);
    expect(holdsSecret('some text', secrets)).toBe(true);
  });
});

describe('scrubbing spends', () => {
  // The search for one secret of four characters takes 205 steps to build; then each text takes one
  // a character, and one.
  test.each<[what: string, value: JsonValue, steps: number]>([
    ['ten steps a value', [null, true, {}, []], 50],
    ['no more for a text that is too short for a secret', 'abc', 10],
    ['what the search of a text takes', 'x is abcd', 10 + 205 + 10],
    ['the same for numbers', 123456, 10 + 205 + 7],
    ['the same for keys', { wxyz: 1 }, 20 + 205 + 5],
    [
      'the same again for a key that goes along with one that holds a secret',
      { abcd: 1, wxyz: 1 },
      30 + 205 + 5 * 3,
    ],
  ])('%s', (_, value, steps) => {
    const budget = createBudget();
    scrubStrings(value, secretsOf(['abcd']), budget);
    expect(budget.spent).toBe(steps);
  });

  test('nothing where there are no secrets', () => {
    const budget = createBudget(0);
    const value = { a: ['text'] };
    expect(scrubStrings(value, new Secrets(), budget)).toBe(value);
    expect(redactText('text', new Secrets(), budget)).toBe('text');
    expect(holdsSecret('text', new Secrets())).toBe(false);
    expect(budget.spent).toBe(0);
  });
});

describe('of two secrets in a text', () => {
  test.each<[what: string, text: string, hidden: string]>([
    ['that touch, each is hidden by itself', '<efghabcd>', `<${redacted}${redacted}>`],
    ['that share a character, both are hidden at once', '<abcdxyz>', `<${redacted}>`],
    ['of which one goes on in the other, and on in a third', '<abcdxyzwvut>', `<${redacted}>`],
    ['one at each end', 'abcd..efgh', `${redacted}..${redacted}`],
    ['one in the other', '..abcdeabcde..', `..${redacted}${redacted}..`],
  ])('%s', (_, text, hidden) => {
    expect(hide(text, ['abcd', 'efgh', 'dxyz', 'zwvut', 'abcde', 'bcde'])).toBe(hidden);
  });
});
