/** What rules judge of a call: both values of it, within their budget. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { matchOf } from '../../../../src/core/call/stages/decide.ts';
import type { CompiledRule, Judged } from '../../../../src/core/rules/rule.ts';
import type { JsonObject, Rule } from '../../../../src/index.ts';
import { define, setup } from '../define.ts';

// A comparison with a glob without `?` costs a quarter of a step a character: four of them fit into
// the budget of 1 000 000, and five do not.
const text = 'a'.repeat(900_000);
const rules = (count: number, rest: Partial<Rule> = {}): Rule[] =>
  Array.from({ length: count }, (_, index) => ({
    id: `r${index}`,
    effect: 'deny',
    when: { text: { glob: '*b' } },
    ...rest,
  }));

describe('all rules of a call share one budget', () => {
  test('and a call that is over it is refused, by the rule that was being judged', async () => {
    const { session, told } = setup([define('t')], { rules: rules(8) });
    expect(await session.call('t', { text })).toMatchObject({
      error: {
        code: 'policy_error',
        reason: 'rules_over_budget',
        ruleId: 'r4',
        source: 'session',
        message:
          'The call was refused because its arguments are too large to be checked against the ' +
          'rules. Send less.',
      },
    });
    expect(told()).toContain('tool:error policy_error');
    const explained = await session.explain('t', { text });
    expect(explained).toMatchObject({
      decision: { effect: 'deny', reason: 'rules_over_budget' },
      ruleId: 'r4',
      source: 'session',
    });
    expect(explained.steps).toEqual([
      { source: 'session', ruleId: 'r4', effect: 'deny', reason: 'rules_over_budget' },
    ]);
  });

  test('also where they allow, and where an earlier one has allowed or asked', async () => {
    for (const effect of ['allow', 'ask'] as const) {
      const { session } = setup([define('t')], {
        rules: [{ effect }, ...rules(8, { effect: 'allow' })],
        approver: () => 'allow_once',
      });
      expect(await session.call('t', { text })).toMatchObject({
        error: { code: 'policy_error', reason: 'rules_over_budget' },
      });
    }
  });

  test('in whichever layers they are', async () => {
    const two = setup([define('t')], { rules: rules(2) }, { rules: rules(2) });
    expect(await two.session.call('t', { text })).toMatchObject({ success: true });
    const { session } = setup([define('t')], { rules: rules(4) }, { rules: rules(4) });
    expect(await session.call('t', { text })).toMatchObject({
      error: { reason: 'rules_over_budget', ruleId: 'r0', source: 'session' },
    });
  });

  test('and each call has it anew', async () => {
    const { session } = setup([define('t')], { rules: rules(4) });
    for (let call = 0; call < 3; call++)
      expect(await session.call('t', { text })).toMatchObject({ success: true });
  });

  test('and what a raw schema lets through is read once, not as input and as parse', async () => {
    const tool = define('t', {
      parameters: { type: 'object', properties: { text: { type: 'string' } } },
    });
    expect(await setup([tool], { rules: rules(4) }).session.call('t', { text })).toMatchObject({
      success: true,
    });
  });
});

describe('an allow may rest on a member that the schema turned into another one', () => {
  const allowing = (parameters: unknown): ReturnType<typeof setup>['session'] =>
    setup(
      [define('t', { parameters })],
      { rules: [{ effect: 'allow', when: { mode: 'safe' } }] },
      // One of the rules can never match, which is what it is about.
      { default: 'deny', logger: { warn: () => {}, error: () => {} } },
    ).session;

  test.each<[rule: string, parameters: unknown, result: JsonObject]>([
    [
      'that it declares',
      z.object({ mode: z.string() }).transform(({ mode }) => ({ kind: mode })),
      { success: true },
    ],
    [
      'and not on one that it drops unread',
      z.object({ other: z.string().optional() }),
      { success: false },
    ],
    [
      'and not on one of a schema that lists no names',
      z.record(z.string(), z.string()).transform(() => ({})),
      { success: false },
    ],
  ])('%s', async (_, parameters, result) => {
    expect(await allowing(parameters).call('t', { mode: 'safe' })).toMatchObject(result);
  });
});

test('only a spent budget counts as one: any other fault of a rule is thrown on', () => {
  const rule = {
    matches: () => {
      throw new RangeError('no');
    },
  } as unknown as CompiledRule;
  expect(() => matchOf(rule, {} as Judged)).toThrow(RangeError);
});
