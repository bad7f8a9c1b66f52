/** An audit log as the records of a backtest. */
import { describe, expect, test } from 'vitest';
import { defineTool, HostToolRegistry } from '../../../src/index.ts';
import { createAuditLog } from '../../../src/surfaces/audit/index.ts';
import { backtest, readRecords } from '../../../src/surfaces/policy/index.ts';

async function logged(content: 'redacted' | 'hashed' | 'none' = 'redacted') {
  const registry = new HostToolRegistry({
    now: () => 1_000,
    approvals: { secret: 'x'.repeat(32) },
  });
  for (const name of ['pay', 'read'])
    registry.register(
      defineTool({ name, description: 'x', parameters: { type: 'object' }, handler: () => 1 }),
    );
  const lines: string[] = [];
  const audit = createAuditLog({
    sink: (line) => void lines.push(`${line}\n`),
    content,
    required: true,
    key: 'k'.repeat(32),
  });
  audit.attach(registry);
  const session = registry.createSession({
    sessionId: 's',
    principal: 'ann',
    approvalMode: 'suspend',
    rules: [{ effect: 'ask', tools: 'pay', when: { amount: 7 } }],
  });
  await session.call('pay', { amount: 5 }, { callId: 'five', surface: { name: 'mcp' } });
  await session.call('pay', { amount: 50 }, { callId: 'fifty' });
  const pending = await session.call('pay', { amount: 7 }, { callId: 'seven' });
  const token = ('approval' in pending ? pending.approval?.token : undefined) ?? '';
  await session.approvals.resume(token, 'allow_once');
  await session.call('read', 'text', { callId: 'text' });
  await audit.close();
  return { registry, lines };
}

describe('an audit log', () => {
  test('is one record for each call: no starts, and no second attempts', async () => {
    const { lines } = await logged();
    const records = [];
    for await (const record of readRecords(lines)) records.push(record);
    expect(records.map(({ callId, input }) => [callId, input])).toEqual([
      ['five', { amount: 5 }],
      ['fifty', { amount: 50 }],
      ['seven', { amount: 7 }],
      ['text', null],
    ]);
    expect(records[0]).toEqual({
      callId: 'five',
      toolName: 'pay',
      input: { amount: 5 },
      principal: 'ann',
      at: 1_000,
      sessionId: 's',
      surface: 'mcp',
    });
  });

  test('can be judged by other rules', async () => {
    const { lines, registry } = await logged();
    const { changed, calls } = await backtest(readRecords(lines), {
      registry,
      after: [{ id: 'big', effect: 'deny', tools: 'pay', when: { amount: { gt: 10 } } }],
    });
    expect(calls).toBeGreaterThan(2);
    expect(changed).toMatchObject([
      { callId: 'fifty', before: 'allow', after: 'deny', ruleId: 'big' },
    ]);
  });

  test.each([
    ['hashed', 'a hash'],
    ['none', 'none'],
  ] as const)('cannot where its content is %s', async (content, got) => {
    const { lines } = await logged(content);
    await expect(async () => {
      for await (const _ of readRecords(lines, { name: 'log' }));
    }).rejects.toThrow(
      `log: line 2: expected \`arguments\` to hold the arguments of the call, got ${got}. Only ` +
        'an audit log with `content: "redacted"` can be judged again.',
    );
  });
});
