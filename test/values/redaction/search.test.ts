import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Budget, createBudget } from '../../../src/values/redaction/budget.ts';
import {
  createSearch,
  type Form,
  longestPrefix,
  type Search,
} from '../../../src/values/redaction/search.ts';

function formOf(text: string, note: () => void = () => {}): Form {
  if (text.length <= longestPrefix) return { prefix: text, whole: undefined };
  const whole = (): string => {
    note();
    return text;
  };
  return { prefix: text.slice(0, longestPrefix), whole };
}

const searchFor = (...texts: string[]): Search =>
  createSearch(
    texts.map((text) => formOf(text)),
    createBudget(),
  );
const found = (
  search: Search,
  text: string,
  budget: Budget = createBudget(),
): number[] | undefined => {
  const lengths = search.find(text, budget);
  return lengths === undefined ? undefined : [...lengths];
};

describe('a search', () => {
  test('gives, for each place, the length of the longest form that starts there', () => {
    expect(found(searchFor('abc', 'abcde', 'cd'), 'xabcdexabcx')).toEqual([
      0, 5, 0, 2, 0, 0, 0, 3, 0, 0, 0,
    ]);
  });

  test('finds a form at the end of what only began as another, and as yet another', () => {
    const orders = [
      ['abcde', 'bcdz', 'cd'],
      ['cd', 'bcdz', 'abcde'],
      ['bcdz', 'abcde', 'cd'],
    ];
    for (const forms of orders)
      expect(found(searchFor(...forms), 'abcd.')).toEqual([0, 0, 2, 0, 0]);
  });

  test('finds nothing if no form occurs', () => {
    expect(found(searchFor('abc', 'x'.repeat(40)), 'abxbc')).toBeUndefined();
    expect(found(searchFor(), 'abc')).toBeUndefined();
    expect(found(searchFor('abc'), '')).toBeUndefined();
  });

  test(
    'gives nothing where a long form only begins, or goes on as one without its first character ' +
      'would',
    () => {
      const form = `${'a'.repeat(50)}b`;
      for (const text of [
        form.slice(0, 40),
        `${form.slice(0, 50)}c`,
        form.slice(1),
        `${form.slice(1)}${'a'.repeat(60)}`,
        'a'.repeat(200),
      ])
        expect(found(searchFor(form), text)).toBeUndefined();
    },
  );

  test(
    'gives the longest of long forms that begin alike, in whichever order they came, and ' +
      'whichever search finds them',
    () => {
      const short = 'a'.repeat(40);
      const long = `${short}ab`;
      for (const forms of [
        [short, long],
        [long, short],
      ]) {
        expect(found(searchFor(...forms), `${long}-`)?.slice(0, 2)).toEqual([42, 40]);
        // So many places that almost fit that the other search takes over.
        expect(found(searchFor(...forms), `${'a'.repeat(100)}b`)).toEqual([
          ...Array(59).fill(40),
          42,
          40,
          ...Array(40).fill(0),
        ]);
      }
    },
  );

  test(
    'finds a long form wherever it stands, also at both ends of a text that looks like it ' +
      'everywhere',
    () => {
      const form = `b${'a'.repeat(39)}`;
      for (const between of [
        '',
        'b',
        'a',
        'ba',
        `b${'a'.repeat(38)}`,
        `b${'a'.repeat(38)}`.repeat(20),
      ]) {
        const text = form + between + form;
        expect(found(searchFor(form), text)).toEqual(
          [...text].map((_, at) => (text.startsWith(form, at) ? 40 : 0)),
        );
      }
    },
  );

  test.each<[form: string, text: string, same: boolean]>([
    ['az', 'AZ', true],
    ['AZ', 'az', true],
    ['@', '`', false],
    ['[', '{', false],
    ['\u00e9', '\u00c9', false],
    ['\u0141', 'a', false],
    ['\u0100a', '\u0100A', true],
  ])(
    'takes %j and %j for the same, or not: ASCII letters alone have no case',
    (form, text, same) => {
      expect(found(searchFor(form), text) !== undefined).toBe(same);
      const longer = (part: string): string => '-'.repeat(40) + part;
      expect(found(searchFor(longer(form)), longer(text)) !== undefined).toBe(same);
    },
  );

  test('distinguishes forms whose characters are beyond Latin-1', () => {
    const forms = Array.from({ length: 200 }, (_, index) =>
      String.fromCharCode(0x4e00 + index, 0x5e00 + index, 0x4e00 + index),
    );
    const search = searchFor(...forms);
    for (const form of forms) expect(found(search, `\u4dff${form}\u6000`)).toEqual([0, 3, 0, 0, 0]);
    expect(found(search, '\u4e00\u5e01\u4e00')).toBeUndefined();
    expect(found(search, '\u6e00')).toBeUndefined();
  });

  // A form that lies within a longer one need not be given by itself: both are hidden together.
  test('covers exactly what searching for each form alone covers', () => {
    const letter = fc.constantFrom('a', 'a', 'a', 'A', 'b', '\u4e00');
    const short = fc.string({ unit: letter, minLength: 1, maxLength: 5 });
    const long = fc
      .tuple(fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 3 }), short)
      .map(([unit, end]) => unit.repeat(40).slice(0, 40) + end);
    const texts = fc.uniqueArray(fc.oneof(short, long), { minLength: 1, maxLength: 4 });
    const rest = fc.array(fc.oneof(short, fc.constantFrom('a'.repeat(60), 'ab'.repeat(30), 'x')), {
      maxLength: 4,
    });
    fc.assert(
      fc.property(texts, rest, fc.infiniteStream(fc.boolean()), (forms, other, order) => {
        const text = [...forms, ...other, ...forms].filter(() => order.next().value).join('');
        const covered = new Array<boolean>(text.length).fill(false);
        const low = text.toLowerCase();
        for (const form of forms) {
          for (
            let at = low.indexOf(form.toLowerCase());
            at !== -1;
            at = low.indexOf(form.toLowerCase(), at + 1)
          )
            covered.fill(true, at, at + form.length);
        }
        const given = new Array<boolean>(text.length).fill(false);
        searchFor(...forms)
          .find(text, createBudget())
          ?.forEach((length, at) => void given.fill(true, at, at + length));
        expect(given).toEqual(covered);
      }),
      { numRuns: 300 },
    );
  });
});

