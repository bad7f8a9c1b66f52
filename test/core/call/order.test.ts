import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import {
  type Approver,
  type Coordinator,
  deny,
  type Effect,
  type Hook,
  HostToolRegistry,
  mount,
  type Policy,
  type Rule,
  type SessionOptions,
  type ToolResult,
} from '../../../src/index.ts';
import { andThen, define, type Setup, setup } from './define.ts';
import { gate, turns } from './world.ts';

const numbers = z.object({ n: z.number() });

function codeOf(result: ToolResult): string {
  return result.success ? 'ran' : result.error.code;
}

describe('the order of the gates: of two that would end a call, the earlier does', () => {
  const handler = vi.fn(() => 'ran');
  const tool = (more: Record<string, unknown> = {}) =>
    define('t', { parameters: numbers, handler, ...more });
  const noHook: Hook = { before: () => ({ action: 'deny', reason: 'hooked' }) };
  const bad = { n: 'x' };
  const never = vi.fn();

  test.each<
    [
      string,
      unknown,
      Partial<SessionOptions> & {
        tool?: Record<string, unknown>;
        name?: string;
        twice?: unknown;
        aborted?: boolean;
      },
      string,
      string?,
    ]
  >([
    [
      'the size of the input comes before the name',
      { n: 'x'.repeat(200) },
      { name: 'unknown', limits: { maxInputBytes: 100 } },
      'invalid_input',
      'too_large',
    ],
    [
      'calls a minute come before the name',
      { n: 1 },
      { name: 'unknown', limits: { callsPerMinute: 1 }, twice: { n: 1 } },
      'rate_limited',
      'calls_per_minute',
    ],
    [
      'an aborted signal comes before the name',
      { n: 1 },
      { name: 'unknown', aborted: true },
      'cancelled',
    ],
    [
      'the name comes before hooks',
      { n: 1 },
      { name: 'unknown', hooks: [noHook] },
      'tool_not_found',
    ],
    [
      'availability comes before hooks',
      { n: 1 },
      { tool: { requires: [{ fact: 'f', equals: 1 }] }, hooks: [noHook] },
      'tool_not_available',
      'fact_unmet',
    ],
    ['before hooks come before validation', bad, { hooks: [noHook] }, 'policy_denied', 'hooked'],
    [
      'validation comes before the loop guard',
      bad,
      { limits: { loopGuard: 1 }, twice: bad },
      'invalid_input',
    ],
    [
      'the loop guard comes before policy',
      { n: 1 },
      { limits: { loopGuard: 1 }, twice: { n: 1 }, rules: [{ effect: 'deny', when: { n: 1 } }] },
      'loop_detected',
    ],
    [
      'validation comes before policy',
      bad,
      { rules: [{ effect: 'deny', when: { n: { exists: true } } }] },
      'invalid_input',
    ],
    [
      'policy comes before approval',
      { n: 1 },
      {
        tool: { requiresApproval: true },
        approver: never,
        rules: [{ effect: 'deny', when: { n: 1 } }],
      },
      'policy_denied',
      'denied_by_rule',
    ],
    [
      'approval comes before slots',
      { n: 1 },
      { tool: { requiresApproval: true }, limits: { maxConcurrentCalls: 1, maxQueuedCalls: 0 } },
      'approval_denied',
      'no_approver',
    ],
  ])(
    '%s',
    async (_, input, {
      tool: more = {},
      name = 't',
      twice,
      aborted = false,
      ...options
    }, code, reason) => {
      const { session } = setup([tool(more)], options);
      if (twice !== undefined) await session.call(name, twice);
      handler.mockClear();
      const result = await session.call(
        name,
        input,
        aborted ? { signal: AbortSignal.abort() } : {},
      );
      expect(result).toMatchObject({
        success: false,
        error: { code, ...(reason === undefined ? {} : { reason }) },
      });
      expect(handler).not.toHaveBeenCalled();
      expect(never).not.toHaveBeenCalled();
    },
  );

  test('each stage is passed once, in order, as events show', async () => {
    const order: string[] = [];
    const said = <T>(what: string, answer: T): T => andThen(order.push(what), answer);
    const policy: Policy = { id: 'p', check: () => said('policy', undefined) };
    const late: Policy = { id: 'q', check: () => said('session policy', undefined) };
    const parameters = z.object({ n: z.number() }).refine(() => said('validate', true));
    const output = z.object({ n: z.number() }).refine(() => said('output schema', true));
    const { session, told } = setup(
      [
        define('t', {
          parameters,
          outputSchema: output,
          policy: { check: ({ allow }: { allow(): unknown }) => said('check', allow()) },
          requiresApproval: () => said('requiresApproval', true),
          resourceKey: () => said('resource key', 'k'),
          handler: (input: unknown) => said('handler', input),
        }),
      ],
      {
        policies: [late],
        hooks: [{ before: () => void order.push('before'), after: () => void order.push('after') }],
        approver: () => said('approver', 'allow_once' as const),
      },
      { policies: [policy] },
    );
    expect(await session.call('t', { n: 1 })).toMatchObject({ success: true, output: { n: 1 } });
    // The gates that each get a parse of their own cause further validations; they are left out
    // here.
    const once = order.filter(
      (step, index) => step !== 'validate' || index === order.indexOf('validate'),
    );
    const gates = ['policy', 'session policy', 'check', 'requiresApproval'];
    expect(once).toEqual([
      'before',
      'validate',
      ...gates,
      'approver',
      'resource key',
      ...gates,
      'handler',
      'after',
      'output schema',
    ]);
    expect(told()).toEqual([
      'tool:pre',
      'policy:check',
      'approval:required',
      'approval:granted',
      'approval:settled',
      'tool:post',
    ]);
  });

  test('tool:pre is emitted for unknown names too', async () => {
    const { session, events } = setup([]);
    await session.call('nope', { a: 1 });
    expect(events).toMatchObject([
      { type: 'tool:pre', toolName: 'nope', input: { a: 1 } },
      { type: 'tool:error', toolName: 'nope', error: { code: 'tool_not_found' } },
    ]);
  });

  test('an input that a hook edited is validated and judged; hooks do not run twice', async () => {
    const before = vi.fn(() => ({ action: 'modify' as const, input: { n: 2 } }));
    const rules: Rule[] = [{ id: 'no-two', effect: 'deny', when: { n: 2 } }];
    const { session } = setup([define('t', { parameters: numbers })], {
      rules,
      hooks: [{ before }],
    });
    expect(await session.call('t', { n: 1 })).toMatchObject({
      error: { code: 'policy_denied', ruleId: 'no-two' },
    });
    expect(before).toHaveBeenCalledTimes(1);
    before.mockReturnValueOnce({ action: 'modify', input: { n: 'x' } } as never);
    expect(await session.call('t', { n: 1 })).toMatchObject({ error: { code: 'invalid_input' } });
  });

  test(
    'an input that was edited at approval is validated and judged again; that same answer meets ' +
      'its ask, and hooks do not run twice',
    async () => {
      const before = vi.fn();
      const approver = vi.fn<Approver>(() => ({ decision: 'allow_once', input: { n: 5 } }));
      const seen = vi.fn((input: unknown) => input);
      const { session } = setup(
        [define('t', { parameters: numbers, requiresApproval: true, handler: seen })],
        {
          approver,
          hooks: [{ before }],
          rules: [{ effect: 'deny', when: { n: 6 } }],
        },
      );
      expect(await session.call('t', { n: 1 })).toMatchObject({ success: true, output: { n: 5 } });
      expect(approver).toHaveBeenCalledTimes(1);
      expect(before).toHaveBeenCalledTimes(1);
      approver.mockReturnValueOnce({ decision: 'allow_once', input: { n: 6 } });
      expect(codeOf(await session.call('t', { n: 1 }))).toBe('policy_denied');
      approver.mockReturnValueOnce({ decision: 'allow_once', input: { n: 'x' } });
      expect(codeOf(await session.call('t', { n: 1 }))).toBe('invalid_input');
      expect(seen).toHaveBeenCalledTimes(1);
    },
  );
});

