/** What `alike` in a rule holds for, and where it may be. What looks alike is in `skeleton.test.ts`. */
import { describe, expect, test } from 'vitest';
import type { RuleTest } from '../../../src/api/rule.ts';
import { compileQuotas, compileRules } from '../../../src/assembly/compile.ts';
import { type Judged, maxRuleSteps, overBudget } from '../../../src/core/rules/rule.ts';
import type { Quota, Rule } from '../../../src/index.ts';
import type { JsonObject, JsonValue } from '../../../src/values/json/index.ts';
import { cpuMs } from '../../runner/cpu-time.ts';

function judged(value: JsonValue | undefined, facts: JsonObject = {}): Judged {
  const input: JsonObject = value === undefined ? {} : { v: value };
  return {
    input,
    parsed: input,
    declares: () => true,
    facts,
    surface: '',
    call: undefined,
    attributes: undefined,
    left: maxRuleSteps,
  };
}

function matches(ruleTest: RuleTest, value: JsonValue | undefined, facts?: JsonObject): boolean {
  const answers = (['deny', 'ask'] as const).map((effect) => {
    const [rule] = compileRules([{ effect, when: { v: ruleTest } }], 'session');
    return rule?.matches(judged(value, facts));
  });
  expect(new Set(answers).size).toBe(1);
  return answers[0] === true;
}

describe('a deny or ask with `alike`', () => {
  test.each<[RuleTest, holds: JsonValue[], fails: (JsonValue | undefined)[]]>([
    [
      { alike: 'google' },
      ['google', 'g00gle', 'GOOGLE', 'g o o g l e', 'gооgle', ['x', 'g00gle'], [['googIe']]],
      ['goggle', 'googles', '', null, {}, [], undefined, 600],
    ],
    [{ alike: 'MICROSOFT' }, ['RNICROSOFT', 'rnicrosoft', 'MICROSOFΤ'], ['MICROSFT']],
    [{ alike: ['google', 'vostok'] }, ['V O S T O K', 'g00gle'], ['apple']],
    [{ alike: '1O1' }, [101, '101', 'lol'], [100, true]],
    [{ alike: 'true' }, [true, 'TRUE'], [false]],
    [{ any: [{ alike: 'google' }, 'b'] }, ['g00gle', 'b'], ['c']],
    [{ alike: 'google', not: 'google' }, ['g00gle'], ['google', 'apple']],
  ])('%j', (ruleTest, holds, fails) => {
    expect(holds.filter((value) => !matches(ruleTest, value))).toEqual([]);
    expect(fails.filter((value) => matches(ruleTest, value))).toEqual([]);
  });

  test('reads the texts from a fact', () => {
    const ruleTest: RuleTest = { alike: { fact: 'names' } };
    expect(matches(ruleTest, 'g00gle', { names: ['apple', 'google'] })).toBe(true);
    expect(matches(ruleTest, 'g00gle', { names: 'google' })).toBe(true);
    expect(matches(ruleTest, 'goggle', { names: ['apple', 'google', '', '\u200b'] })).toBe(false);
    expect(matches(ruleTest, '', { names: ['\u200b'] })).toBe(false);
    expect(matches(ruleTest, 'l01', { names: [101] })).toBe(true);
    expect(matches(ruleTest, 'any', { names: [] })).toBe(false);
  });

  test('matches any value if the fact is neither a text nor a list', () => {
    for (const facts of [{}, { names: 7 }, { names: { a: 'b' } }]) {
      expect(matches({ alike: { fact: 'names' } }, 'any', facts)).toBe(true);
      expect(matches({ alike: { fact: 'names' } }, undefined, facts)).toBe(false);
    }
  });

  test('tests the principal, the surface and facts', () => {
    const given = { ...judged('x', { team: 'ｒoot' }), surface: 'mcp' };
    const rule = (part: Partial<Rule>) =>
      compileRules([{ effect: 'deny', ...part }], 'session')[0]?.matches(given);
    expect(rule({ facts: { team: { alike: 'root' } } })).toBe(true);
    expect(rule({ surface: { alike: 'mcρ' } })).toBe(true);
    expect(rule({ surface: { alike: 'acp' } })).toBe(false);
  });
});

describe('`alike` throws', () => {
  test.each<[what: string, rule: Rule]>([
    ['in an allow', { effect: 'allow', when: { v: { alike: 'a' } } }],
    ['in an allow, in a list', { effect: 'allow', when: { v: { any: [{ alike: 'a' }] } } }],
    ['in an allow, below not', { effect: 'allow', when: { v: { not: { alike: 'a' } } } }],
    ['in an allow, of a fact', { effect: 'allow', facts: { v: { alike: 'a' } } }],
    ['in an allow, of the principal', { effect: 'allow', principal: { alike: 'a' } }],
    ['below not', { effect: 'deny', when: { v: { not: { alike: 'a' } } } }],
    [
      'below not, in a list',
      { effect: 'ask', when: { v: { not: { any: ['b', { alike: 'a' }] } } } },
    ],
    ['below two nots', { effect: 'deny', when: { v: { not: { not: { alike: 'a' } } } } }],
    ['of a size', { effect: 'deny', when: { v: { size: { alike: '3' } } } }],
  ])('%s', (_, rule) => {
    expect(() => compileRules([rule], 'session')).toThrow(/without `alike`/);
  });

  test('in a quota', () => {
    const quota: Quota = {
      id: 'q',
      max: 1,
      per: 'day',
      by: 'session',
      when: { v: { alike: 'a' } },
    };
    expect(() => compileQuotas([quota], 'session')).toThrow(/without `alike`/);
  });

  test.each<[operand: unknown]>([
    [''],
    [' \u200b'],
    [[]],
    [['a', '']],
    [7],
    [['a', 7]],
    [null],
    [{}],
    [{ fact: '' }],
    [{ fact: 'a', in: 'b' }],
    ['a'.repeat(1_025)],
  ])('if it compares with %j', (alike) => {
    const rule = { effect: 'deny', when: { v: { alike } } } as Rule;
    expect(() => compileRules([rule], 'session')).toThrow(
      /`when\["v"\]\.alike(\[\d\])?` to be a text or a list of at least one text/,
    );
  });
});

describe('the work is bounded', () => {
  test.each([
    ['marks in turns', `a${'\u0301\u0316'.repeat(500_000)}`],
    ['letters that grow', '\ufdfa'.repeat(1_000_000)],
    ['characters that no one sees', `${'\u200b'.repeat(900_000)}goggle`],
    ['letters of two units', '𝐆'.repeat(500_000)],
    ['white space', ' '.repeat(1_000_000)],
  ])('%s', (_, text) => {
    const [rule] = compileRules([{ effect: 'deny', when: { v: { alike: 'google' } } }], 'session');
    const before = cpuMs();
    try {
      expect(rule?.matches(judged(text))).toBe(false);
    } catch (error) {
      // The call is refused.
      expect(error).toBe(overBudget);
    }
    expect(cpuMs() - before).toBeLessThan(2_500);
  });

  test('a character that no one sees is dropped wherever a long text is cut', () => {
    for (let length = 4_090; length < 4_100; length++)
      for (const char of ['\u200b', '\u{e0061}', ' '])
        expect(matches({ alike: 'google' }, `go${char.repeat(length / char.length)}ogle`)).toBe(
          true,
        );
  });
});
