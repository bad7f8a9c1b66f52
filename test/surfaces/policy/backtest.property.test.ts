/**
 * Random rules, quotas and calls: what a backtest says about the new rules is what a real session
 * over a registry with these rules does.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  type AnyTool,
  defineTool,
  type Effect,
  HostToolRegistry,
  type JsonObject,
  memoryQuotas,
  type Quota,
  type Rule,
  type ToolSession,
} from '../../../src/index.ts';
import { type BacktestRecord, backtest } from '../../../src/surfaces/policy/index.ts';
import { declared, sample, schemas } from '../../core/rules/rule-samples.ts';

const effect = fc.constantFrom<Effect>('allow', 'ask', 'deny');

/** What the rules of a real registry make of calls that come one after the other. */
async function really(
  tool: AnyTool,
  { rules, quotas = [], fallback }: { rules: readonly Rule[]; quotas?: Quota[]; fallback: Effect },
  records: readonly BacktestRecord[],
): Promise<Effect[]> {
  let time = 0;
  const now = () => time;
  const registry = new HostToolRegistry({
    logger: { warn: () => {}, error: () => {} },
    rules,
    quotas,
    default: fallback,
    now,
    quotaStore: memoryQuotas({ now }),
  });
  registry.register(tool as AnyTool<unknown>);
  const sessions = new Map<string, ToolSession>();
  let asked = false;
  const found: Effect[] = [];
  for (const { toolName, input, principal, facts, at, sessionId = 's', surface } of records) {
    time = Math.max(time, Number(at ?? time));
    const key = `${sessionId} ${principal}`;
    const session =
      sessions.get(key) ??
      registry.createSession({
        sessionId,
        principal,
        facts,
        approver: () => {
          asked = true;
          return 'allow_once';
        },
      });
    sessions.set(key, session);
    asked = false;
    const result = await session.call(
      toolName,
      input,
      surface === undefined ? {} : { surface: { name: surface } },
    );
    if (!result.success) expect(result.error.code).toMatch(/^policy_(denied|error)$/);
    found.push(result.success ? (asked ? 'ask' : 'allow') : 'deny');
  }
  return found;
}

/** What a backtest says. Against rules that deny everything, all others are changes. */
async function said(
  registry: HostToolRegistry,
  records: readonly BacktestRecord[],
  after: readonly Rule[],
): Promise<Effect[]> {
  const { changed, summary } = await backtest(records, {
    registry,
    before: [{ effect: 'deny' }],
    after,
  });
  expect(summary.judged).toBe(records.length);
  const effects = new Map(changed.map((one) => [Number(one.callId), one.after]));
  return records.map((_, index) => effects.get(index) ?? 'deny');
}

test('with random rules over random inputs', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(sample, effect, fc.boolean()), { minLength: 1, maxLength: 4 }),
      effect,
      async (all, fallback) => {
        const [[{ schema, input, facts, principal, surface }]] = all as [(typeof all)[0]];
        const rules = all.map(
          ([{ rule }, one, shadow]) => ({ effect: one, ...rule, shadow }) as Rule,
        );
        const change = schemas[schema];
        const parameters =
          change === undefined
            ? {
                type: 'object',
                properties: Object.fromEntries(declared.map((name) => [name, {}])),
              }
            : z
                .looseObject(Object.fromEntries(declared.map((n) => [n, z.any().optional()])))
                .transform((read) => change(read as JsonObject));
        const tool = defineTool({
          name: 'run',
          description: 'Runs.',
          parameters: parameters as z.ZodType<Record<string, unknown>>,
          handler: () => 'ran',
        });
        const record: BacktestRecord = {
          toolName: 'run',
          input,
          principal,
          facts: facts as JsonObject,
          surface,
        };
        const registry = new HostToolRegistry({ default: fallback });
        registry.register(tool);
        expect(await said(registry, [record], rules)).toEqual(
          await really(tool, { rules, fallback }, [record]),
        );
      },
    ),
    { numRuns: 300 },
  );
});

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  parameters: {
    type: 'object',
    properties: { amount: { type: 'number' }, to: { type: 'string' } },
  },
  handler: () => 'paid',
});
const anyQuota = fc.record({
  sum: fc.constantFrom(undefined, 'amount'),
  max: fc.constantFrom(0, 1, 3, 10),
  per: fc.constantFrom<Quota['per']>('minute', 'session', { ms: 5 }),
  over: fc.constantFrom<Quota['over']>('deny', 'ask'),
  who: fc.constantFrom<Quota['by']>('session', 'principal', 'registry', { path: 'to' }),
  when: fc.constantFrom(undefined, { amount: { gt: 2 } }),
});
const anyCall = fc.record({
  amount: fc.constantFrom(0, 1, 2.5, 4, -1),
  to: fc.constantFrom('x', 'y', undefined),
  principal: fc.constantFrom(undefined, 'ann', 'bob'),
  sessionId: fc.constantFrom('s', 't'),
  after: fc.constantFrom(0, 1, 4, 5, 60_000, undefined),
});

test('with random quotas over calls in the order of time', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyQuota, { minLength: 1, maxLength: 3 }),
      fc.array(anyCall, { minLength: 1, maxLength: 12 }),
      fc.constantFrom<Rule[]>(
        [],
        [{ effect: 'ask', when: { amount: { gte: 2.5 } } }],
        [{ effect: 'deny', when: { to: 'y' } }],
      ),
      async (given, calls, rules) => {
        const quotas = given.map(
          ({ who, per, ...rest }, index): Quota => ({
            ...rest,
            id: `q${index}`,
            per,
            by: per === 'session' ? 'session' : who,
          }),
        );
        let at = 0;
        const records = calls.map(({ amount, to, principal, sessionId, after }) => {
          at += after ?? 0;
          return {
            toolName: 'pay',
            input: to === undefined ? { amount } : { amount, to },
            principal,
            sessionId,
            at: after === undefined ? undefined : at,
          };
        });
        const registry = new HostToolRegistry({ quotas });
        registry.register(pay);
        expect(await said(registry, records, rules)).toEqual(
          await really(pay, { rules, quotas, fallback: 'allow' }, records),
        );
      },
    ),
    { numRuns: 200 },
  );
});
