import { describe, expect, test } from 'vitest';
import { allow, ask, deny } from '../../../src/core/rules/decision.ts';
import { decisionOf, denialText, makeVerdict } from '../../../src/core/rules/verdict.ts';

describe('a denial without a message', () => {
  test('names the rule that denied, and says not to try again', () => {
    expect(denialText(makeVerdict('deny', { reason: 'not_now', ruleId: 'r' }))).toBe(
      'The call was denied by rule `r`: not_now. Do not retry it unchanged.',
    );
  });

  test('names no rule where none denied', () => {
    expect(denialText(makeVerdict('deny', { reason: 'not_now' }))).toBe(
      'The call was denied: not_now. Do not retry it unchanged.',
    );
  });

  test(
    'says of a policy that failed that it failed, and does not tell the model what to do about ' +
      'it',
    () => {
      expect(
        denialText(
          makeVerdict('deny', { code: 'policy_error', reason: 'policy_threw', ruleId: 'r' }),
        ),
      ).toBe('The call was refused because a policy failed (policy_threw).');
    },
  );
});

test('a verdict has every member as its own, said or not', () => {
  expect(Object.keys(makeVerdict('allow', {})).sort()).toEqual([
    'cause',
    'code',
    'details',
    'effect',
    'message',
    'prompt',
    'reason',
    'ruleId',
    'source',
    'steps',
    'text',
  ]);
});

test.each([
  [makeVerdict('allow', { source: 'tool' }), allow()],
  [makeVerdict('ask', { prompt: { title: 'Push?' } }), ask('Push?')],
  [makeVerdict('ask', {}), ask()],
  [makeVerdict('deny', { reason: 'not_now' }), deny('not_now')],
  [makeVerdict('deny', { reason: 'not_now', message: 'Wait.' }), deny('not_now', 'Wait.')],
])('%o is shown as the decision %o', (verdict, decision) => {
  expect(decisionOf(verdict)).toEqual(decision);
});
