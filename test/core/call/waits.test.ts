/** Every wait of a call before its handler, with every change that may come meanwhile. */

import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { offerPlaces } from '../../../src/core/call/take-place.ts';
import { observeCalls } from '../../../src/core/registry/observe-calls.ts';
import {
  type ApprovalAnswer,
  allow,
  type Executor,
  type Policy,
  type RegistryOptions,
  type SessionOptions,
  type ToolResult,
} from '../../../src/index.ts';
import {
  type KeyPort,
  keyStoreOf,
  memoryKeyPort,
  memoryQuotaPort,
  type QuotaPort,
  quotaStoreOf,
} from '../../stores/shared/ports.ts';
import { andThen, define, type Setup, setup } from './define.ts';
import { gate, outcome, turns } from './world.ts';

/** What the tool, its session and its registry need so that the call waits for `held`. */
interface Way {
  readonly tool?: Record<string, unknown>;
  readonly session?: Partial<SessionOptions>;
  readonly registry?: RegistryOptions;
  /** Whether another call holds what this one waits for. */
  readonly isHeld?: true;
  readonly options?: { readonly idempotencyKey: string };
  /** Runs before the call. */
  readonly before?: (world: Setup) => Promise<void> | void;
}

const ran = vi.fn(() => 'ran');
const numbers = z.object({ n: z.number(), m: z.number().default(0) });
const long = 'lorem ipsum dolor sit amet '.repeat(150_000);

const ways: Record<string, (held: Promise<void>) => Way> = {
  'a hook': (held) => ({ session: { hooks: [{ before: () => held }] } }),
  'a schema': (held) => ({ tool: { parameters: numbers.refine(() => held.then(() => true)) } }),
  'a policy': (held) => ({
    session: { policies: [{ id: 'slow', check: () => held.then(() => undefined) }] },
  }),
  'a check': (held) => ({ tool: { policy: { check: () => held.then(allow) } } }),
  'a decision about approval': (held) => ({
    tool: { requiresApproval: () => held.then(() => false) },
  }),
  'an attribute': (held) => ({
    tool: { attributes: { n: () => held.then(() => ({ large: false })), m: attribute } },
    registry: { rules: [{ effect: 'deny', when: { 'n@large': true } }] },
  }),
  'a long text': () => ({
    registry: { rules: [{ effect: 'deny', when: { n: { origin: 'untrusted' } } }] },
    before: ({ session }) => {
      session.said('1');
      session.said(long);
    },
  }),
  'a person': (held) => ({
    tool: { requiresApproval: true },
    session: { approver: () => held.then(() => 'allow_once' as const) },
  }),
  'a slot of the session': () => ({ session: { limits: { maxConcurrentCalls: 1 } }, isHeld: true }),
  'a slot of the tool': () => ({
    tool: { maxConcurrency: 1 },
    before: ({ session }) => void session.call('t', { n: 0 }),
  }),
  'a lock': () => ({ tool: { resourceKey: 'r' }, isHeld: true }),
  'the key of a lock': (held) => ({
    tool: {
      parameters: laterRefined(held),
      resourceKey: () => 'other',
    },
  }),
  'the store of outcomes': (held) => {
    const port = memoryKeyPort();
    const claim: KeyPort['claim'] = async (one) => held.then(() => port.claim(one));
    return {
      registry: { idempotency: { store: keyStoreOf({ ...port, claim }) } },
      options: { idempotencyKey: 'k' },
    };
  },
  'the store of quotas': (held) => {
    const port = memoryQuotaPort();
    const reserve: QuotaPort['reserve'] = async (spends) => held.then(() => port.reserve(spends));
    return {
      registry: {
        quotas: [{ id: 'q', max: 9, per: 'day', by: 'session' }],
        quotaStore: quotaStoreOf({ ...port, reserve }),
      },
    };
  },
  'a look at the quotas': (held) => {
    const port = memoryQuotaPort();
    const look: QuotaPort['look'] = async (spends) => held.then(() => port.look(spends));
    return {
      registry: {
        quotas: [{ id: 'q', max: 9, per: 'day', by: 'session', over: 'ask' }],
        quotaStore: quotaStoreOf({ ...port, look }),
      },
    };
  },
  'a required log': (held) => ({
    before: ({ registry }) =>
      void observeCalls('test', registry, { starting: () => held, ended: () => {} }),
  }),
  'room in a log': (held) => {
    let isFull = true;
    void held.then(() => {
      isFull = false;
    });
    const moreRoom = (): Promise<void> | undefined => (isFull ? held : undefined);
    return {
      before: ({ registry }) => void observeCalls('test', registry, { moreRoom, ended: () => {} }),
    };
  },
  'a handler that is created': (held) => ({
    tool: { handler: undefined, create: () => held.then(() => ({ handler: ran })) },
  }),
  'a place of its executor': (held) => {
    const executor: Executor = { execute: async () => ran() };
    const place = { lost: false, run: async () => ran(), release: () => {} };
    offerPlaces(executor, () => held.then(() => place));
    return { tool: { handler: undefined, executor } };
  },
  'an executor that is disposed': (held) => {
    const executor: Executor = { execute: async () => ran(), dispose: () => held };
    return {
      tool: { handler: undefined, executor },
      before: async ({ registry }) => {
        const other = setup([define('first', { handler: undefined, executor })]);
        await turns();
        const tool = registry.get('t') as never;
        registry.unregister('t');
        void other.registry.close();
        await turns();
        registry.register(tool);
      },
    };
  },
};

