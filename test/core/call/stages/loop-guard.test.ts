import { describe, expect, test } from 'vitest';
import type { Approver } from '../../../../src/index.ts';
import { suspending, suspendOne } from '../../approval/kit.ts';
import { outcome, tool, world } from '../world.ts';

describe('the loop guard', () => {
  test('says how often the same call came, and how often it may', async () => {
    const w = world({ limits: { loopGuard: 1 } });
    await w.session.call('still_alive');
    for (const times of [2, 3])
      expect((await w.session.call('still_alive')).error).toMatchObject({
        code: 'loop_detected',
        reason: 'identical_calls',
        details: { allowed: 1 },
        message:
          `The same call was made ${times} times in a row. Change the arguments, use another ` +
          'tool, or stop.',
      });
  });

  test('distinguishes tools with the same input', async () => {
    const w = world({ limits: { loopGuard: 1 } });
    w.add(
      tool(() => 1, { name: 'a' }),
      tool(() => 1, { name: 'b' }),
    );
    for (const name of ['a', 'b', 'a', 'b']) expect(outcome(await w.session.call(name))).toBe(1);
  });

  test('counts a call once, even if a person edits its input', async () => {
    const approver: Approver = () => ({ decision: 'allow_once', input: { n: 5 } });
    const w = world({ limits: { loopGuard: 1 }, approver });
    w.add(tool((input) => input, { name: 'a', requiresApproval: true }));
    // What was sent counts: as the input that it became it would be the same again.
    expect(outcome(await w.session.call('a', { n: 1 }))).toEqual({ n: 5 });
    expect(outcome(await w.session.call('a', { n: 5 }))).toEqual({ n: 5 });
    expect(outcome(await w.session.call('a', { n: 5 }))).toBe('loop_detected');
  });

  test('counts a suspended call once, whatever is called before it is resumed', async () => {
    const { session } = suspending({ session: { limits: { loopGuard: 1 } } });
    const { token } = await suspendOne({ session });
    expect(await session.approvals.resume(token, 'allow_once')).toMatchObject({
      success: true,
      output: 'paid',
    });
  });
});