describe('what waited is judged again', () => {
  /** Ways in which a call waits: who waits, and what lets it go. */
  const ways = {
    'an asynchronous policy': (going: Promise<void>) => ({
      policies: [{ id: 'slow', check: () => going.then(() => undefined) }],
    }),
    'an asynchronous hook': (going: Promise<void>) => ({
      hooks: [{ before: () => going.then(() => undefined) }],
    }),
    'a person': (going: Promise<void>) => ({
      rules: [{ effect: 'ask', tools: 't' }] as Rule[],
      approver: () => going.then(() => 'allow_always' as const),
    }),
    'a slot': () => ({ limits: { maxConcurrentCalls: 1 } }),
    'a lock': () => ({}),
    'an asynchronous schema': () => ({}),
  };
  const handler = vi.fn(() => 'ran');

  const changes: [what: string, change: (world: Setup) => void, code: string, reason?: string][] = [
    [
      'rules are tightened',
      ({ registry }) =>
        void registry.addRules([{ effect: 'deny', tools: 't', reason: 'tightened' }]),
      'policy_denied',
      'tightened',
    ],
    [
      'rules for this input are tightened',
      ({ registry }) =>
        void registry.addRules([{ effect: 'deny', when: { n: 1 }, reason: 'tightened' }]),
      'policy_denied',
      'tightened',
    ],
    [
      'the profile is switched to one without the tool',
      ({ session }) => session.setProfile('without'),
      'tool_not_available',
      'not_in_profile',
    ],
    [
      'the profile is switched to a stricter one',
      ({ session }) => session.setProfile('strict'),
      'policy_denied',
      'not_here',
    ],
    [
      'the profile is defined anew',
      ({ registry }) => registry.defineProfile({ id: 'with', tools: ['other'] }),
      'tool_not_available',
      'not_in_profile',
    ],
    [
      'a fact is dropped',
      ({ session }) => session.setFacts({ ready: null }),
      'tool_not_available',
      'fact_unmet',
    ],
    [
      'an override disables the tool',
      ({ session }) => session.setOverrides({ disable: ['t'] }),
      'tool_not_available',
      'disabled',
    ],
    [
      'the tool is replaced',
      ({ registry }) =>
        void registry.registerOrReplace(
          define('t', { handler, parameters: numbers, description: 'Another.' }),
        ),
      'tool_not_available',
      'removed',
    ],
    [
      'the tool is replaced by the same',
      ({ registry }) => void registry.registerOrReplace(registry.get('t') as never),
      'tool_not_available',
      'removed',
    ],
    [
      'the tool is removed',
      ({ registry }) => void registry.unregister('t'),
      'tool_not_available',
      'removed',
    ],
    [
      'the tool is removed and comes back',
      ({ registry }) =>
        andThen(
          registry.unregister('t'),
          void registry.register(define('t', { handler, parameters: numbers })),
        ),
      'tool_not_available',
      'removed',
    ],
    ['the session is closed', ({ session }) => void session.close(), 'session_closed'],
  ];

  const table = (Object.keys(ways) as (keyof typeof ways)[]).flatMap((way) =>
    changes.map(([what, change, code, reason]) => ({ way, what, change, code, reason })),
  );
  test.each(table)(
    'while $way keeps it waiting, $what: the call is refused',
    async ({ way, change, code, reason }) => {
      handler.mockClear();
      const going = gate();
      const busy = gate();
      const resource = way === 'a lock' ? { resourceKey: 'r' } : {};
      const parameters =
        way === 'an asynchronous schema'
          ? numbers.refine(() => going.promise.then(() => true))
          : numbers;
      const world = setup(
        [
          define('t', {
            handler,
            parameters,
            requires: [{ fact: 'ready', equals: true }],
            ...resource,
          }),
          define('other', resource),
          define('holder', { ...resource, handler: () => busy.promise }),
        ],
        { facts: { ready: true }, ...ways[way](going.promise) },
      );
      world.registry.defineProfile({ id: 'with', tools: ['t', 'other', 'holder'] });
      world.registry.defineProfile({ id: 'without', tools: ['other'] });
      world.registry.defineProfile({
        id: 'strict',
        tools: ['t'],
        rules: [{ effect: 'deny', when: { n: { in: [1, 2] } }, reason: 'not_here' }],
      });
      world.session.setProfile('with');
      const holding =
        way === 'a slot' || way === 'a lock' ? world.session.call('holder', {}) : undefined;
      const calling = world.session.call('t', { n: 1 });
      await turns();
      change(world);
      going.open();
      busy.open();
      expect(await calling).toMatchObject({
        error: { code, ...(reason === undefined ? {} : { reason }) },
      });
      await holding;
      expect(handler).not.toHaveBeenCalled();
      await world.registry.close();
    },
  );

  test.each(Object.keys(ways) as (keyof typeof ways)[])(
    'while %s keeps it waiting and nothing changes, the call runs, once',
    async (way) => {
      handler.mockClear();
      const going = gate();
      const busy = gate();
      const resource = way === 'a lock' ? { resourceKey: 'r' } : {};
      const parameters =
        way === 'an asynchronous schema'
          ? numbers.refine(() => going.promise.then(() => true))
          : numbers;
      const { session, registry } = setup(
        [
          define('t', { handler, parameters, ...resource }),
          define('holder', { ...resource, handler: () => busy.promise }),
        ],
        ways[way](going.promise),
      );
      const holding = way === 'a slot' || way === 'a lock' ? session.call('holder', {}) : undefined;
      const calling = session.call('t', { n: 1 });
      await turns();
      registry.register(define('unrelated'));
      going.open();
      busy.open();
      expect(await calling).toMatchObject({ success: true });
      await holding;
      expect(handler).toHaveBeenCalledTimes(1);
    },
  );

  test(
    'rules that tighten to an ask while a slot is awaited lead to a person, and nobody is ' +
      'blocked by the one who thinks',
    async () => {
      const busy = gate();
      const answer = gate<'allow_once'>();
      const approver = vi.fn(() => answer.promise);
      const { session, registry } = setup(
        [define('t'), define('u'), define('holder', { handler: () => busy.promise })],
        {
          limits: { maxConcurrentCalls: 1 },
          approver,
        },
      );
      const holding = session.call('holder');
      const calling = session.call('t');
      await turns();
      registry.addRules([{ effect: 'ask', tools: 't' }]);
      busy.open();
      await holding;
      await turns();
      expect(approver).toHaveBeenCalledTimes(1);
      expect(await session.call('u')).toMatchObject({ success: true });
      answer.open('allow_once');
      expect(await calling).toMatchObject({ success: true });
    },
  );

  test('rules that change at every judging end in a denial, not in a loop', async () => {
    let more = 0;
    const { session, registry } = setup([define('t', { handler })], {
      policies: [
        {
          id: 'restless',
          check: async () => void registry.addRules([{ effect: 'allow', id: `r${more++}` }]),
        },
      ],
    });
    handler.mockClear();
    expect(await session.call('t')).toMatchObject({
      error: { code: 'policy_error', reason: 'rules_unstable', retryable: true },
    });
    expect(handler).not.toHaveBeenCalled();
  });

  test('a started call finishes on its definition, whatever happens to the tool', async () => {
    const going = gate<unknown>();
    const first = define('t', {
      handler: () => going.promise,
      outputSchema: { type: 'object', properties: { token: { type: 'string', 'x-secret': true } } },
    });
    const { session, registry, events } = setup([first]);
    const calling = session.call('t');
    registry.registerOrReplace(
      define('t', { outputSchema: { type: 'string' }, maxOutputChars: 3 }),
    );
    expect(await session.call('t')).toMatchObject({ success: true, output: 'ran' });
    going.open({ token: 'CANARY-9' });
    expect(await calling).toMatchObject({
      success: true,
      output: { token: 'CANARY-9' },
      metadata: { fingerprint: first.fingerprint },
    });
    expect(JSON.stringify(events)).not.toContain('CANARY-9');
    expect(session.metrics()).toMatchObject({
      calls: 2,
      succeeded: 2,
      byTool: { t: { calls: 2, succeeded: 2 } },
    });
  });

  test('counts survive the removal of a tool', async () => {
    const { session, registry } = setup([define('t')]);
    await session.call('t');
    registry.unregister('t');
    await session.call('t');
    expect(session.metrics()).toMatchObject({ calls: 2, succeeded: 1, rejected: 1 });
  });
});

