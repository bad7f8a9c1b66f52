/**
 * However hostile the schema and the value, redaction stays within its steps, and hides what it
 * could not look at.
 */
import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../../src/values/json/index.ts';
import {
  createBudget,
  exhaust,
  spend,
  withinBudget,
} from '../../../src/values/redaction/budget.ts';
import { createRedactor, type Redactor } from '../../../src/values/redaction/redactor.ts';
import { scrubStrings } from '../../../src/values/redaction/scrub.ts';
import { Secrets } from '../../../src/values/redaction/secrets.ts';
import { redacted } from '../../../src/values/redaction/spellings.ts';

const secret = { 'x-secret': true } as const;
const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

function redactorOf(schema: JsonObject | undefined, paths: readonly string[] = []): Redactor {
  const made = createRedactor(schema, paths);
  if (made === undefined) throw new Error('expected a redactor');
  return made;
}

const manyRefs: JsonObject = {
  $ref: '#/$defs/n',
  $defs: {
    n: { allOf: times(1_500, (index) => ({ $ref: `#/$defs/d${index}` })) },
    ...Object.fromEntries(
      times(1_500, (index) => [
        `d${index}`,
        { properties: { [`k${index}`]: secret }, items: { $ref: '#/$defs/n' } },
      ]),
    ),
  },
};

describe('hostile schemas', () => {
  test.each<[what: string, schema: JsonObject, value: JsonValue]>([
    ['1 500 references in `allOf`, and an array of arrays', manyRefs, times(24_000, () => [1])],
    [
      '1 500 references in `allOf`, and every key of theirs',
      manyRefs,
      Object.fromEntries(times(1_500, (index) => [`k${index}`, 'value'])),
    ],
    [
      'a thousand patterns beside listed keys',
      {
        properties: Object.fromEntries(times(1_000, (index) => [`a${index}`, {}])),
        patternProperties: Object.fromEntries(
          times(1_000, (index) => [`^(?:a|b|${index}){1,50}$`, secret]),
        ),
      },
      Object.fromEntries(times(1_000, (index) => [`a${index}`, 1])),
    ],
    [
      'parts that combine in ever new ways',
      {
        anyOf: times(16, (bit) => ({
          properties: Object.fromEntries(
            times(16, (key) => [
              `k${key}`,
              key === bit ? { 'x-secret': false } : { $ref: `#/anyOf/${bit}` },
            ]),
          ),
        })),
        properties: { end: secret },
      },
      JSON.parse(`${'{"k1":{"k2":{"k3":'.repeat(16)}1${'}}}'.repeat(16)}`) as JsonValue,
    ],
  ])('%s', (_, schema, value) => {
    const redactor = redactorOf(schema);
    for (const limit of [4_000_000, 50_000]) {
      const budget = createBudget(limit);
      redactor.redact(value, budget);
      expect(budget.spent).toBeLessThanOrEqual(limit);
    }
  });

  test('what a thousand parts say of a value is worked out once, and not for each value', () => {
    const redactor = redactorOf(manyRefs);
    const cost = (count: number): number => {
      const budget = createBudget();
      expect(
        redactor.redact(
          times(count, () => ({ k7: 'hidden', open: 1 })),
          budget,
        ),
      ).toEqual(times(count, () => ({ k7: redacted, open: 1 })));
      return budget.spent;
    };
    const first = cost(10);
    const again = cost(10);
    expect(again).toBeLessThan(first / 10);
    expect(cost(10_000)).toBeLessThan(again * 1_000);
  });
});

