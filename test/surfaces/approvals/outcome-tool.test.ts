import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { defineTool, fail, HostToolRegistry, type RegistryOptions } from '../../../src/index.ts';
import {
  type ApprovalOutcomeToolOptions,
  approvalOutcomeTool,
  memoryApprovals,
} from '../../../src/surfaces/approvals/index.ts';

function setUp(options?: ApprovalOutcomeToolOptions, registryOptions?: RegistryOptions) {
  let now = 1_000_000;
  const registry = new HostToolRegistry({
    approvals: { secret: 'x'.repeat(32), store: memoryApprovals({ now: () => now }) },
    now: () => now,
    logger: { warn() {}, error() {} },
    ...registryOptions,
  });
  registry.registerAll([
    defineTool({
      name: 'pay',
      description: 'Pays.',
      parameters: z.object({ to: z.string() }),
      outputSchema: z.object({ receipt: z.string().meta({ secret: true }) }),
      requiresApproval: true,
      handler: async ({ to }) => {
        if (to === 'thrown') throw new Error('the password of the bank is wrong');
        if (to === 'failed')
          return fail({ reason: 'no_account', message: 'There is no such account.' });
        return { receipt: `receipt of ${to}` };
      },
    }),
    approvalOutcomeTool(registry, options),
  ]);
  const open = (sessionId: string, principal = 'ann') =>
    registry.createSession({ sessionId, principal, approvalMode: 'suspend' });
  const session = open('chat');
  const suspend = async (to: string): Promise<string> => {
    const result = await session.call('pay', { to });
    return (result.success ? undefined : result.approval?.id) ?? '';
  };
  const answer = (id: string, decision: 'allow_once' | 'reject_once', message?: string) =>
    registry.approvals.answer(id, { decision, by: 'bob', ...(message && { message }) });
  const outcome = async (id: string, by = session) =>
    (await by.call('approval_outcome', { id })).output;
  return { registry, open, session, suspend, answer, outcome, wait: (ms: number) => (now += ms) };
}

describe('approval_outcome', () => {
  test('returns what a call returned, once a person has allowed it', async () => {
    const { suspend, answer, outcome } = setUp();
    const id = await suspend('acme');
    expect(await outcome(id)).toEqual({ status: 'pending' });
    await answer(id, 'allow_once');
    expect(await outcome(id)).toEqual({
      status: 'settled',
      decision: 'allow_once',
      output: { receipt: 'receipt of acme' },
    });
  });

  test('returns a rejection with its message, but not who gave it', async () => {
    const { suspend, answer, outcome } = setUp();
    const id = await suspend('acme');
    await answer(id, 'reject_once', 'Not on a Friday.');
    const told = await outcome(id);
    expect(told).toMatchObject({
      status: 'settled',
      decision: 'reject_once',
      error: { code: 'approval_denied', message: expect.stringContaining('Not on a Friday.') },
    });
    expect(JSON.stringify(told)).not.toContain('bob');
  });

  test('knows nothing of other sessions, other principals, and ids that never were', async () => {
    const { open, suspend, answer, outcome } = setUp();
    const id = await suspend('acme');
    await answer(id, 'allow_once');
    for (const other of [open('other'), open('chat', 'eve')])
      expect(await outcome(id, other)).toEqual({ status: 'unknown' });
    expect(await outcome('no such id')).toEqual({ status: 'unknown' });
    expect(await outcome(id, open('chat'))).toMatchObject({ status: 'settled' });
  });

  test('says that there was no answer in time', async () => {
    const { suspend, outcome, wait } = setUp();
    const id = await suspend('acme');
    wait(3_600_000);
    expect(await outcome(id)).toEqual({ status: 'expired' });
  });

  test.each<[ApprovalOutcomeToolOptions | undefined, string, object]>([
    [
      undefined,
      'thrown',
      { code: 'handler_error', message: 'The tool failed. The details are not shown here.' },
    ],
    [
      undefined,
      'failed',
      { code: 'handler_error', message: 'The tool failed. The details are not shown here.' },
    ],
    [
      { exposeErrors: 'message' },
      'failed',
      { code: 'handler_error', reason: 'no_account', message: 'There is no such account.' },
    ],
  ])('with %j, a handler that has %s ends as %j', async (options, to, error) => {
    const { suspend, answer, outcome } = setUp(options);
    const id = await suspend(to);
    await answer(id, 'allow_once');
    expect(await outcome(id)).toEqual({ status: 'settled', decision: 'allow_once', error });
  });

  test('is governed like any other tool', async () => {
    const { session } = setUp();
    expect((await session.call('approval_outcome', {})).error?.code).toBe('invalid_input');
    expect((await session.call('approval_outcome', { id: '' })).error?.code).toBe('invalid_input');
    const denying = setUp(undefined, {
      rules: [{ id: 'no-outcome', effect: 'deny', tools: 'approval_outcome' }],
    });
    const denied = await denying.session.call('approval_outcome', { id: 'x' });
    expect(denied.error?.ruleId).toBe('no-outcome');
  });

  test('its output is hidden from events, and its values count as untrusted', async () => {
    const { registry, open, suspend, answer, outcome } = setUp(undefined, {
      rules: [{ effect: 'deny', tools: 'pay', when: { to: { origin: 'untrusted' } } }],
    });
    const heard = vi.fn();
    const id = await suspend('acme');
    await answer(id, 'allow_once');
    registry.events.on('*', heard);
    // As in another process: this session did not see the call.
    const later = open('chat');
    await outcome(id, later);
    expect(JSON.stringify(heard.mock.calls)).toContain('approval_outcome');
    expect(JSON.stringify(heard.mock.calls)).not.toContain('receipt of');
    expect(later.originOf('pay', { to: 'receipt of acme' })[0]?.origin).toBe('untrusted');
  });

  test('needs a registry that suspends calls', () => {
    expect(() => approvalOutcomeTool(new HostToolRegistry())).toThrow(
      'approvalOutcomeTool: expected a registry with `approvals.secret`.',
    );
  });
});