/** Waits for `held`, but not when the input is validated and the attribute is asked. */
function laterRefined(held: Promise<void>): unknown {
  let times = 0;
  return numbers.refine(() => (times++ < 2 ? true : held.then(() => true)));
}

/** What the gates of the world read, beyond what the registry knows. */
const mind = { banned: false, policy: true };
const attribute = () => ({ banned: mind.banned });
const policy: Policy = {
  id: 'mood',
  check: () => (mind.policy ? undefined : { effect: 'deny', reason: 'mood' }),
};

const changes: Record<string, { change(world: Setup): unknown; code: string; reason?: string }> = {
  'a rule is added': {
    change: ({ registry }) => registry.addRules([{ effect: 'deny', tools: 't', reason: 'new' }]),
    code: 'policy_denied',
    reason: 'new',
  },
  'a rule about the input is added': {
    change: ({ registry }) => registry.addRules([{ effect: 'deny', when: { n: 1 }, reason: 'n' }]),
    code: 'policy_denied',
    reason: 'n',
  },
  'a rule that asks is added': {
    change: ({ registry }) => registry.addRules([{ effect: 'ask', tools: 't', id: 'asks' }]),
    code: 'approval_denied',
  },
  'the tool is disabled': {
    change: ({ session }) => session.setOverrides({ disable: ['t'] }),
    code: 'tool_not_available',
    reason: 'disabled',
  },
  'the tool is removed': {
    change: ({ registry }) => registry.unregister('t'),
    code: 'tool_not_available',
    reason: 'removed',
  },
  'the profile is changed': {
    change: ({ session }) => session.setProfile('without'),
    code: 'tool_not_available',
    reason: 'not_in_profile',
  },
  'a fact is dropped': {
    change: ({ session }) => session.setFacts({ ready: null }),
    code: 'tool_not_available',
    reason: 'fact_unmet',
  },
  'an attribute has changed': {
    change: () => {
      mind.banned = true;
    },
    code: 'policy_denied',
    reason: 'banned',
  },
  'a policy has changed its mind': {
    change: () => {
      mind.policy = false;
    },
    code: 'policy_denied',
    reason: 'mood',
  },
  'a quota is added': {
    change: ({ registry }) =>
      registry.addQuotas([{ id: 'none', max: 0, per: 'day', by: 'session', tools: 't' }]),
    code: 'policy_denied',
    reason: 'quota_exceeded',
  },
  'the session is closed': {
    change: ({ session }) => session.close(),
    code: 'session_closed',
  },
};

interface World extends Setup {
  /** Starts the call, and lets it wait. */
  start(): Promise<{ readonly calling: Promise<ToolResult> }>;
  /** Lets it go on. */
  go(): void;
  /** Resolves when nothing of the world runs any more. */
  end(): Promise<void>;
}

async function worldOf(way: string, answers: readonly ApprovalAnswer[] = []): Promise<World> {
  ran.mockClear();
  Object.assign(mind, { banned: false, policy: true });
  const held = gate();
  const holding = gate();
  const { tool, session, registry, isHeld, options, before } = (ways[way] as (typeof ways)[string])(
    held.promise,
  );
  let asked = 0;
  const shared = tool?.resourceKey === 'r' ? { resourceKey: 'r' } : {};
  const slow = 'maxConcurrency' in (tool ?? {});
  const made = setup(
    [
      define('t', {
        parameters: numbers,
        handler: ({ n }: { n: number }) => (slow && n === 0 ? held.promise : ran()),
        requires: [{ fact: 'ready', equals: true }],
        attributes: { m: attribute },
        ...tool,
      }),
      define('other', shared),
      define('holder', { ...shared, handler: () => holding.promise }),
    ],
    {
      facts: { ready: true },
      approver: () => answers[asked++] ?? 'reject_once',
      ...session,
      policies: [policy, ...(session?.policies ?? [])],
    },
    {
      ...registry,
      rules: [
        { effect: 'deny', when: { 'm@banned': true }, reason: 'banned' },
        ...(registry?.rules ?? []),
      ],
    },
  );
  made.registry.defineProfile({ id: 'with', tools: ['t', 'other', 'holder'] });
  made.registry.defineProfile({ id: 'without', tools: ['other'] });
  made.session.setProfile('with');
  const other = isHeld ? made.session.call('holder', {}) : undefined;
  return {
    ...made,
    async start() {
      await before?.(made);
      const calling = made.session.call('t', { n: 1 }, options);
      await turns();
      return { calling };
    },
    go() {
      held.open();
      holding.open();
    },
    async end() {
      await other;
      await made.registry.close();
    },
  };
}

