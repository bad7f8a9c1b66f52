/** How rules that ask for origins are checked, and what they match. */
import { describe, expect, test } from 'vitest';
import { compileQuotas, compileRules } from '../../../src/assembly/compile.ts';
import {
  type CompiledRule,
  type Judged,
  maxRuleSteps,
  overBudget,
} from '../../../src/core/rules/rule.ts';
import type { Effect, JudgedOrigin, Origin, Quota, Rule } from '../../../src/index.ts';
import type { OriginJudge } from '../../../src/parts/origins/call-origins.ts';
import { testsOrigins } from '../../../src/parts/origins/follow-origins.ts';
import { callJudgedBy } from './helpers.ts';

/** A judge that knows one origin for each value. */
function judgeOf(origins: Readonly<Record<string, Origin>>): OriginJudge {
  return {
    all: (_containers, spend) => {
      spend(1);
      return Object.entries(origins).map(
        ([value, origin]): JudgedOrigin => ({ path: value, value, role: 'target', origin }),
      );
    },
    at: (_path, spend) => (value) => {
      spend(100);
      return [origins[String(value)] ?? 'unknown'];
    },
  };
}

function judged(origins: OriginJudge | undefined, left = maxRuleSteps): Judged {
  const input = { to: 'a', list: ['a', 'b'] };
  return {
    input,
    parsed: input,
    declares: () => true,
    facts: {},
    surface: '',
    call: origins === undefined ? undefined : callJudgedBy(origins),
    attributes: undefined,
    left,
  };
}

const matches = (rule: Partial<Rule> & { effect: Effect }, origins: Record<string, Origin>) =>
  compileRules([rule], 'session')[0]?.matches(judged(judgeOf(origins)));

describe('`origins` of a rule', () => {
  test('a deny or ask matches if one value has such an origin', () => {
    const rule: Rule = { effect: 'ask', origins: ['untrusted', 'unknown'] };
    expect(matches(rule, { a: 'user', b: 'unknown' })).toBe(true);
    expect(matches(rule, { a: 'user', b: 'trusted' })).toBe(false);
    expect(matches(rule, {})).toBe(false);
  });

  test('an allow matches only if there is one, and all of them have such an origin', () => {
    const rule: Rule = { effect: 'allow', origins: { of: ['user', 'trusted'] } };
    expect(matches(rule, { a: 'user', b: 'unknown' })).toBe(false);
    expect(matches(rule, { a: 'user', b: 'trusted' })).toBe(true);
    expect(matches(rule, {})).toBe(false);
  });

  test('with `only: urls`, only targets that are web addresses count', () => {
    const rule: Rule = { effect: 'ask', origins: { of: 'unknown', only: 'urls' } };
    expect(matches(rule, { plain: 'unknown' })).toBe(false);
    expect(matches(rule, { 'https://evil.example/x': 'unknown' })).toBe(true);
    // What cannot be read may be one.
    expect(matches(rule, { '…': 'unknown' })).toBe(true);
  });

  test('where nothing is remembered, every value is unknown', () => {
    const unknownTo = (effect: Effect, origins: Rule['origins']) =>
      compileRules([{ effect, origins }], 'session')[0]?.matches(judged(undefined));
    expect(unknownTo('ask', 'unknown')).toBe(true);
    expect(unknownTo('ask', 'untrusted')).toBe(false);
    expect(unknownTo('allow', 'unknown')).toBe(false);
  });

  test('depends on the call, so a deny hides no tool', () => {
    const [asking, other] = compileRules(
      [{ effect: 'deny', origins: 'unknown' }, { effect: 'deny' }],
      'session',
    ) as readonly [CompiledRule, CompiledRule];
    expect(asking).toMatchObject({ hasWhen: true });
    expect([asking, other].map(testsOrigins)).toEqual([true, false]);
  });
});

describe('`origin` in `when`', () => {
  test('can be combined with other tests, and `not` reverses the reading', () => {
    const at = (effect: Effect, test: object, origins: Record<string, Origin>) =>
      matches({ effect, when: { list: test } } as Rule, origins);
    const mixed: Record<string, Origin> = { a: 'user', b: 'untrusted' };
    expect(at('ask', { origin: 'untrusted' }, mixed)).toBe(true);
    expect(at('ask', { origin: 'untrusted', equals: 'a' }, mixed)).toBe(false);
    expect(at('ask', { not: { origin: 'user' } }, mixed)).toBe(true);
    expect(at('allow', { origin: 'user' }, mixed)).toBe(false);
    expect(at('allow', { not: { origin: 'unknown' } }, mixed)).toBe(true);
    expect(at('allow', { any: [{ origin: 'user' }, { equals: 'b' }] }, mixed)).toBe(true);
  });

  test('a path without a value has no origin', () => {
    const at = (test: object) => matches({ effect: 'ask', when: { gone: test } } as Rule, {});
    expect(at({ origin: 'unknown' })).toBe(false);
    expect(at({ not: { origin: 'unknown' } })).toBe(true);
  });
});

test('looking origins up takes steps of the rules', () => {
  const [rule] = compileRules([{ effect: 'ask', when: { to: { origin: 'user' } } }], 'session');
  expect(() => rule?.matches(judged(judgeOf({}), 50))).toThrow();
  try {
    rule?.matches(judged(judgeOf({}), 50));
  } catch (error) {
    expect(error).toBe(overBudget);
  }
});

describe('a malformed rule about origins is refused', () => {
  const words = '`user`, `trusted`, `untrusted`, `unknown`';
  test.each<[rule: object, message: string]>([
    [{ origins: 'model' }, `Expected \`origins\` to be one of ${words}, got `],
    [{ origins: [] }, `one of ${words}, or a list of at least one of them`],
    [{ origins: ['user', 'x'] }, `Expected \`origins[1]\` to be one of ${words}`],
    [{ origins: {} }, 'an object with `of` and some of only, paths, hosts'],
    [{ origins: { of: 'user', folders: true } }, 'one of of, only, paths, hosts, got `folders`'],
    [{ origins: { of: 'user', only: 'paths' } }, '`origins.only` to be left out or `urls`'],
    [{ origins: { of: 'user', hosts: 1 } }, '`origins.hosts` to be a boolean'],
    [{ when: { a: { origin: 'x' } } }, `\`when["a"].origin\` to be one of ${words}`],
    [{ when: { a: { size: { origin: 'user' } } } }, 'a test of a number, which has no origin'],
    [{ principal: { origin: 'user' } }, '`principal` to be a test without `origin`'],
    [{ surface: { not: { origin: 'user' } } }, '`surface` to be a test without `origin`'],
    [{ facts: { a: { origin: 'user' } } }, '`facts["a"]` to be a test without `origin`'],
  ])('%j', (rule, message) => {
    expect(() => compileRules([{ effect: 'ask', ...rule } as Rule], 'session')).toThrow(message);
  });

  test('a quota cannot ask for origins', () => {
    const quota = {
      id: 'q',
      max: 1,
      per: 'day',
      by: 'session',
      when: { to: { origin: 'unknown' } },
    };
    expect(() => compileQuotas([quota as unknown as Quota], 'session')).toThrow(
      '`when` to be conditions without `origin`, which only rules can test',
    );
  });
});
