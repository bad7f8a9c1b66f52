/**
 * Calls that are judged before they have a record: nobody can tell them from other calls, whether
 * they are denied, go on, or cannot be read.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  type AnyTool,
  defineTool,
  HostToolRegistry,
  type RegistryOptions,
  type Rule,
  type ToolResult,
  type ToolSession,
} from '../../../src/index.ts';

const parameters = z.object({ city: z.string(), days: z.number() });
const raw = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'number', default: 7 } },
  required: ['city'],
} as const;

interface World {
  readonly registry: HostToolRegistry;
  readonly session: ToolSession;
  readonly ran: unknown[];
}

/** @param watched Somebody listens, so that each call has a record from its beginning. */
function world(
  watched: boolean,
  rules: readonly Rule[],
  { options = {}, tool = {} }: { options?: RegistryOptions; tool?: object } = {},
): World {
  const ran: unknown[] = [];
  const registry = new HostToolRegistry({ rules: [...rules], ...options });
  const handler = (input: unknown): unknown => {
    ran.push(input);
    return 'ran';
  };
  const of = (name: string, more: object): AnyTool<unknown> =>
    defineTool({ name, description: 'Forecasts.', parameters, handler, ...more } as never);
  registry.registerAll([of('zod', tool), of('raw', { parameters: raw, ...tool })]);
  const session = registry.createSession({ sessionId: 's', approver: () => 'reject_once' });
  if (watched) session.events.on('session:end', () => {});
  return { registry, session, ran };
}

/** What can be told apart of a result: everything but its id and how long it took. */
function told(result: ToolResult): unknown {
  const { callId, durationMs, ...metadata } = result.metadata;
  expect(callId).toMatch(/./);
  expect(durationMs).toBeGreaterThanOrEqual(0);
  return { ...result, metadata };
}

function counted(session: ToolSession): unknown {
  return JSON.parse(
    JSON.stringify(session.metrics(), (key, value) => (/Ms$|buckets/.test(key) ? 0 : value)),
  );
}

const rule: fc.Arbitrary<Rule> = fc
  .record({
    effect: fc.constantFrom('deny', 'deny', 'ask', 'allow'),
    tools: fc.constantFrom('*', 'zod', 'raw', 'other'),
    when: fc.option(
      fc.constantFrom(
        { days: { in: [7, 14] } },
        { days: { gt: 10 } },
        { city: 'Oslo' },
        { city: { glob: 'B*' } },
        { more: { exists: true } },
        { city: { not: 'Oslo' } },
        { city: { origin: 'untrusted' } },
        { days: { equals: 7 }, city: { matches: '^O' } },
      ),
      { nil: undefined },
    ),
    shadow: fc.constantFrom(undefined, undefined, true),
  })
  .map(({ when, shadow, ...one }, index = 0) => ({
    id: `rule ${JSON.stringify([one, when, shadow, index])}`,
    ...one,
    ...(one.effect === 'deny' && { reason: 'denied_here' }),
    ...(when !== undefined && { when }),
    ...(shadow !== undefined && { shadow }),
  })) as fc.Arbitrary<Rule>;

const deep = (levels: number): unknown =>
  levels === 0 ? 1 : Object.fromEntries([['a', deep(levels - 1)]]);
const input = fc.oneof(
  fc.record({ city: fc.constantFrom('Oslo', 'Bonn'), days: fc.constantFrom(3, 7, 14, 20) }),
  fc.constantFrom<unknown>(
    undefined,
    null,
    'Oslo',
    [],
    { city: 'Oslo' },
    { city: 'Oslo', days: 'three' },
    { city: 'Oslo', days: 7, more: 1 },
    { city: 1n, days: 7 },
    { city: 'x'.repeat(2_000_000), days: 7 },
    JSON.parse('{ "city": "Oslo", "days": 7, "__proto__": { "days": 3 } }'),
    { city: 'Oslo', days: 7, more: deep(80) },
    { city: 'Oslo', days: Number.NaN },
  ),
);

test('a call that nobody watches ends as one that somebody watches', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(rule, { maxLength: 4, selector: ({ id }) => id }),
      fc.constantFrom('allow', 'ask', 'deny'),
      fc.array(fc.tuple(fc.constantFrom('zod', 'raw', 'none'), input), { maxLength: 4 }),
      async (rules, fallback, calls) => {
        // Some rules can never match; their warnings are not what is tested here.
        const logger = { warn: () => {}, error: () => {} };
        const options = { default: fallback, logger } as RegistryOptions;
        const [quiet, watched] = [false, true].map((one) => world(one, rules, { options }));
        if (quiet === undefined || watched === undefined) return;
        for (const [name, given] of calls)
          expect(told(await quiet.session.call(name, given))).toEqual(
            told(await watched.session.call(name, given)),
          );
        expect(quiet.ran).toEqual(watched.ran);
        expect(counted(quiet.session)).toEqual(counted(watched.session));
      },
    ),
    { numRuns: 300 },
  );
});