const names = Object.keys(ways);
const table = names
  .flatMap((way) => Object.keys(changes).map((change) => ({ way, change })))
  // A person has just been asked about that call.
  .filter(({ way, change }) => way !== 'a person' || change !== 'a rule that asks is added');
/** The waits after a person was asked. */
const late = names
  .slice(names.indexOf('a slot of the session'))
  .filter((way) => way !== 'a look at the quotas');

describe('a call that waits is judged after it', () => {
  test.each(table)('for $way, while $change', async ({ way, change }) => {
    const world = await worldOf(way);
    const { calling } = await world.start();
    const { change: make, code, reason } = changes[change] as (typeof changes)[string];
    make(world);
    world.go();
    const { error } = await calling;
    expect([error?.code, error?.reason]).toEqual([code, reason ?? error?.reason]);
    expect(ran).not.toHaveBeenCalled();
    await world.end();
  });

  test.each(names)('for %s, and runs once if nothing changes', async (way) => {
    const world = await worldOf(way);
    const { calling } = await world.start();
    expect(ran).not.toHaveBeenCalled();
    world.go();
    expect(outcome(await calling)).toBe('ran');
    expect(ran).toHaveBeenCalledTimes(1);
    await world.end();
  });

  test.each(late)(
    'for %s, while the grant that came with the answer to it is revoked',
    async (way) => {
      const world = await worldOf(way, [{ decision: 'allow_always', grant: { match: 'tool' } }]);
      world.registry.addRules([{ effect: 'ask', tools: 't', when: { n: 1 } }]);
      const { calling } = await world.start();
      const [grant] = world.session.approvals.grants();
      expect(world.session.approvals.revoke(grant?.id as string)).toBe(true);
      world.go();
      expect((await calling).error).toMatchObject({ code: 'approval_denied', reason: 'rejected' });
      expect(ran).not.toHaveBeenCalled();
      await world.end();
    },
  );
});

describe('gates that have to be waited for', () => {
  /** A world whose policy waits, and runs `change` when it is asked for the second time. */
  function changing(change: (world: Setup) => unknown, tool: Record<string, unknown> = {}): Setup {
    ran.mockClear();
    Object.assign(mind, { banned: false, policy: true });
    let times = 0;
    const world: Setup = setup(
      [define('t', { parameters: numbers, handler: ran, attributes: { m: attribute }, ...tool })],
      {
        policies: [
          policy,
          {
            id: 'slow',
            check: async () => {
              await turns();
              if (++times === 2) change(world);
            },
          },
        ],
      },
      { rules: [{ effect: 'deny', when: { 'm@banned': true }, reason: 'banned' }] },
    );
    return world;
  }

  const laterParsed = { parameters: numbers.refine(async () => true) };

  test.each<[string, (world: Setup) => unknown, Record<string, unknown>, string]>([
    ['an attribute', () => Object.assign(mind, { banned: true }), {}, 'banned'],
    [
      'an attribute, with a schema',
      () => Object.assign(mind, { banned: true }),
      laterParsed,
      'banned',
    ],
    ['a policy', () => Object.assign(mind, { policy: false }), {}, 'mood'],
    ['a rule', ({ registry }) => registry.addRules([{ effect: 'deny', reason: 'new' }]), {}, 'new'],
  ])(
    'do not let pass what %s that answers at once denies after them',
    async (_, change, tool, reason) => {
      const { session } = changing(change, tool);
      expect((await session.call('t', { n: 1 })).error?.reason).toBe(reason);
      expect(ran).not.toHaveBeenCalled();
    },
  );

  test('are asked twice, and what answers at once is asked after them', async () => {
    const asked: string[] = [];
    const note = (name: string) => () => void asked.push(name);
    const { session } = setup(
      [
        define('t', {
          parameters: numbers,
          handler: () => void asked.push('handler'),
          attributes: {
            n: async () => note('late attribute')(),
            m: note('attribute'),
          },
        }),
      ],
      {
        policies: [
          { id: 'early', check: note('policy') },
          { id: 'late', check: async () => note('late policy')() },
        ],
      },
    );
    await session.call('t', { n: 1 });
    const round = ['late attribute', 'attribute', 'policy', 'late policy'];
    expect(asked).toEqual([...round, ...round, 'attribute', 'policy', 'handler']);
  });

  test('that always take another turn do not let a call wait for ever', async () => {
    // Each answers at once as long as those before it take a turn.
    const policies: Policy[] = Array.from({ length: 20 }, (_, index) => {
      let asked = 0;
      return {
        id: `p${index}`,
        check: () => (asked++ >= index ? turns(1).then(() => undefined) : undefined),
      };
    });
    const { session } = setup([define('t')], { policies });
    expect((await session.call('t')).error?.reason).toBe('rules_unstable');
  });

  test('nothing is asked twice about a call that waits for nothing', async () => {
    const asked: string[] = [];
    const { session } = setup(
      [
        define('t', {
          parameters: numbers,
          attributes: { m: () => void asked.push('attribute') },
          policy: { check: () => andThen(asked.push('check'), allow()) },
          requiresApproval: () => andThen(asked.push('approval'), false),
        }),
      ],
      { policies: [{ id: 'p', check: () => void asked.push('policy') }] },
    );
    expect(outcome(await session.call('t', { n: 1 }))).toBe('ran');
    expect(asked).toEqual(['attribute', 'policy', 'check', 'approval']);
  });
});