describe('over the budget', () => {
  const redactor = redactorOf(undefined, ['password']);
  const value: JsonValue = {
    list: times(1_000, (index) => ({ password: `secret-${index}` })),
    open: 'x',
  };

  test('the whole value is hidden, nothing is shown, and its secrets count as unknown', () => {
    const into = new Secrets();
    expect(redactor.redact(value, createBudget(5_000), into)).toBe(redacted);
    expect(into.lost).toBe(true);
    expect(redactor.show(value, true, createBudget(5_000))).toBeUndefined();
    const collected = new Secrets();
    redactor.collect(value, collected, createBudget(5_000));
    expect(scrubStrings('some text', collected)).toBe(redacted);
  });

  test('one budget covers finding fields and searching texts', () => {
    const secrets = new Secrets();
    secrets.addText('hunter2');
    const budget = createBudget(25_000);
    const hidden = redactor.redact(value, budget);
    expect(hidden).not.toBe(redacted);
    expect(scrubStrings(hidden, secrets, budget)).toBe(redacted);
    expect(budget.spent).toBe(budget.limit);
  });
});

describe('JSON that was sent as text', () => {
  const redactor = redactorOf(undefined, ['password']);
  const spentOn = (text: string): number => {
    const budget = createBudget();
    redactor.redact({ text }, budget);
    return budget.spent;
  };

  test('costs what its values cost, not only what its characters do', () => {
    expect(spentOn(`[${'1,'.repeat(10_000)}1]`)).toBeGreaterThan(10_000 * 12);
    expect(spentOn(`[${'[],'.repeat(10_000)}1]`)).toBeGreaterThan(10_000 * 13);
  });

  test('costs more where more is open than any text needs', () => {
    const budget = createBudget();
    expect(redactor.redact({ text: '['.repeat(1_000_000) }, budget)).toBe(redacted);
    expect(budget.spent).toBe(budget.limit);
  });

  test('costs what the paths of its secrets are long', () => {
    const text = `${'{"b":'.repeat(30_000)}[${'{"password":1},'.repeat(1_000)}1]${'}'.repeat(30_000)}`;
    expect(redactor.redact({ text })).not.toBe(redacted);
    expect(redactor.show({ text }, true)).toBeUndefined();
  });
});

test('an input at its limits is redacted precisely', () => {
  const list = times(24_000, (index) => ({ open: `user ${index} ${'.'.repeat(20)}` }));
  const secrets = new Secrets();
  const budget = createBudget();
  const redactor = redactorOf(undefined, ['password']);
  const hidden = redactor.redact({ password: 'hunter2', note: 'hunter2', list }, budget, secrets);
  const scrubbed = scrubStrings(hidden, secrets, budget) as { list: unknown };
  expect(scrubbed).toMatchObject({ password: redacted, note: redacted });
  expect(scrubbed.list).toBe(list);
});

test('where nothing can be secret, nothing is looked at', () => {
  const budget = createBudget(1_000);
  const output = { rows: times(100_000, (index) => index), token: 't' };
  expect(redactorOf({ properties: { token: secret } }).redact(output, budget)).toEqual({
    ...output,
    token: redacted,
  });
});

describe('a budget', () => {
  test('has 4 000 000 steps by default, none of them spent', () => {
    expect(createBudget()).toEqual({ spent: 0, limit: 4_000_000 });
  });

  test('may be spent to the last step; what does not fit takes all that is left', () => {
    const budget = createBudget(10);
    const work = (steps: number): string =>
      withinBudget(
        () => {
          spend(budget, steps);
          return 'done';
        },
        () => 'over',
      );
    expect([work(4), budget.spent]).toEqual(['done', 4]);
    expect([work(6), budget.spent]).toEqual(['done', 10]);
    expect([work(0), budget.spent]).toEqual(['done', 10]);
    expect([work(1), budget.spent]).toEqual(['over', 10]);
    const other = createBudget(10);
    expect(
      withinBudget(
        () => exhaust(other),
        () => 'over',
      ),
    ).toBe('over');
    expect(other.spent).toBe(10);
  });

  test('hides no error of another kind', () => {
    const boom = (): never => {
      throw new RangeError('no');
    };
    expect(() => withinBudget(boom, () => 'over')).toThrow(RangeError);
  });
});
