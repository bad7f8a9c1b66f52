import { describe, expect, test } from 'vitest';
import { createBudget, withinBudget } from '../../../src/values/redaction/budget.ts';
import { redactText } from '../../../src/values/redaction/scrub.ts';
import { Secrets } from '../../../src/values/redaction/secrets.ts';
import { redacted } from '../../../src/values/redaction/spellings.ts';

function secretsOf(...texts: string[]): Secrets {
  const secrets = new Secrets();
  for (const text of texts) secrets.addText(text);
  return secrets;
}

describe('what counts as a secret', () => {
  test.each<[text: string, known: string[]]>([
    ['abcd', ['abcd']],
    ['abc', []],
    ['', []],
    ['     ', []],
    [' abcd\n', [' abcd\n', 'abcd']],
    [' abc', [' abc']],
    ['  a', []],
    ['\t abc\t', ['\t abc\t']],
  ])('of the text %j: %j', (text, known) => {
    expect([...secretsOf(text)]).toEqual(known);
  });

  test.each<[number: string, known: boolean]>([
    ['123456', true],
    ['12345', false],
    ['-12345', false],
    ['-1.23456', true],
    ['1.2345e10', true],
    ['0.0001', false],
  ])('the number %s: %s', (text, known) => {
    const secrets = new Secrets();
    secrets.addNumber(text);
    expect([...secrets]).toEqual(known ? [text] : []);
  });
});

describe('a set of secrets', () => {
  test('starts with those of another set, and shares nothing with it afterwards', () => {
    const known = secretsOf('abcd');
    const secrets = new Secrets(known);
    secrets.addText('efgh');
    known.addText('ijkl');
    expect([...secrets]).toEqual(['abcd', 'efgh']);
    expect([...known]).toEqual(['abcd', 'ijkl']);
  });

  test('says whether there is anything to hide', () => {
    const secrets = new Secrets();
    expect([secrets.none, secrets.lost]).toEqual([true, false]);
    secrets.addText('abcd');
    expect([secrets.none, secrets.lost]).toEqual([false, false]);
    secrets.lose();
    expect([secrets.none, secrets.lost]).toEqual([false, true]);
    expect(new Secrets(secrets).lost).toBe(true);
  });

  test('that was lost knows no texts, and learns none', () => {
    const secrets = secretsOf('abcd');
    expect(redactText('nothing', secrets)).toBe('nothing');
    secrets.lose();
    secrets.addText('efgh');
    expect([...secrets]).toEqual([]);
    expect(redactText('nothing', secrets)).toBe(redacted);
  });

  test('holds 500, however often each is added, and is lost with one more', () => {
    const secrets = new Secrets();
    for (let round = 0; round < 2; round++)
      for (let n = 0; n < 500; n++) secrets.addText(`secret-${n}`);
    expect([...secrets]).toHaveLength(500);
    expect(secrets.lost).toBe(false);
    secrets.addText('secret-500');
    expect(secrets.lost).toBe(true);
    expect([...secrets]).toEqual([]);
  });
});

test(
  'secrets are searched for by up to 50 000 characters of how they may be written, and lost ' +
    'with one more',
  () => {
    let made = 0;
    const letter = (number: number): string => String.fromCharCode(0x61 + (number % 26));
    const word = (length: number): string => {
      made += 1;
      return (letter(made / 26) + letter(made) + letter(made / 676)).padEnd(length, 'z');
    };
    // By its length, what a secret of letters takes: one of more than 64, 32 for each of 14
    // spellings.
    const takes = new Map([
      [65, 448],
      [7, 47],
      [4, 12],
    ]);
    const lostWith = (
      counts: readonly (readonly [length: number, count: number])[],
    ): { characters: number; lost: boolean } => {
      const secrets = new Secrets();
      let characters = 0;
      for (const [length, count] of counts) {
        for (let n = 0; n < count; n++) secrets.addText(word(length));
        characters += count * (takes.get(length) as number);
      }
      withinBudget(
        () => secrets.find('text', createBudget(Number.POSITIVE_INFINITY)),
        () => undefined,
      );
      return { characters, lost: secrets.lost };
    };
    expect(
      lostWith([
        [65, 110],
        [4, 60],
      ]),
    ).toEqual({ characters: 50_000, lost: false });
    expect(
      lostWith([
        [65, 110],
        [4, 17],
        [7, 11],
      ]),
    ).toEqual({ characters: 50_001, lost: true });
  },
);

