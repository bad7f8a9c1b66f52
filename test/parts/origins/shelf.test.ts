/** Texts are found again at every place, and the cost of adding and searching them is linear. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Shelf, seek } from '../../../src/parts/origins/shelf.ts';
import { finish } from '../../../src/parts/origins/slices.ts';
import { normalForm } from '../../../src/parts/origins/text.ts';

const seed = 7;
const places = (shelf: Shelf<number>, value: string, steps = { left: 1_000_000 }): string[] => {
  const found: string[] = [];
  for (const sought of seek([{ text: value, kind: 'plain' }], seed))
    shelf.find(sought, steps, ({ about }, { start, end }) => {
      found.push(`${about}:${start}-${end}`);
      return false;
    });
  return found;
};

describe('places', () => {
  test('are visited from the first that was remembered', () => {
    const shelf = new Shelf<number>(seed);
    finish(shelf.adding('ann and bob', 1));
    finish(shelf.adding('bob', 2));
    finish(shelf.adding('bobby, bob!', 3));
    expect(places(shelf, 'bob')).toEqual(['1:8-11', '2:0-3', '3:7-10']);
    expect(places(shelf, 'eve')).toEqual([]);
  });

  test('every word of any text is found at its place', () => {
    const word = fc.stringMatching(/^[a-z0-9]{1,4}$/);
    const text = fc.array(word, { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 20 }), (texts) => {
        const shelf = new Shelf<number>(seed);
        texts.forEach((words, about) => {
          finish(shelf.adding(words.join(' '), about));
        });
        const wanted = texts[0]?.[0] as string;
        const count = texts.flat().filter((one) => one === wanted).length;
        expect(places(shelf, wanted)).toHaveLength(count);
      }),
    );
  });

  test('what native search finds as a whole word is found, and nothing else', () => {
    const part = fc.constantFrom('a', 'b', 'ab', ' ', '  ', '.', '@', '-', ',', '1', '"', 'é');
    const text = fc.array(part, { maxLength: 30 }).map((parts) => normalForm(parts.join('')));
    fc.assert(
      fc.property(text, text, (whole, one) => {
        const value = one.trim().replace(/\s+/g, ' ');
        fc.pre(/[a-z0-9é]/.test(value));
        const shelf = new Shelf<number>(seed);
        finish(shelf.adding(whole, 0));
        const isThere = places(shelf, value).length > 0;
        if (isThere) expect(whole.replace(/\s+/g, ' ')).toContain(value);
        if (` ${whole.replace(/\s+/g, ' ')} `.includes(` ${value} `)) expect(isThere).toBe(true);
      }),
    );
  });
});

describe('steps', () => {
  const spent = (shelf: Shelf<number>, value: string): number => {
    const steps = { left: 1_000_000 };
    places(shelf, value, steps);
    return 1_000_000 - steps.left;
  };

  test('a search costs as much as the rarest word of the value', () => {
    const [small, large] = [new Shelf<number>(seed), new Shelf<number>(seed)];
    finish(small.adding('pay the rent to ann now', 0));
    finish(large.adding('pay the rent to ann now', 0));
    for (let about = 1; about < 2_000; about++)
      finish(large.adding(`pay the rent to user${about} now`, about));
    expect(spent(large, 'rent to ann')).toBe(spent(small, 'rent to ann'));
  });

  test('a search ends when its steps are used up, and says so', () => {
    const shelf = new Shelf<number>(seed);
    finish(shelf.adding('a b '.repeat(10_000), 0));
    const [sought] = seek([{ text: 'a a', kind: 'plain' }], seed);
    const steps = { left: 1_000 };
    expect(shelf.find(sought as NonNullable<typeof sought>, steps, () => true)).toBe(false);
    expect(steps.left).toBeGreaterThan(-100);
  });

  test('a long common beginning is compared only as often as the steps allow', () => {
    const shelf = new Shelf<number>(seed);
    finish(shelf.adding('lorem ipsum '.repeat(5_000), 0));
    const steps = { left: 10_000 };
    const [sought] = seek(
      [{ text: `${'lorem ipsum '.repeat(2_000)}lorem lorem`, kind: 'plain' }],
      seed,
    );
    expect(shelf.find(sought as NonNullable<typeof sought>, steps, () => true)).toBe(false);
    expect(steps.left).toBeGreaterThan(-30_000);
  });
});
