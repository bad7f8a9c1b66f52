/** A rule that looks at no call denies before anything of the input is read. */
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { defineTool, HostToolRegistry, type Rule, type ToolResult } from '../../../src/index.ts';

function setUp(rules: readonly Rule[], ofSession: readonly Rule[] = []) {
  const registry = new HostToolRegistry({ rules });
  registry.register(
    defineTool({
      name: 'add',
      description: 'Adds one.',
      parameters: z.object({ n: z.number() }),
      handler: ({ n }) => n + 1,
    }),
  );
  return { registry, session: registry.createSession({ sessionId: 's', rules: ofSession }) };
}

const deny: Rule = { id: 'frozen', tools: 'add', effect: 'deny', reason: 'frozen' };

/** An input that notices when it is looked at. */
function watched(): { readonly input: object; readonly looked: () => number } {
  const look = vi.fn();
  const trap = (answer: unknown) => () => {
    look();
    return answer;
  };
  const handler = {
    get: trap(undefined),
    has: trap(false),
    ownKeys: trap([]),
    getOwnPropertyDescriptor: trap(undefined),
    getPrototypeOf: trap(null),
  } as ProxyHandler<object>;
  return { input: new Proxy({}, handler), looked: () => look.mock.calls.length };
}

function told(result: ToolResult) {
  const { callId: _, durationMs: __, ...metadata } = result.metadata;
  return { error: result.error, metadata };
}

test('nothing of the input is read, and the call takes no time', async () => {
  const { session } = setUp([deny]);
  const { input, looked } = watched();
  const result = await session.call('add', input);
  expect(told(result)).toMatchObject({
    error: { code: 'policy_denied', reason: 'frozen', ruleId: 'frozen', source: 'registry' },
    metadata: { toolName: 'add', status: 'rejected', attempt: 1 },
  });
  expect(result.metadata.durationMs).toBe(0);
  expect(looked()).toBe(0);
});

test.each([
  ['a text', 'n: 1'],
  ['nothing', undefined],
  ['a list', [1]],
  ['what is no JSON', { n: 1n }],
])('with or without a listener, the answer to %s is the denial', async (_, input) => {
  const { session } = setUp([deny]);
  const quiet = await session.call('add', input);
  session.events.on('*', () => {});
  const heard = await session.call('add', input);
  expect(told(quiet)).toEqual(told(heard));
  expect(heard.error?.code).toBe('policy_denied');
  expect((await session.explain('add', input)).code).toBe('policy_denied');
});

describe('the call goes through all stages', () => {
  test('if a hook might answer first', async () => {
    const { session } = setUp([deny]);
    const before = vi.fn();
    session.use({ before });
    await session.call('add', { n: 1 });
    expect(before).toHaveBeenCalledTimes(1);
  });

  test('if the session limits its rate, which the call counts against', async () => {
    const { registry } = setUp([deny]);
    const session = registry.createSession({ sessionId: 't', limits: { callsPerMinute: 1 } });
    expect((await session.call('add', { n: 1 })).error?.code).toBe('policy_denied');
    expect((await session.call('add', { n: 1 })).error?.code).toBe('rate_limited');
  });

  test('if the session is closed', async () => {
    const { session } = setUp([deny]);
    await session.close();
    expect((await session.call('add', { n: 1 })).error?.code).toBe('session_closed');
  });
});

test('a rule that is removed denies no longer', async () => {
  const { registry, session } = setUp([]);
  const remove = registry.addRules([deny]);
  expect((await session.call('add', { n: 1 })).error?.reason).toBe('frozen');
  remove();
  expect((await session.call('add', { n: 1 })).output).toBe(2);
});

test('for any rules, results and counts are those of a call that somebody hears', async () => {
  const rule: fc.Arbitrary<Rule> = fc.record(
    {
      effect: fc.constantFrom('allow' as const, 'ask' as const, 'deny' as const),
      tools: fc.constantFrom('add', '*', 'other'),
      when: fc.constantFrom({ n: 1 }, { n: { gt: 5 } }),
      surface: fc.constantFrom('mcp'),
      shadow: fc.boolean(),
    },
    { requiredKeys: ['effect'] },
  );
  const rules = fc.array(rule, { maxLength: 4 });
  const input = fc.constantFrom<unknown>({ n: 1 }, { n: 9 }, {}, 'text', undefined);
  await fc.assert(
    fc.asyncProperty(rules, rules, fc.array(input, { maxLength: 3 }), async (all, own, inputs) => {
      const quiet = setUp(all, own);
      const heard = setUp(all, own);
      heard.session.events.on('*', () => {});
      // A listener has the session list its tools, which uses the rules that hide some.
      expect(quiet.session.effectiveTools().names).toEqual(heard.session.effectiveTools().names);
      for (const one of inputs) {
        const [first, second] = [
          await quiet.session.call('add', one),
          await heard.session.call('add', one),
        ];
        // An input that is wrong is not read if a rule denies the call anyway.
        expect(told(first)).toEqual(told(second));
      }
      const counts = ({ registry, session }: typeof quiet) =>
        [registry.metrics(), session.metrics()].map(({ byRule, byReason, byTool, denyRate }) => {
          const { durationMs: ___, ...tool } = byTool.add ?? { durationMs: undefined };
          return { byRule, byReason, denyRate, tool, unused: registry.unusedRules() };
        });
      expect(counts(quiet)).toEqual(counts(heard));
    }),
  );
});