describe('to find secrets in a text costs', () => {
  const cost = (text: string, ...secrets: string[]): number => {
    const budget = createBudget();
    secretsOf(...secrets).find(text, budget);
    return budget.spent;
  };
  const text = 'y'.repeat(9);

  test('nothing where the text is shorter than any secret', () => {
    expect(cost('yyy', 'abcd')).toBe(0);
    expect(cost('yyyy', 'abcd')).toBeGreaterThan(0);
  });

  // A secret: 140 to write its 14 spellings. The search: five a character of the different ones, up
  // to 32 of each, and five for its root. The text: one a character, and one.
  test.each<[what: string, secrets: string[], characters: number]>([
    ['as it is, and in hex', ['abcd'], 4 + 8],
    ['in base64 of three kinds as well', ['abcdefgh'], 8 + 16 + 10 + 10 + 10],
    ['in JSON, twice, and in two addresses', ['a b"c'], 5 + 6 + 8 + 9 + 7 + 10 + 6 + 6 + 6],
    ['two of them', ['abcd', 'efgh'], 2 * (4 + 8)],
  ])('what its search costs: %s', (_, secrets, characters) => {
    expect(cost(text, ...secrets)).toBe(140 * secrets.length + 5 * (1 + characters) + 10);
  });

  test('more for one over 64 characters, whose spellings may continue differently', () => {
    expect(cost(text, 'x'.repeat(64))).toBe(140 + 5 * (1 + 5 * 32) + 10);
    expect(cost(text, 'x'.repeat(65))).toBe(140 + 5 * (1 + 14 * 32) + 10);
  });

  test('a quarter of a step for each written character of a long one, rounded up', () => {
    const secret = Array.from({ length: 102 }, (_, index) =>
      String.fromCharCode(0x21 + (index % 90)),
    ).join('');
    const secrets = secretsOf(secret);
    secrets.find('text', createBudget());
    const budget = createBudget();
    // Compared from the 33rd character on; seven of its spellings begin as it does itself.
    secrets.find(secret, budget);
    const again = createBudget();
    secrets.find(secret, again);
    expect((budget.spent - again.spent) % 26).toBe(0);
    expect(budget.spent - again.spent).toBeGreaterThan(0);
  });

  test('all that is left of the budget where secrets were lost', () => {
    const secrets = new Secrets();
    secrets.lose();
    const budget = createBudget(1_000);
    expect(
      withinBudget(
        () => secrets.find(text, budget),
        () => 'over',
      ),
    ).toBe('over');
    expect(budget.spent).toBe(1_000);
  });
});

test.each([62, 63, 64, 65])(
  'a long secret with a character of two halves at its place %i is found in every spelling',
  (at) => {
    const letters = Array.from({ length: 104 }, (_, index) =>
      String.fromCharCode(0x61 + ((index * index) % 26)),
    ).join('');
    for (const character of ['\u{1f511}', '\u{10000}']) {
      const secret = letters.slice(0, at) + character + letters.slice(at);
      for (const text of [secret, encodeURIComponent(secret), Buffer.from(secret).toString('hex')])
        expect(redactText(`<${text}>`, secretsOf(secret))).toBe(`<${redacted}>`);
      expect(redactText(Buffer.from(secret).toString('base64'), secretsOf(secret))).toContain(
        redacted,
      );
    }
  },
);