test('a long form is found everywhere, even in a text that almost matches', () => {
  const letter = fc.constantFrom('a', 'b');
  const form = fc
    .tuple(
      fc.string({ unit: letter, minLength: 1, maxLength: 4 }),
      fc.string({ unit: letter, maxLength: 4 }),
      fc.integer({ min: 33, max: 48 }),
    )
    .map(([unit, middle, length]) =>
      `${unit.repeat(24).slice(0, length - 6)}${middle}${unit.repeat(6)}`.slice(0, length),
    );
  const cuts = fc.array(
    fc.oneof(
      fc.constant(0),
      fc.constant(0),
      fc.integer({ min: -12, max: -1 }),
      fc.integer({ min: 1, max: 8 }),
    ),
    {
      minLength: 3,
      maxLength: 12,
    },
  );
  fc.assert(
    fc.property(form, cuts, (whole, pieces) => {
      fc.pre(whole.length > longestPrefix);
      const text = pieces.map((cut) => (cut < 0 ? whole.slice(0, cut) : whole.slice(cut))).join('');
      const expected = [...text].map((_, at) => (text.startsWith(whole, at) ? whole.length : 0));
      expect(found(searchFor(whole), text) ?? expected.map(() => 0)).toEqual(expected);
    }),
    { numRuns: 400 },
  );
});

describe('what a search costs', () => {
  const cost = (work: (budget: Budget) => void): number => {
    const budget = createBudget();
    work(budget);
    return budget.spent;
  };
  const long = 'abcdefghijklmnopqrstuvwxyz0123456789-_+=';

  test('to build: five steps for each character of the prefixes, and for the root', () => {
    expect(
      cost((budget) => createSearch([formOf('abcd'), formOf('ab'), formOf(long)], budget)),
    ).toBe(5 * (1 + 4 + 2 + 32));
  });

  test('to find: a step for each character of the text, and one', () => {
    expect(cost((budget) => searchFor('abcd', 'ab').find('x'.repeat(10), budget))).toBe(11);
    expect(cost((budget) => searchFor('abcd', 'ab').find('ab'.repeat(5), budget))).toBe(11);
  });

  test.each<[what: string, text: string, more: number]>([
    ['as many as the form is longer than its prefix, and one', `${long}..`, 9],
    ['for each place', `${long}..${long}..`, 18],
    ['up to where the text differs', `${long.slice(0, 35)}${'.'.repeat(10)}`, 4],
    ['none where the text is too short for it', long.slice(0, 39), 0],
  ])('of a long form: %s', (_, text, more) => {
    expect(cost((budget) => searchFor(long).find(text, budget))).toBe(text.length + 1 + more);
  });

  test('of a long form with many places: the lengths of both, once', () => {
    const form = `${'a'.repeat(50)}b`;
    const text = 'a'.repeat(100);
    // Each place costs 19 (the form matches up to its `b`): after three of them, 57, a search in
    // linear time does the rest.
    expect(cost((budget) => searchFor(form).find(text, budget))).toBe(101 + 3 * 19 + (51 + 100));
  });

  test(
    'and not before: as long as the places cost no more than half of it, they are looked at one ' +
      'by one',
    () => {
      const form = `${'a'.repeat(50)}b`;
      // Three places cost 57, which is half of 114 and more than half of 113.
      for (const [length, places] of [
        [114, 4],
        [113, 3],
      ] as const)
        expect(cost((budget) => searchFor(form).find('a'.repeat(length), budget))).toBe(
          length + 1 + places * 19 + (51 + length),
        );
    },
  );

  test('a long form is written out when its prefix is first found, and once', () => {
    let written = 0;
    const search = createSearch([formOf(long, () => written++)], createBudget());
    search.find('abc', createBudget());
    expect(written).toBe(0);
    for (let time = 0; time < 3; time++) search.find(`${long}${long}`, createBudget());
    expect(written).toBe(1);
  });
});