describe('what a call has waited for', () => {
  test('counts as its time: the handler has what is left', async () => {
    vi.useFakeTimers();
    const held = gate();
    const { session } = setup([
      define('t', {
        handler: undefined,
        timeoutMs: 100,
        create: () => held.promise.then(() => ({ handler: () => new Promise(() => {}) })),
      }),
    ]);
    const calling = session.call('t');
    await vi.advanceTimersByTimeAsync(60);
    held.open();
    await vi.advanceTimersByTimeAsync(39);
    let ended = false;
    void calling.then(() => {
      ended = true;
    });
    await turns();
    expect(ended).toBe(false);
    await vi.advanceTimersByTimeAsync(2);
    expect((await calling).error?.message).toBe(
      '`t` timed out after 0.1s. It may have run; check before you call it again.',
    );
    vi.useRealTimers();
  });

  test('is not in time: the error says that it has not run', async () => {
    vi.useFakeTimers();
    const { session } = setup([
      define('t', { handler: undefined, timeoutMs: 100, create: () => new Promise(() => {}) }),
    ]);
    const calling = session.call('t');
    await vi.advanceTimersByTimeAsync(101);
    expect((await calling).error?.message).toBe(
      '`t` timed out after 0.1s. It has not run: it was still waiting to begin.',
    );
    vi.useRealTimers();
  });

  test.each([
    ['many', undefined],
    ['one', 1],
  ])(
    'is given back by a call that is refused, and taken anew if it was lost: of %s',
    async (_, most) => {
      const places: { lost: boolean; released: number; runs: number }[] = [];
      const executor: Executor = { execute: async () => 'ran' };
      const take: Parameters<typeof offerPlaces>[1] = async (_context, free) => {
        const place = { lost: false, released: 0, runs: 0 };
        places.push(place);
        return {
          get lost() {
            return place.lost;
          },
          run: async () => {
            place.runs++;
            free?.();
            return 'ran';
          },
          release: () => {
            place.released++;
            free?.();
          },
        };
      };
      offerPlaces(executor, take, most);
      let loses = false;
      const losing: Policy = {
        id: 'losing',
        check: () => {
          const place = places.at(-1);
          if (loses && place !== undefined && places.length === 3) place.lost = true;
        },
      };
      const { session, registry } = setup([define('t', { handler: undefined, executor })], {
        policies: [losing],
      });
      const refused = session.call('t');
      await Promise.resolve();
      const remove = registry.addRules([{ effect: 'deny', tools: 't' }]);
      expect((await refused).error?.code).toBe('policy_denied');
      remove();
      const controller = new AbortController();
      const cancelled = session.call('t', {}, { signal: controller.signal });
      controller.abort();
      expect((await cancelled).error?.code).toBe('cancelled');
      await turns();
      expect(places.map(({ released, runs }) => [released, runs])).toEqual([
        [1, 0],
        [1, 0],
      ]);
      loses = true;
      expect(outcome(await session.call('t'))).toBe('ran');
      expect(places.slice(2).map(({ lost, runs }) => [lost, runs])).toEqual([
        [true, 0],
        [false, 1],
      ]);
    },
  );
});