describe('no way around the spine', () => {
  const ran = vi.fn(() => 'ran');
  const refused = { success: false, error: { code: 'policy_denied', reason: 'never' } };
  const never: Rule[] = [{ effect: 'deny', tools: 't', reason: 'never', when: { n: 1 } }];
  const guarded = (options: Partial<SessionOptions> = {}, more: Record<string, unknown> = {}) => {
    ran.mockClear();
    return setup(
      [
        define('t', { handler: ran, parameters: numbers, ...more }),
        define('caller', {
          uses: ['t'],
          handler: (
            _: unknown,
            context: { tools: { call(name: string, input: unknown): unknown } },
          ) => context.tools.call('t', { n: 1 }),
        }),
      ],
      { rules: never, ...options },
    );
  };

  /**
   * Everything that can be reached from a value by reading: members, symbols, getters, prototypes,
   * Maps and Sets.
   */
  function reachable(from: unknown): Set<unknown> {
    const seen = new Set<unknown>();
    const left: unknown[] = [from];
    const globals = new Set<unknown>([
      globalThis,
      Object.prototype,
      Function.prototype,
      Array.prototype,
      Promise.prototype,
      process,
    ]);
    while (left.length > 0) {
      const value = left.pop();
      if (
        ((typeof value !== 'object' || value === null) && typeof value !== 'function') ||
        seen.has(value) ||
        globals.has(value)
      )
        continue;
      seen.add(value);
      left.push(Object.getPrototypeOf(value));
      if (value instanceof Map) left.push(...value.keys(), ...value.values());
      if (value instanceof Set) left.push(...value);
      for (const key of Reflect.ownKeys(value as object)) {
        if (key === 'caller' || key === 'callee' || key === 'arguments') continue;
        try {
          left.push(
            Reflect.get(value as object, key, from),
            (value as Record<PropertyKey, unknown>)[key],
          );
        } catch {
          // A getter that needs another receiver tells nothing.
        }
        const { get, set } = Object.getOwnPropertyDescriptor(value, key) ?? {};
        left.push(get, set);
      }
    }
    return seen;
  }

  test(
    'a definition, the registry, a registration, a scope, a session, its tools and its events ' +
      'lead to no handler, no create and no check',
    async () => {
      const check = vi.fn(({ allow }: { allow(): unknown }) => allow());
      const create = vi.fn(() => ({ handler: ran }));
      const execute = vi.fn(async () => 1);
      const tools = [
        define('t', { handler: ran, policy: { check } }),
        define('made', { create }),
        define('far', { executor: { kind: 'remote', execute } }),
      ];
      const { registry, session, events } = setup(tools);
      const scope = registry.scope('plugin');
      const registration = scope.register(define('scoped', { handler: ran }));
      await session.call('t');
      await session.call('made');
      await session.call('far');
      const secret = [ran, check, create, execute];
      const places = {
        definitions: tools,
        registry,
        listed: registry.listTools(),
        scope,
        registration,
        session,
        tools: session.tools(),
        effective: session.effectiveTools(),
        events,
        prototype: Object.getPrototypeOf(session),
      };
      for (const [name, place] of Object.entries(places)) {
        const found = reachable(place);
        expect(
          secret.filter((one) => found.has(one)),
          name,
        ).toEqual([]);
      }
    },
  );

  test('what a handler is given leads to no other handler', async () => {
    let found: Set<unknown> | undefined;
    const { session } = setup([
      define('t', { handler: ran }),
      define('spy', {
        handler: (_: unknown, context: object) => {
          found = reachable(context);
        },
      }),
    ]);
    await session.call('spy');
    expect(found?.has(ran)).toBe(false);
    expect(found?.size).toBeGreaterThan(5);
  });

  test('registry.get(name) returns a definition that cannot be called or changed', () => {
    const { registry } = guarded();
    const definition = registry.get('t') as unknown as Record<string, unknown>;
    for (const key of ['handler', 'execute', 'call', 'run', 'create', 'check', 'policy'])
      expect(definition[key], key).toBeUndefined();
    expect(() => Object.assign(definition, { handler: ran })).toThrow(TypeError);
    expect(() =>
      Object.assign(Object.getPrototypeOf(definition) as object, { handler: ran }),
    ).toThrow(TypeError);
  });

  test('an object that only looks like a definition is refused', () => {
    const { registry, session } = guarded();
    const copy = { ...registry.get('t') } as never;
    expect(() => registry.register(copy)).toThrow(/defineTool/);
    expect(() => registry.register(Object.create(registry.get('t') as object) as never)).toThrow(
      /another installed copy/,
    );
    expect(() => session.register({ name: 'mine' } as never)).toThrow(/defineTool/);
  });

  test('effectiveTools().tools[0].execute = … throws, and execute goes the whole way', async () => {
    const { session } = guarded();
    const { tools } = session.effectiveTools();
    const [tool] = tools;
    expect(() => Object.assign(tool as object, { execute: ran })).toThrow(TypeError);
    expect(() => (tools as unknown[]).push({})).toThrow(TypeError);
    expect(() => Object.assign(tool?.parameters as object, { properties: {} })).toThrow(TypeError);
    expect(() => Object.assign(tool?.annotations as object, { readOnly: true })).toThrow(TypeError);
    expect(typeof tool).toBe('object');
    expect(await tool?.execute({ n: 1 })).toMatchObject(refused);
    expect(await tool?.execute('{"n":1}')).toMatchObject(refused);
    expect(await tool?.execute({ n: 1, _tool_call_id: 'x' })).toMatchObject(refused);
    expect(ran).not.toHaveBeenCalled();
  });

  test('a schema that is changed after the definition changes nothing', async () => {
    const schema = {
      type: 'object',
      properties: { n: { type: 'number' } },
      required: ['n'],
    } as Record<string, unknown>;
    const vendor = {
      '~standard': {
        version: 1,
        vendor: 'v',
        validate: (value: unknown) =>
          typeof (value as { n?: unknown }).n === 'number'
            ? { value }
            : { issues: [{ message: 'no' }] },
        jsonSchema: { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) },
      },
    };
    const { session, registry } = setup([
      define('raw', { parameters: schema, handler: ran }),
      define('vendor', { parameters: vendor, handler: ran }),
    ]);
    ran.mockClear();
    schema.properties = {};
    schema.required = [];
    vendor['~standard'].validate = (value: unknown) => ({ value });
    expect(() =>
      Object.assign(registry.get('raw')?.parameters as object, { required: [] }),
    ).toThrow(TypeError);
    expect(codeOf(await session.call('raw', {}))).toBe('invalid_input');
    expect(codeOf(await session.call('vendor', {}))).toBe('invalid_input');
    expect(ran).not.toHaveBeenCalled();
  });

  test(
    'a hook cannot skip a gate: what it changes is judged, what it touches is its own copy, ' +
      'what it throws denies',
    async () => {
      const hooks: Hook[] = [{ before: ({ input }) => void Object.assign(input, { n: 2 }) }];
      expect(await guarded({ hooks }).session.call('t', { n: 1 })).toMatchObject(refused);
      expect(
        await guarded({
          hooks: [{ before: () => ({ action: 'modify', input: { n: 1 } }) }],
        }).session.call('t', { n: 2 }),
      ).toMatchObject(refused);
      expect(
        codeOf(
          await guarded({ hooks: [{ before: () => ({ action: 'allow' }) as never }] }).session.call(
            't',
            { n: 2 },
          ),
        ),
      ).toBe('policy_error');
      expect(
        codeOf(
          await guarded({
            hooks: [{ before: () => ({ success: true, output: 1 }) as never }],
          }).session.call('t', { n: 2 }),
        ),
      ).toBe('policy_error');
      expect(ran).not.toHaveBeenCalled();
      const after = vi.fn(
        (): ToolResult => ({ success: true, output: 'forged', metadata: {} as never }),
      );
      expect(await guarded({ hooks: [{ after }] }).session.call('t', { n: 1 })).toMatchObject(
        refused,
      );
      expect(after).not.toHaveBeenCalled();
    },
  );

  test('a child call passes every gate', async () => {
    const { session } = guarded();
    const result = await session.call('caller');
    expect(result).toMatchObject({ success: true, output: refused });
    expect(ran).not.toHaveBeenCalled();
  });

  test(
    'for a child call `uses` stands for the profile alone: facts, disabling, knobs and denials ' +
      'hold',
    async () => {
      const { session, registry } = guarded(
        { facts: { ready: true } },
        {
          requires: [{ fact: 'ready', equals: true }],
          policy: { knobs: z.object({ depth: z.number() }) },
        },
      );
      registry.defineProfile({ id: 'open', tools: ['caller', { name: 't', knobs: { depth: 1 } }] });
      registry.defineProfile({ id: 'p', tools: ['caller'] });
      const child = async () => ((await session.call('caller')).output as ToolResult).error;
      session.setProfile('open');
      expect(await child()).toMatchObject({ reason: 'never' });
      session.setProfile('p');
      expect(await child()).toMatchObject({ code: 'tool_not_available', reason: 'knobs_missing' });
      session.setFacts({ ready: null });
      expect(await child()).toMatchObject({ code: 'tool_not_available', reason: 'fact_unmet' });
      session.setFacts({ ready: true });
      session.setOverrides({ disable: ['t'] });
      expect(await child()).toMatchObject({ code: 'tool_not_available', reason: 'disabled' });
      expect(ran).not.toHaveBeenCalled();
    },
  );

  test('a mounted tool passes every gate', async () => {
    const { session } = guarded();
    const mounted = new Map<string, unknown>();
    const coordinator: Coordinator = {
      mount: (_point: string, module: unknown, name?: string) =>
        void mounted.set(name as string, module),
      unmount: (_point: string, name?: string) => void mounted.delete(name as string),
      get: (_point: string, name?: string) => mounted.get(name as string),
    } as never;
    await mount(session, coordinator);
    const tool = mounted.get('t') as { execute(input: unknown): Promise<ToolResult> };
    expect(await tool.execute({ n: 1 })).toMatchObject(refused);
    expect(() => Object.assign(tool, { execute: ran })).toThrow(TypeError);
    expect(ran).not.toHaveBeenCalled();
    await session.close();
  });

  test('a batch passes every gate, call by call', async () => {
    const { session } = guarded();
    const { results } = await session.executeBatch([
      { id: 'a', name: 't', arguments: { n: 1 } },
      { id: 'b', name: 't', arguments: '{"n":1}' },
      { id: 'c', name: 't', arguments: { n: 2 } },
    ]);
    expect(results.map(({ result }) => codeOf(result))).toEqual([
      'policy_denied',
      'policy_denied',
      'ran',
    ]);
    expect(ran).toHaveBeenCalledTimes(1);
  });

  test(
    'a tool that a rule hides is policy_denied by name, whatever the input, and says nothing of ' +
      'its schema',
    async () => {
      const { session } = setup([define('t', { parameters: numbers, handler: ran })], {
        rules: [{ id: 'hidden', effect: 'deny', tools: 't' }],
      });
      expect(session.tools()).toEqual([]);
      for (const input of [{ n: 1 }, { n: 'x' }, {}])
        expect(await session.call('t', input)).toMatchObject({
          error: { code: 'policy_denied', ruleId: 'hidden', reason: 'denied_by_rule' },
        });
      expect(await session.explain('t', {})).toMatchObject({
        visible: false,
        hiddenBy: 'denied',
        code: 'policy_denied',
        ruleId: 'hidden',
      });
      const { results } = await session.executeBatch([{ id: 'a', name: 't', arguments: {} }]);
      expect(results[0]?.result).toMatchObject({ error: { code: 'policy_denied' } });
    },
  );

  test('invalid options end the call, and never throw', async () => {
    const { session } = guarded();
    for (const options of [
      { signal: { aborted: false } },
      { signal: 5 },
      { timeoutMs: 0 },
      { timeoutMs: -1 },
      { timeoutMs: Number.NaN },
      { timeoutMs: 'x' },
    ])
      expect(await session.call('t', { n: 1 }, options as never)).toMatchObject({
        error: { code: 'invalid_input', reason: 'invalid_option' },
      });
    expect(await session.call('t', { n: 1 }, null as never)).toMatchObject(refused);
    expect(await session.call('t', { n: 1 }, { callId: 7 as never })).toMatchObject({
      error: { reason: 'invalid_call_id' },
    });
    expect(await session.call(undefined as never)).toMatchObject({
      error: { code: 'tool_not_found' },
    });
    expect(ran).not.toHaveBeenCalled();
  });
});