describe('host code before the verdict', () => {
  const week = { id: 'week', effect: 'deny', tools: '*', when: { days: 7 } } as const;

  test.each(['zod', 'raw'])('%s: getters of an input are read once', async (name) => {
    const { session, ran } = world(false, [week]);
    for (const days of [7, 3]) {
      let reads = 0;
      const given = {
        city: 'Oslo',
        get days() {
          reads++;
          return days;
        },
      };
      expect((await session.call(name, given)).success).toBe(days === 3);
      expect(reads).toBe(1);
    }
    expect(ran).toEqual([{ city: 'Oslo', days: 3 }]);
  });

  test('a getter that throws is read as often as in a call that is watched', async () => {
    const reads = [0, 0];
    for (const place of [0, 1]) {
      const { session } = world(place === 1, [week]);
      const given = {
        get city() {
          (reads[place] as number)++;
          throw new Error('no');
        },
        days: 7,
      };
      expect((await session.call('zod', given)).error?.code).toBe('invalid_input');
    }
    expect(reads[0]).toBe(reads[1]);
  });

  test('a getter that closes its session ends the call', async () => {
    const { session, ran } = world(false, [week]);
    const given = {
      get city() {
        void session.close();
        return 'Oslo';
      },
      days: 3,
    };
    const { error } = await session.call('zod', given);
    expect(error?.code).toBe('session_closed');
    expect(ran).toEqual([]);
  });

  test('a rule that a getter adds is obeyed', async () => {
    const registry = new HostToolRegistry({ rules: [week] });
    let ran = 0;
    registry.register(
      defineTool({ name: 'zod', description: 'd', parameters, handler: () => ++ran }),
    );
    const session = registry.createSession({ sessionId: 's' });
    const given = {
      get city() {
        registry.addRules([{ id: 'late', effect: 'deny', tools: 'zod' }]);
        return 'Oslo';
      },
      days: 3,
    };
    expect((await session.call('zod', given)).error).toMatchObject({ ruleId: 'late' });
    expect(ran).toBe(0);
  });

  test('a call whose fault is put into words by code that removes its tool ends all the same', async () => {
    const ends = [false, true].map(async (watched) => {
      const registry = new HostToolRegistry({ rules: [week] });
      const error = (): string => {
        registry.unregister('zod');
        return 'Expected a city.';
      };
      const own = z.object({ city: z.string({ error }), days: z.number() });
      registry.register(
        defineTool({ name: 'zod', description: 'd', parameters: own, handler: () => 'ran' }),
      );
      const session = registry.createSession({ sessionId: 's' });
      if (watched) session.events.on('session:end', () => {});
      const result = await session.call('zod', { city: 1, days: 3 });
      return [told(result), counted(session)];
    });
    const [quiet, watched] = await Promise.all(ends);
    expect(quiet).toMatchObject([{ error: { code: 'invalid_input' } }, { calls: 1 }]);
    expect(quiet).toEqual(watched);
  });

  test.each(['', ', and calls the tool then'])(
    'a getter that leaves the profile of the tool%s refuses the call',
    async (calls) => {
      for (const days of [3, 7]) {
        const ends = [false, true].map(async (watched) => {
          const { session, registry, ran } = world(watched, [week]);
          registry.defineProfile({ id: 'other', tools: ['raw'] });
          const given = {
            get city() {
              session.setProfile('other');
              if (calls !== '') void session.call('zod', { city: 'Oslo', days: 3 });
              return 'Oslo';
            },
            days,
          };
          return [told(await session.call('zod', given)), counted(session), ran];
        });
        const [quiet, watched] = await Promise.all(ends);
        expect(quiet).toMatchObject([{ error: { reason: 'not_in_profile' } }, {}, []]);
        expect(quiet).toEqual(watched);
      }
    },
  );

  test.each([true, false])(
    'a refinement that leaves the profile of the tool refuses the call; it calls it: %s',
    async (calls) => {
      const registry = new HostToolRegistry();
      let ran = 0;
      const leave = (): boolean => {
        session.setProfile('other');
        if (calls) void inner();
        return true;
      };
      let inner = (): unknown => {
        inner = () => undefined;
        return session.call('own', { city: 'Oslo' });
      };
      const own = z.object({ city: z.string().refine(leave) });
      for (const name of ['own', 'kept'])
        registry.register(
          defineTool({ name, description: 'd', parameters: own, handler: () => ++ran }),
        );
      registry.defineProfile({ id: 'other', tools: ['kept'] });
      const session = registry.createSession({ sessionId: 's' });
      const { error } = await session.call('own', { city: 'Oslo' });
      expect(error).toMatchObject({ reason: 'not_in_profile' });
      expect(ran).toBe(0);
    },
  );

  test('an invalid input stays invalid if code that puts it into words throws, and is validated once', async () => {
    const asked = [0, 0];
    let isWatched = false;
    const error = (): string => {
      (asked[Number(isWatched)] as number)++;
      throw new Error('no words');
    };
    const own = z.object({ city: z.string({ error }), days: z.number() });
    for (const days of [3, 7])
      for (const watched of [false, true]) {
        isWatched = watched;
        const { session, ran } = world(watched, [week], { tool: { parameters: own } });
        const { error: told } = await session.call('zod', { city: 1, days });
        expect(told?.code).toBe('invalid_input');
        expect(ran).toEqual([]);
      }
    expect(asked[0]).toBe(asked[1]);
  });

  test('a getter that calls the tool again and again gets to an end', async () => {
    const { session, ran } = world(false, [week]);
    const given = {
      get city() {
        void session.call('zod', given);
        return 'Oslo';
      },
      days: 7,
    };
    expect((await session.call('zod', given)).error?.code).toBe('policy_denied');
    expect(ran).toEqual([]);
  });
});
