import { describe, expect, test } from 'vitest';
import { ApprovalDesk } from '../../src/approval/desk.ts';
import type { ApprovalAnswer, ApprovalRequest } from '../../src/approval/request.ts';
import { UsedTokens } from '../../src/approval/used-tokens.ts';

describe('a desk', () => {
  test('hands an answer to the one call that waits for it; the first answer wins', () => {
    const desk = new ApprovalDesk();
    const heard: ApprovalAnswer[] = [];
    desk.waiting.set('a', { request: {} as ApprovalRequest, answer: (answer) => void heard.push(answer) });
    expect(desk.answer('b', 'allow_once')).toBe(false);
    expect(desk.answer('a', 'reject_once')).toBe(true);
    expect(desk.answer('a', 'allow_once')).toBe(false);
    expect(heard).toEqual(['reject_once']);
  });

  test.each(['__proto__', 'constructor', 'toString', ''])('has nobody waiting under %j', (id) => {
    expect(new ApprovalDesk().answer(id, 'allow_once')).toBe(false);
  });
});

describe('used tokens', () => {
  test('are used once, and remembered until they expire', () => {
    const used = new UsedTokens();
    expect(used.use('a', 10, 0)).toBe(true);
    expect(used.use('a', 10, 5)).toBe(false);
    expect(used.use('__proto__', 10, 5)).toBe(true);
    expect(used.use('__proto__', 10, 5)).toBe(false);
  });

  test('are forgotten when they have expired, so that memory stays bounded', () => {
    const used = new UsedTokens();
    for (let n = 0; n < 1_024; n++) used.use(`old-${n}`, 10, 0);
    for (let n = 0; n < 2_048; n++) used.use(`new-${n}`, 100, 20);
    // Sweeping forgot the old ones: an id of theirs would be new again, and its token is refused for its age.
    expect(used.use('old-0', 10, 20)).toBe(true);
    expect(used.use('new-0', 100, 20)).toBe(false);
  });
});