describe('explain and call agree', () => {
  const effect = fc.constantFrom<Effect>('allow', 'ask', 'deny');
  const when = fc.constantFrom<Rule['when']>(
    undefined,
    { n: 1 },
    { n: { in: [2, 3] } },
    { s: { glob: 'a*' } },
    { s: { matches: 'b' } },
    { 'list.*': 'x' },
    { mode: 'fast' },
    [{ path: ['list', '0'], equals: 'y' }],
  );
  const rule: fc.Arbitrary<Rule> = fc
    .record({
      effect,
      tools: fc.constantFrom(undefined, '*', 'r*', ['write', 'other'], '?ead'),
      tags: fc.constantFrom(undefined, 'net'),
      when,
      annotations: fc.constantFrom(undefined, { readOnly: true }),
      source: fc.constantFrom(undefined, 'host', 'plugin'),
    })
    .map(
      (given) =>
        Object.fromEntries(
          Object.entries(given).filter(([, value]) => value !== undefined),
        ) as unknown as Rule,
    );
  const rules = fc.array(rule, { maxLength: 3 });
  const input = fc.oneof(
    fc.record(
      {
        n: fc.integer({ min: 0, max: 4 }),
        s: fc.constantFrom('a', 'ab', 'b', 'c'),
        list: fc.array(fc.constantFrom('x', 'y'), { maxLength: 2 }),
      },
      { requiredKeys: [] },
    ),
    fc.record({ n: fc.constantFrom('1', null), mode: fc.constantFrom('fast', 'slow') }),
    fc.constantFrom<unknown>(undefined, 7, 'text', '{"n":1}', [], null),
  );
  const parameters = z.object({
    n: z.number().optional(),
    s: z.string().optional(),
    list: z.array(z.string()).optional(),
    mode: z.string().default('fast'),
  });
  const policyAnswer = fc.constantFrom('abstain', 'allow', 'ask', 'deny', 'throw', 'nonsense');
  const names = ['read', 'write', 'other', 'plugged'] as const;
  const sets = fc.record(
    {
      enable: fc.subarray([...names]),
      disable: fc.subarray([...names]),
      force: fc.subarray([...names]),
    },
    { requiredKeys: [] },
  );
  const facts = fc.record(
    { ready: fc.boolean(), mode: fc.constantFrom('a', 'b') },
    { requiredKeys: [] },
  );

  const policyOf = (answer: string): Policy => ({
    id: `p_${answer}`,
    check() {
      if (answer === 'throw') throw new Error('no');
      return (
        answer === 'abstain'
          ? undefined
          : answer === 'nonsense'
            ? 'yes'
            : answer === 'deny'
              ? deny('by_policy')
              : { effect: answer }
      ) as never;
    },
  });

  test(
    'over random rules, facts, knobs, overrides, policies, defaults and inputs, `call` comes to ' +
      'what `explain` said',
    async () => {
      const met = new Set<string>();
      await fc.assert(
        fc.asyncProperty(
          fc.record({ registry: rules, profile: rules, session: rules }),
          fc.record({ registry: effect, profile: fc.option(effect, { nil: undefined }) }),
          fc.record({
            registry: policyAnswer,
            session: policyAnswer,
            check: fc.constantFrom('allow', 'allow', 'ask', 'deny', 'throw', 'knob'),
          }),
          fc.record({
            profile: fc.option(fc.subarray([...names]), { nil: undefined }),
            overrides: sets,
            facts,
            depth: fc.constantFrom<unknown>(undefined, 1, 9),
            asks: fc.boolean(),
            repair: fc.constantFrom<'off' | 'safe'>('off', 'safe'),
          }),
          fc.constantFrom(...names, 'unknown'),
          input,
          // One run in eight has no rule against it, or hardly any call would get through all
          // gates.
          fc.integer({ min: 0, max: 7 }),
          async (drawnLayers, drawnDefaults, drawnPolicies, drawnWorld, name, given, ease) => {
            const layers = ease === 0 ? { registry: [], profile: [], session: [] } : drawnLayers;
            const defaults =
              ease === 0 ? { registry: 'allow' as const, profile: undefined } : drawnDefaults;
            const policies =
              ease === 0
                ? { registry: 'allow' as const, session: 'allow' as const, check: 'allow' as const }
                : drawnPolicies;
            const world = ease === 0 ? { ...drawnWorld, asks: false } : drawnWorld;
            const registry = new HostToolRegistry({
              logger: { warn: () => {}, error: () => {} },
              rules: layers.registry,
              policies: [policyOf(policies.registry)],
              default: defaults.registry,
            });
            const check = ({
              knobs,
              allow,
              ask,
              deny: no,
            }: {
              knobs: { depth: number };
              allow(): unknown;
              ask(): unknown;
              deny(reason: string): unknown;
            }) => {
              if (policies.check === 'throw') throw new Error('no');
              if (policies.check === 'knob') return knobs.depth > 5 ? no('too_deep') : allow();
              return policies.check === 'allow'
                ? allow()
                : policies.check === 'ask'
                  ? ask()
                  : no('by_check');
            };
            registry.registerAll([
              define('read', {
                parameters,
                annotations: { readOnly: true },
                requires: [{ fact: 'ready', equals: true }],
              }),
              define('write', {
                parameters,
                tags: ['net'],
                policy: { knobs: z.object({ depth: z.number() }), check },
                requiresApproval: world.asks,
              }),
              define('other', {
                parameters: {
                  type: 'object',
                  properties: { n: { type: 'number' }, mode: { type: 'string', default: 'fast' } },
                },
                requiresApproval: ({ n }: { n?: number }) => n === 2,
              }),
            ]);
            registry
              .scope('plugin')
              .register(define('plugged', { parameters, requires: [{ fact: 'mode', in: ['a'] }] }));
            if (world.profile !== undefined) {
              const tools = world.profile.map((tool) =>
                tool === 'write' && world.depth !== undefined
                  ? { name: tool, knobs: { depth: world.depth as number } }
                  : tool,
              );
              registry.defineProfile({
                id: 'p',
                tools,
                rules: layers.profile,
                ...(defaults.profile === undefined ? {} : { default: defaults.profile }),
              });
            }
            let asked = 0;
            const session = registry.createSession({
              sessionId: 's',
              rules: layers.session,
              policies: [policyOf(policies.session)],
              overrides: world.overrides,
              facts: world.facts,
              repair: world.repair,
              ...(world.profile === undefined ? {} : { profile: 'p' }),
              approver: () => {
                asked++;
                return 'allow_once';
              },
            });
            const said = await session.explain(name, given === undefined ? {} : given);
            const visible = session.tools().some((tool) => tool.name === name);
            expect(asked, 'explaining asks nobody').toBe(0);
            const result = await session.call(name, given);
            met.add(result.success ? (asked > 0 ? 'asked' : 'ran') : result.error.code);
            expect(said.visible).toBe(visible);
            expect(said.code).toBe(result.success ? undefined : result.error.code);
            expect(said.hiddenBy).toBe(
              session.effectiveTools().dropped.find((dropped) => dropped.name === name)?.code,
            );
            const { decision } = said;
            expect(asked).toBe(decision?.effect === 'ask' ? 1 : 0);
            if (decision?.effect === 'deny')
              expect(result.error).toMatchObject({
                reason: decision.reason,
                ...(said.ruleId === undefined ? {} : { ruleId: said.ruleId }),
                ...(said.source === undefined ? {} : { source: said.source }),
              });
          },
        ),
        { numRuns: 600 },
      );
      for (const outcome of [
        'ran',
        'asked',
        'policy_denied',
        'policy_error',
        'tool_not_found',
        'tool_not_available',
        'invalid_input',
      ])
        expect([...met], 'the property met every kind of outcome').toContain(outcome);
    },
  );

  test('explain says which rule, why a tool is hidden and what unlocks it', async () => {
    const { session } = setup(
      [
        define('open', { provides: ['door'] }),
        define('enter', { requires: [{ fact: 'door', equals: 'open' }] }),
        define('write', {}),
      ],
      { rules: [{ id: 'ask-write', effect: 'ask', tools: 'write' }] },
    );
    expect(await session.explain('enter')).toMatchObject({
      visible: false,
      hiddenBy: 'fact_unmet:door',
      unlockedBy: ['open'],
      code: 'tool_not_available',
    });
    expect(await session.explain('write')).toMatchObject({
      visible: true,
      decision: { effect: 'ask' },
      ruleId: 'ask-write',
      source: 'session',
    });
    expect(await session.explain('nope')).toMatchObject({ visible: false, code: 'tool_not_found' });
  });

  test('explaining runs no handler and no hook, asks no one and counts nothing', async () => {
    const handler = vi.fn();
    const before = vi.fn();
    const approver = vi.fn<Approver>();
    const { session, events } = setup([define('t', { handler, requiresApproval: true })], {
      approver,
      hooks: [{ before }],
      limits: { callsPerMinute: 1, loopGuard: 1 },
    });
    for (let times = 0; times < 5; times++)
      expect(await session.explain('t', {})).toMatchObject({ decision: { effect: 'ask' } });
    expect([handler, before, approver].map((mock) => mock.mock.calls.length)).toEqual([0, 0, 0]);
    expect(events).toEqual([]);
    expect(session.metrics()).toMatchObject({ calls: 0 });
  });
});
