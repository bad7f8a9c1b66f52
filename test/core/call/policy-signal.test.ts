/** The signal of a policy, and the reasons that the package's own policies give when they fail. */
import { describe, expect, test, vi } from 'vitest';
import { PolicyFault } from '../../../src/core/rules/policies.ts';
import { allow, type Policy, type PolicySubject } from '../../../src/index.ts';
import { define, setup } from './define.ts';

const hang = (): Promise<never> => new Promise(() => {});

describe("a policy's signal", () => {
  function slow(): { readonly signals: AbortSignal[]; readonly policy: Policy } {
    const signals: AbortSignal[] = [];
    return {
      signals,
      policy: {
        id: 'slow',
        check: ({ signal }) => {
          signals.push(signal);
          return hang();
        },
      },
    };
  }

  test.each(['call', 'explain'] as const)(
    'aborts when it has taken longer than policyTimeoutMs: %s',
    async (way) => {
      vi.useFakeTimers();
      const { signals, policy } = slow();
      const { session } = setup([define('t')], { policies: [policy] }, { policyTimeoutMs: 100 });
      const ended = session[way]('t', {});
      await vi.advanceTimersByTimeAsync(90);
      expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
      await vi.advanceTimersByTimeAsync(20);
      await ended;
      expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    },
  );

  test('aborts when the call is cancelled', async () => {
    const { signals, policy } = slow();
    const { session } = setup([define('t')], { policies: [policy] });
    const caller = new AbortController();
    const ended = session.call('t', {}, { signal: caller.signal });
    caller.abort();
    expect(await ended).toMatchObject({ error: { code: 'cancelled' } });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  test('is the same each time, and does not abort when the call succeeds', async () => {
    const signals: AbortSignal[] = [];
    const policy: Policy = {
      id: 'reads-twice',
      check: (call) => {
        signals.push(call.signal, call.signal);
        return allow();
      },
    };
    const { session } = setup([define('t')], { policies: [policy] });
    expect((await session.call('t')).success).toBe(true);
    expect(signals[0]).toBe(signals[1]);
    expect(signals[0]?.aborted).toBe(false);
  });

  test('is inherited, so that copying the rest does not create it', async () => {
    const seen: PolicySubject[] = [];
    const policy: Policy = { id: 'keeps', check: (call) => void seen.push(call) };
    const { session } = setup([define('t')], { policies: [policy] });
    await session.call('t');
    expect(Object.keys(seen[0] as object)).toEqual([
      'tool',
      'input',
      'context',
      'knobs',
      'facts',
      'surface',
      'attributes',
    ]);
  });
});

describe('a policy of this package that fails', () => {
  const fault = new PolicyFault('engine_away', 'the engine is away', { cause: new Error('why') });

  test.each([
    [
      'throws',
      () => {
        throw fault;
      },
    ],
    ['rejects', () => Promise.reject(fault)],
  ])('gives its own reason when it %s, and is logged', async (_, check) => {
    const logged: { readonly err: Error }[] = [];
    const { session } = setup(
      [define('t')],
      { policies: [{ id: 'p', check }] },
      { logger: { warn: () => {}, error: (data) => void logged.push(data as { err: Error }) } },
    );
    const { error } = await session.call('t');
    expect(error).toMatchObject({ code: 'policy_error', reason: 'engine_away', ruleId: 'p' });
    expect(error?.message).not.toContain('the engine is away');
    expect(error?.cause).toBe(fault);
    expect(logged.map(({ err }) => err)).toEqual([fault]);
    expect(await session.explain('t', {})).toMatchObject({
      code: 'policy_error',
      decision: { effect: 'deny', reason: 'engine_away' },
    });
  });

  test.each([
    ['an error with a member `reason`', Object.assign(new Error('x'), { reason: 'mine' })],
    ['an object made from the class', Object.create(PolicyFault.prototype)],
    ['a text', 'engine_away'],
    ['null', null],
  ])('%s has no such reason', async (_, thrown) => {
    const check = (): never => {
      throw thrown;
    };
    const { session } = setup([define('t')], { policies: [{ id: 'p', check }] });
    expect(await session.call('t')).toMatchObject({ error: { reason: 'policy_threw' } });
  });
});
