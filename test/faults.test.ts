/**
 * The list of faults as one table: a row's number, the fault, what is expected, and how it is
 * brought about. `run` answers what came; after every row the same oracle holds: each accepted call
 * ended in exactly one terminal event, nothing is left in flight, no deadline, timer, slot or
 * listener remains, the session answers a following call, and no rejection went unhandled.
 */
import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { stateOf } from '../src/core/session/session.ts';
import { toProviderNames } from '../src/core/toolset/provider-names.ts';
import {
  type ApprovalAnswer,
  allow,
  content,
  defineTool,
  isMisuseError,
  ok,
  serializeOutput,
  type ToolContext,
  type ToolResult,
} from '../src/index.ts';
import { gate, outcome, tool, turns, type World, world } from './core/call/world.ts';

type Run = (w: World) => unknown;
type Row = readonly [number: number, fault: string, expected: unknown, run: Run];

const object = { type: 'object' } as const;
const never = (): Promise<never> => new Promise(() => {});
const throwing = (value: unknown) => (): never => {
  throw value;
};
const rejecting = (value: unknown) => async (): Promise<never> => {
  throw value;
};
const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};
const hostile = (): object =>
  new Proxy(new Error('never read'), {
    get: throwing(new Error('get')),
    has: throwing(new Error('has')),
    getPrototypeOf: throwing(new Error('getPrototypeOf')),
    ownKeys: throwing(new Error('ownKeys')),
    getOwnPropertyDescriptor: throwing(new Error('getOwnPropertyDescriptor')),
  });
/** Code, and that the message says something. */
const failure = (result: ToolResult): unknown =>
  result.success
    ? result.output
    : `${result.error.code}${result.error.message.trim() === '' ? ' without a message' : ''}`;
const withReason = (result: ToolResult): unknown =>
  result.success ? result.output : [result.error.code, result.error.reason];
const where = (result: ToolResult): unknown =>
  result.success
    ? 'accepted'
    : `${result.error.code} at ${(result.error.details as { path: string }).path}`;
const misuse = (action: () => unknown): unknown => {
  try {
    action();
    return 'accepted';
  } catch (error) {
    return isMisuseError(error) ? error.code : error;
  }
};
const deep = (levels: number): unknown => {
  let value: unknown = 'bottom';
  for (let level = 0; level < levels; level++) value = [value];
  return value;
};
const noTimeout = { timeoutMs: 1_000_000 };

const rows: readonly Row[] = [
  [1, 'a handler that never settles', 'timeout', (w) => timed(w, never)],
  // biome-ignore lint/suspicious/noThenProperty: a thenable is the fault
  [1, 'a thenable that never calls back', 'timeout', (w) => timed(w, () => ({ then() {} }))],
  [
    1,
    'a generator that never goes on',
    'timeout',
    (w) =>
      timed(w, async function* () {
        yield await never();
      }),
  ],

  ...[
    ['a string', 'boom'],
    ['an empty string', ''],
    ['undefined', undefined],
    ['null', null],
    ['a symbol', Symbol('boom')],
    ['a number', 0],
    ['a BigInt', 7n],
    ['a function', () => 1],
    ['an object without prototype', Object.create(null)],
    ['an error without a message', new Error('')],
  ].flatMap(([what, value]): Row[] => [
    [
      2,
      `throws ${String(what)}`,
      'handler_error',
      async (w) => failure(await w.run(throwing(value))),
    ],
    [
      2,
      `rejects with ${String(what)}`,
      'handler_error',
      async (w) => failure(await w.run(rejecting(value))),
    ],
  ]),

  ...(
    [
      ['a frozen error', () => Object.freeze(new Error('cold'))],
      ['a revoked proxy', revoked],
      ['a proxy of which every trap throws', hostile],
      [
        'an error whose message getter throws',
        () => Object.defineProperty(new Error('x'), 'message', { get: throwing(new Error('no')) }),
      ],
      [
        'an error whose message is no string',
        () => Object.assign(new Error('x'), { message: { toString: throwing(new Error('no')) } }),
      ],
      ['an error with 20 MB of message', () => new Error('m'.repeat(20_000_000))],
    ] as [string, () => unknown][]
  ).flatMap(([what, make]): Row[] => [
    [3, `throws ${what}`, 'handler_error', async (w) => failure(await w.run(throwing(make())))],
    [
      3,
      `rejects with ${what}`,
      'handler_error',
      async (w) => failure(await w.run(rejecting(make()))),
    ],
    [
      3,
      `throws ${what} in a generator`,
      'handler_error',
      async (w) =>
        failure(
          await w.run(async function* () {
            yield 'on it';
            throw make();
          }),
        ),
    ],
    [
      3,
      `throws ${what} in \`create\``,
      'handler_error',
      async (w) => failure(await create(w, throwing(make()))),
    ],
  ]),

  [
    4,
    'throws before its first await, or after: the same result but for time and id',
    true,
    async (w) => {
      const same = ({ success, error }: ToolResult): unknown => ({ success, error });
      const sync = await w.run(throwing(new Error('same')));
      const later = await w.run(async () => {
        await null;
        throw new Error('same');
      });
      expect(same(sync)).toEqual(same(later));
      return same(sync) !== undefined;
    },
  ],

  ...(
    [
      ['resolves', 'returned'],
      ['rejects', 'threw'],
    ] as const
  ).flatMap(([how, settled]): Row[] => [
    [6, `${how} after its timeout`, ['timeout', settled, 1], async (w) => late(w, how, 'timeout')],
    [6, `${how} after an abort`, ['cancelled', settled, 1], async (w) => late(w, how, 'abort')],
    [
      6,
      `${how} after the session closed`,
      ['session_closed', settled, 1],
      async (w) => late(w, how, 'close'),
    ],
  ]),
  [
    6,
    'settles in any order against its timeout and its caller: one end, a late settling told ' +
      'at most once',
    'held',
    settleRaces,
  ],

  [7, 'returns undefined', [null, 'Success'], async (w) => shown(await w.run(() => undefined))],
  [7, 'returns null', [null, 'Success'], async (w) => shown(await w.run(async () => null))],
  [7, 'ok() of undefined', [null, 'Success'], async (w) => shown(await w.run(() => ok(undefined)))],
  [
    7,
    'returns false, 0 and ""',
    [
      [false, 'false'],
      [0, '0'],
      ['', ''],
    ],
    async (w) => [
      shown(await w.run(() => false)),
      shown(await w.run(() => 0)),
      shown(await w.run(() => '')),
    ],
  ],

  ...(
    [
      ['a BigInt', () => 1n],
      [
        'a cycle',
        () => {
          const a: unknown[] = [];
          a.push({ a });
          return a[0];
        },
      ],
      ['a function', () => () => 1],
      ['a symbol', () => Symbol('s')],
      ['toJSON that throws', () => ({ toJSON: throwing(new Error('no')) })],
      [
        'a getter that throws',
        () => Object.defineProperty({}, 'x', { enumerable: true, get: throwing(new Error('no')) }),
      ],
      ['a revoked proxy', revoked],
      ['NaN', () => Number.NaN],
      ['Infinity', () => Number.POSITIVE_INFINITY],
      ['a Map', () => new Map()],
      ['bytes', () => new Uint8Array(3)],
    ] as [string, () => unknown][]
  ).flatMap(([what, make]): Row[] => [
    [
      8,
      `returns ${what} inside`,
      /^invalid_output at \/list\/1(\/|$)/,
      async (w) => where(await w.run(() => ({ list: [0, make()] }))),
    ],
    [
      8,
      `returns ${what} as it is`,
      /^invalid_output at/,
      async (w) => where(await w.run(() => make())),
    ],
  ]),

  [
    9,
    '20 MB of text with a budget',
    [100, 20_000_000, true],
    (w) => big(w, () => 'x'.repeat(20_000_000), 100),
  ],
  [
    9,
    '20 MB of text without a budget comes whole',
    20_000_000,
    async (w) => ((await w.run(() => 'x'.repeat(20_000_000))).output as string).length,
  ],
  [
    9,
    '1e6 items with a budget',
    [100, expect.any(Number), false],
    (w) => big(w, () => Array.from({ length: 1_000_000 }, (_, index) => ({ index })), 100),
  ],
  [
    9,
    '1e6 items without a budget come whole',
    1_000_000,
    async (w) =>
      ((await w.run(() => Array.from({ length: 1_000_000 }, () => 1))).output as unknown[]).length,
  ],
  [
    9,
    '1e6 items with a budget and an after hook',
    [100, expect.any(Number), false],
    (w) => {
      w.session.use({ after: () => undefined });
      return big(w, () => Array.from({ length: 1_000_000 }, () => 'item'), 100);
    },
  ],
  [
    9,
    'an array of a length that no memory holds',
    ['invalid_output', 'output_too_large'],
    async (w) => withReason(await w.run(() => new Array(4_000_000_000))),
  ],
  [
    9,
    '100k deep with a budget',
    [100, expect.any(Number), false],
    (w) => big(w, () => deep(100_000), 100),
  ],
  [
    9,
    '100k deep without a budget',
    ['invalid_output', 'output_too_large'],
    async (w) => withReason(await w.run(() => deep(100_000))),
  ],
  [
    9,
    'a value that doubles with every level',
    ['invalid_output', 'output_too_large'],
    async (w) =>
      withReason(
        await w.run(() => {
          let value: unknown = 1;
          for (let level = 0; level < 1_000; level++) value = [value, value];
          return value;
        }),
      ),
  ],

  [
    10,
    'returns an object and changes it later',
    { list: [1] },
    async (w) => {
      const kept = { list: [1] };
      const result = await w.run(() => kept);
      kept.list.push(2);
      return result.output;
    },
  ],
  [
    10,
    'returns ok() and changes the output later',
    { list: [1] },
    async (w) => {
      const kept = { list: [1] };
      const called = w.run(async () => ok(kept));
      await turns();
      kept.list.push(2);
      return (await called).output;
    },
  ],

  [
    11,
    'output that its zod schema refuses',
    ['invalid_output', 'output_schema'],
    async (w) =>
      withReason(await w.run(() => ({ n: 'one' }), { outputSchema: z.object({ n: z.number() }) })),
  ],
  [
    11,
    'output that its JSON Schema refuses',
    ['invalid_output', 'output_schema'],
    async (w) =>
      withReason(
        await w.run(() => ({ n: 'one' }), {
          outputSchema: { type: 'object', properties: { n: { type: 'number' } } },
        }),
      ),
  ],
  [
    11,
    'content where an output schema wants data',
    ['invalid_output', 'output_schema'],
    async (w) =>
      withReason(await w.run(() => content.text('{"n":1}'), { outputSchema: { type: 'object' } })),
  ],

  [
    12,
    'abort before the start',
    ['cancelled', 0],
    async (w) => {
      const handler = vi.fn();
      const { name } = put(w, handler);
      const result = await w.session.call(name, {}, { signal: AbortSignal.abort() });
      return [outcome(result), handler.mock.calls.length];
    },
  ],
  [
    12,
    'abort while a person is asked',
    ['cancelled', 0],
    async (w) => {
      const handler = vi.fn();
      const { name } = put(w, handler, { requiresApproval: true });
      const asked = w.registry.createSession({ sessionId: 'asked', approver: never });
      const controller = new AbortController();
      const called = asked.call(name, {}, { signal: controller.signal });
      await turns();
      controller.abort();
      return [outcome(await called), handler.mock.calls.length];
    },
  ],
  [
    12,
    'abort while a policy or hook thinks',
    ['cancelled', 'cancelled'],
    async (w) => {
      const { name } = put(w, () => 1);
      const sessions = [
        w.registry.createSession({ sessionId: 'p', policies: [{ id: 'slow', check: never }] }),
        w.registry.createSession({ sessionId: 'h', hooks: [{ before: never }] }),
      ];
      const controller = new AbortController();
      const called = sessions.map((session) =>
        session.call(name, {}, { signal: controller.signal }),
      );
      await turns();
      controller.abort();
      return (await Promise.all(called)).map(outcome);
    },
  ],
  [
    13,
    'abort during a handler that ignores its signal',
    ['cancelled', 0, 'Stop', ['returned'], 1],
    async (w) => {
      const hold = gate();
      let seen: AbortSignal | undefined;
      const { name } = put(w, (_input: never, { signal }: ToolContext) => {
        seen = signal;
        return hold.promise;
      });
      const controller = new AbortController();
      const called = w.session.call(name, {}, { signal: controller.signal });
      const before = performance.now();
      controller.abort('Stop');
      const result = await called;
      const waited = performance.now() - before;
      hold.open();
      await turns();
      return [
        outcome(result),
        waited,
        seen?.reason,
        w.of('tool:late').map(({ settled }) => settled),
        w.session.metrics().lateSettles,
      ];
    },
  ],
  [
    14,
    'abort after completion, and twice',
    ['done', 1, 0],
    async (w) => {
      const controller = new AbortController();
      const { name } = put(w, () => 'done');
      const result = await w.session.call(name, {}, { signal: controller.signal });
      controller.abort();
      controller.abort();
      await turns();
      return [outcome(result), w.of('tool:post').length, w.of('tool:error').length];
    },
  ],
  [
    15,
    '10 000 calls share one signal',
    [1, 0, 10_000, 0],
    async (w) => {
      const { signal } = new AbortController();
      const hold = gate();
      const { name } = put(w, () => hold.promise);
      const calls = Array.from({ length: 10_000 }, () => w.session.call(name, {}, { signal }));
      const during = getEventListeners(signal, 'abort').length;
      hold.open();
      const ended = await Promise.all(calls);
      for (let call = 0; call < 10_000; call++) await w.session.call('still_alive', {}, { signal });
      return [
        during,
        getEventListeners(signal, 'abort').length,
        ended.filter(({ success }) => success).length,
        ended.filter(({ success }) => !success).length,
      ];
    },
  ],

  [
    16,
    'a tool is removed while its call runs',
    ['old', 'tool_not_available'],
    async (w) => {
      const hold = gate();
      const { name } = put(w, async () => {
        await hold.promise;
        return 'old';
      });
      const running = w.session.call(name);
      w.registry.unregister(name);
      const next = await w.session.call(name);
      hold.open();
      return [outcome(await running), outcome(next)];
    },
  ],
  [
    16,
    'a tool is replaced while its call runs',
    ['old', 'new'],
    async (w) => {
      const hold = gate();
      const { name } = put(w, async () => {
        await hold.promise;
        return 'old';
      });
      const running = w.session.call(name);
      w.registry.registerOrReplace(tool(() => 'new', { name }));
      const next = await w.session.call(name);
      hold.open();
      return [outcome(await running), outcome(next)];
    },
  ],
  [
    16,
    'a tool is replaced while its call waits for a slot',
    ['old', ['tool_not_available', 'removed']],
    async (w) => {
      const hold = gate();
      const { name } = put(
        w,
        async () => {
          await hold.promise;
          return 'old';
        },
        { maxConcurrency: 1 },
      );
      const running = w.session.call(name);
      const waiting = w.session.call(name);
      w.registry.registerOrReplace(tool(() => 'new', { name }));
      hold.open();
      return [outcome(await running), withReason(await waiting)];
    },
  ],
  [
    17,
    'the registry is changed from inside a listener',
    [
      ['a', 'b', 'c'],
      ['a', 'b', 'c'],
    ],
    async (w) => {
      const first: string[] = [];
      const second: string[] = [];
      w.registry.events.on('tools:changed', ({ added }) => {
        first.push(...added);
        if (added.includes('a')) w.registry.register(tool(() => 1, { name: 'b' }));
        if (added.includes('b')) w.registry.register(tool(() => 1, { name: 'c' }));
      });
      w.registry.events.on('tools:changed', ({ added }) => void second.push(...added));
      w.registry.register(tool(() => 1, { name: 'a' }));
      return [first, second];
    },
  ],
  [
    17,
    'the registry is changed from inside a handler',
    ['gone', 'tool_not_available', ['mine', 'made']],
    async (w) => {
      const seen: string[] = [];
      w.session.events.on(
        'tools:changed',
        ({ added, removed }) => void seen.push(...added, ...removed),
      );
      put(
        w,
        () => {
          w.registry.unregister('mine');
          w.registry.register(tool(() => 2, { name: 'made' }));
          return 'gone';
        },
        { name: 'mine' },
      );
      const result = await w.session.call('mine');
      return [outcome(result), outcome(await w.session.call('mine')), [...new Set(seen)]];
    },
  ],

  [
    18,
    'a tool calls another that calls it again',
    [['tool_cycle', 'cycle'], 'again/1/1'],
    async (w) => {
      put(
        w,
        async (_: never, context: ToolContext) => withReason(await context.tools.call('pong')),
        { name: 'ping', uses: ['pong'] },
      );
      put(
        w,
        async (_: never, context: ToolContext) => withReason(await context.tools.call('ping')),
        { name: 'pong', uses: ['ping'] },
      );
      const result = await w.session.call('ping', {}, { callId: 'again' });
      const [, child, grandchild] = w.of('tool:pre');
      expect(child?.parentCallId).toBe('again');
      expect(grandchild?.parentCallId).toBe('again/1');
      return [outcome(result), grandchild?.callId];
    },
  ],
  [
    18,
    'a chain a thousand calls long',
    [['tool_cycle', 'too_deep'], 10],
    async (w) => {
      for (let place = 0; place < 1_000; place++)
        put(
          w,
          async (_: never, context: ToolContext) =>
            withReason(await context.tools.call(`link_${place + 1}`)),
          {
            name: `link_${place}`,
            uses: [`link_${place + 1}`],
          },
        );
      const result = await w.session.call('link_0');
      return [outcome(result), w.of('tool:pre').length];
    },
  ],
  [19, 'children need the slots that their parents hold, in any order', 'held', reentrantSlots],

  [20, 'a listener throws', ['done', 2], async (w) => listened(w, throwing(new Error('mine')))],
  [20, 'a listener rejects', ['done', 2], async (w) => listened(w, rejecting(new Error('mine')))],
  [
    20,
    'a listener answers a thenable that throws',
    ['done', 2],
    // biome-ignore lint/suspicious/noThenProperty: a thenable is the fault
    async (w) => listened(w, () => ({ then: throwing(new Error('mine')) })),
  ],
  [20, 'a listener never answers', ['done', 0], async (w) => listened(w, never)],
  [
    20,
    'a listener unsubscribes itself; the others miss nothing',
    [1, 2],
    async (w) => {
      let mine = 0;
      let other = 0;
      const off = w.session.events.on('tool:post', () => {
        mine++;
        off();
      });
      w.session.events.on('tool:post', () => void other++);
      await w.run(() => 1);
      await w.run(() => 1);
      return [mine, other];
    },
  ],
  [
    20,
    'a logger throws',
    'done',
    async () => {
      const loud = world(
        {},
        { logger: { warn: throwing(new Error('full')), error: throwing(new Error('full')) } },
      );
      loud.session.events.on('tool:pre', throwing(new Error('mine')));
      const result = await loud.run(() => 'done');
      await loud.settle();
      return outcome(result);
    },
  ],

  ...(
    [
      ['throws', throwing(new Error('no')), 'policy_threw'],
      ['throws a revoked proxy', throwing(revoked()), 'policy_threw'],
      ['rejects', rejecting(new Error('no')), 'policy_threw'],
      ['answers "yes"', () => 'yes', 'policy_nonsense'],
      ['answers true', () => true, 'policy_nonsense'],
      ['answers null', () => null, 'policy_nonsense'],
      ['answers a truthy object', () => ({ allow: true }), 'policy_nonsense'],
      ['answers an effect that does not exist', () => ({ effect: 'allow_all' }), 'policy_nonsense'],
      ['answers a revoked proxy', revoked, expect.any(String)],
      [
        'answers an object whose getters throw',
        () => Object.defineProperty({}, 'effect', { get: throwing(new Error('no')) }),
        'policy_nonsense',
      ],
      ['answers a promise of nonsense', async () => 1, 'policy_nonsense'],
      ['never answers', never, 'policy_timeout'],
    ] as [string, () => never, unknown][]
  ).flatMap(([what, check, reason]): Row[] => [
    [21, `a policy ${what}`, [['policy_error', reason], 0], (w) => judged(w, check, false)],
    [21, `a tool's check ${what}`, [['policy_error', reason], 0], (w) => judged(w, check, true)],
  ]),
  [
    21,
    "a tool's check answers nothing",
    [['policy_error', 'policy_nonsense'], 0],
    (w) => judged(w, () => undefined, true),
  ],

  [
    22,
    'policies, checks and hooks change the arguments that they were given, also later',
    { path: 'safe', deep: { list: [1] } },
    async (w) => {
      const seen: unknown[] = [];
      const spoil = ({ input }: { input: unknown }) => {
        seen.push(input);
        const { deep: inner } = input as { deep: { list: number[] } };
        try {
          (input as { path: string }).path = '/etc/passwd';
          inner.list.push(2);
        } catch {
          // Frozen would do as well.
        }
        return allow();
      };
      let received: unknown;
      put(
        w,
        (input: unknown) => {
          received = structuredClone(input);
        },
        { name: 'reads', policy: { check: spoil } },
      );
      const session = w.registry.createSession({
        sessionId: 's',
        policies: [{ id: 'bad', check: spoil }],
        hooks: [{ before: (call) => void spoil(call) }],
      });
      const given = { path: 'safe', deep: { list: [1] } };
      const called = session.call('reads', given);
      given.path = '/etc/shadow';
      for (const input of [...seen]) spoil({ input });
      await called;
      expect(seen.length).toBeGreaterThanOrEqual(3);
      return received;
    },
  ],

  [
    23,
    'nobody answers an approval',
    ['approval_timeout', 0, 'alive'],
    async (w) => {
      const { name } = put(w, () => 'ran', { requiresApproval: true, maxConcurrency: 1 });
      const session = w.registry.createSession({
        sessionId: 's',
        approver: never,
        approvalTimeoutMs: 1_000,
      });
      const called = session.call(name);
      await vi.advanceTimersByTimeAsync(1_000);
      return [
        outcome(await called),
        (await session.approvals.pending()).length,
        outcome(await session.call('still_alive')),
      ];
    },
  ],
  [
    24,
    'an approval is answered twice: the first counts',
    [true, false, 'ran', 1],
    async (w) => {
      const handler = vi.fn(() => 'ran');
      const { name } = put(w, handler, { requiresApproval: true });
      const session = w.registry.createSession({ sessionId: 's', approver: never });
      const called = session.call(name);
      await turns();
      const [{ id } = { id: '' }] = await session.approvals.pending();
      const first = session.approvals.answer(id, 'allow_once');
      const result = await called;
      return [
        first,
        session.approvals.answer(id, 'reject_once'),
        outcome(result),
        handler.mock.calls.length,
      ];
    },
  ],
  [
    24,
    'an approval is answered for another session',
    [false, 'approval_timeout'],
    async (w) => {
      const { name } = put(w, () => 'ran', { requiresApproval: true });
      const session = w.registry.createSession({
        sessionId: 's',
        approver: never,
        approvalTimeoutMs: 100,
      });
      const other = w.registry.createSession({ sessionId: 's', approver: never });
      const called = session.call(name);
      await turns();
      const [{ id } = { id: '' }] = await session.approvals.pending();
      const answered = other.approvals.answer(id, 'allow_once');
      await vi.advanceTimersByTimeAsync(100);
      return [answered, outcome(await called)];
    },
  ],
  [
    24,
    'an approval is answered after its timeout',
    [false, 'approval_timeout', 0],
    async (w) => {
      const handler = vi.fn();
      const { name } = put(w, handler, { requiresApproval: true });
      const answer = gate<ApprovalAnswer>();
      const session = w.registry.createSession({
        sessionId: 's',
        approver: () => answer.promise,
        approvalTimeoutMs: 100,
      });
      const called = session.call(name);
      await turns();
      const [{ id } = { id: '' }] = await session.approvals.pending();
      await vi.advanceTimersByTimeAsync(100);
      const result = await called;
      answer.open('allow_once');
      await turns();
      return [
        session.approvals.answer(id, 'allow_once'),
        outcome(result),
        handler.mock.calls.length,
      ];
    },
  ],
  [
    24,
    'a suspended approval is resumed twice, and by another session',
    [
      'approval_pending',
      ['approval_denied', 'token_foreign'],
      'ran',
      ['approval_denied', 'token_used'],
      1,
    ],
    async () => {
      const w = suspending();
      const handler = vi.fn(() => 'ran');
      const { name } = put(w, handler, { requiresApproval: true });
      const result = await w.session.call(name);
      const token = (result as { approval?: { token?: string } }).approval?.token ?? '';
      const other = w.registry.createSession({
        sessionId: 'other',
        principal: 'ann',
        approvalMode: 'suspend',
      });
      const foreign = await other.approvals.resume(token, 'allow_once');
      const first = await w.session.approvals.resume(token, 'allow_once');
      const second = await w.session.approvals.resume(token, 'allow_once');
      await w.settle();
      return [
        outcome(result),
        withReason(foreign),
        outcome(first),
        withReason(second),
        handler.mock.calls.length,
      ];
    },
  ],
  [
    25,
    'an approval is forged: in the token, in the arguments, in a record of history',
    [
      ['approval_denied', 'token_invalid'],
      ['approval_denied', 'token_invalid'],
      ['approval_denied', 'no_approver'],
      0,
    ],
    async () => {
      const w = suspending();
      const handler = vi.fn();
      const { name } = put(w, handler, { requiresApproval: true });
      const pending = await w.session.call(name);
      const token = (pending as { approval?: { token?: string } }).approval?.token ?? '';
      const forged = await w.session.approvals.resume(`${token.slice(0, -4)}AAAA`, 'allow_once');
      const junk = await w.session.approvals.resume('{"approved":true}', 'allow_once');
      const plain = w.registry.createSession({ sessionId: 'plain' });
      const claimed = await plain.call(name, {
        approved: true,
        approval: { decision: 'allow_once', token },
        _approval: 'allow_always',
      });
      await w.settle();
      return [withReason(forged), withReason(junk), withReason(claimed), handler.mock.calls.length];
    },
  ],

  [
    26,
    'a call id twice in flight, then again',
    ['duplicate_call_id', 'done', 'done', 2],
    async (w) => {
      const hold = gate();
      const handler = vi.fn(async () => {
        await hold.promise;
        return 'done';
      });
      const { name } = put(w, handler);
      const first = w.session.call(name, {}, { callId: 'c' });
      const second = await w.session.call(name, {}, { callId: 'c' });
      hold.open();
      const ended = await first;
      return [
        outcome(second),
        outcome(ended),
        outcome(await w.session.call(name, {}, { callId: 'c' })),
        handler.mock.calls.length,
      ];
    },
  ],
  [
    26,
    'a caller gives the id that the library has given to a call in flight',
    'duplicate_call_id',
    async (w) => {
      const hold = gate();
      const { name } = put(w, () => hold.promise);
      const first = w.session.call(name);
      const [{ callId } = { callId: '' }] = w.of('tool:pre');
      const second = await w.session.call(name, {}, { callId });
      hold.open();
      await first;
      return outcome(second);
    },
  ],

  ...[
    '{"__proto__":{"polluted":1}}',
    '{"a":{"__proto__":{"polluted":1}}}',
    '{"constructor":{"prototype":{"polluted":1}}}',
    '{"a":[{"prototype":{"polluted":1}}]}',
  ].map(
    (text): Row => [
      27,
      `arguments ${text}`,
      [undefined, undefined, undefined],
      async (w) => {
        let received: unknown;
        put(
          w,
          (input: unknown) => {
            received = input;
            return input;
          },
          { name: 'raw' },
        );
        put(
          w,
          (input: unknown) => {
            received = input;
            return input;
          },
          { name: 'zod', parameters: z.looseObject({ a: z.unknown().optional() }) },
        );
        const polluted: unknown[] = [];
        for (const name of ['raw', 'zod']) {
          await w.session.call(name, JSON.parse(text));
          await w.session.tool(name)?.execute(text as never);
          polluted.push((received as { polluted?: unknown } | undefined)?.polluted);
        }
        return [...polluted, ({} as { polluted?: unknown }).polluted];
      },
    ],
  ),

  [
    28,
    'a tool that would be named __proto__',
    'invalid_definition',
    () => misuse(() => tool(() => 1, { name: '__proto__' })),
  ],
  [
    28,
    'a call of a tool named __proto__',
    ['tool_not_found', 'tool_not_found', undefined],
    async (w) => [
      outcome(await w.session.call('__proto__')),
      (await w.session.explain('__proto__')).code,
      w.session.tool('__proto__'),
    ],
  ],
  ...['constructor', 'toString', 'hasOwnProperty', 'prototype', 'valueOf'].flatMap(
    (name): Row[] => [
      [
        28,
        `a call of a tool named ${name} that nobody registered`,
        ['tool_not_found', 'tool_not_found', undefined],
        async (w) => [
          outcome(await w.session.call(name)),
          (await w.session.explain(name)).code,
          w.session.tool(name),
        ],
      ],
      [
        28,
        `a tool that is registered as ${name}`,
        ['mine', true, 1],
        async (w) => {
          put(w, () => 'mine', { name });
          const result = await w.session.call(name);
          const { byTool } = w.session.metrics() as { byTool: Record<string, { calls: number }> };
          return [
            outcome(result),
            w.session.effectiveTools().names.includes(name),
            Object.hasOwn(byTool, name) ? byTool[name]?.calls : undefined,
          ];
        },
      ],
    ],
  ),

  [
    29,
    '10 MB of arguments',
    'invalid_input',
    async (w) => outcome(await w.run(() => 1, {}, { text: 'x'.repeat(10_000_000) })),
  ],
  [
    29,
    '10 MB of arguments as text',
    'invalid_input',
    async (w) => outcome(await executeText(w, JSON.stringify({ text: 'x'.repeat(10_000_000) }))),
  ],
  [
    29,
    'arguments nested 100 000 deep',
    ['invalid_input', 'too_deep'],
    async (w) => withReason(await w.run(() => 1, {}, { a: deep(100_000) })),
  ],
  [
    29,
    'arguments nested 100 000 deep as text',
    'invalid_input',
    async (w) =>
      outcome(await executeText(w, `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`)),
  ],
  [
    29,
    '1e6 keys',
    ['invalid_input', 'too_large'],
    async (w) =>
      withReason(
        await w.run(
          () => 1,
          {},
          Object.fromEntries(Array.from({ length: 1_000_000 }, (_, key) => [`k${key}`, 1])),
        ),
      ),
  ],
  [
    29,
    'lone surrogates arrive as they are, and the text that a model reads has none',
    ['a\ud800b', 'a\ufffdb'],
    async (w) =>
      shown(await w.run((input: { text: string }) => input.text, {}, { text: 'a\ud800b' })),
  ],

  ...(
    [
      ['text', 'not json'],
      ['an array', [1]],
      ['null', null],
      ['a number', 3],
      ['JSON of an array', '[1]'],
      ['JSON of a string of JSON', JSON.stringify(JSON.stringify({ n: 1 }))],
    ] as const
  ).map(
    ([what, input]): Row => [
      30,
      `arguments that are ${what}`,
      ['invalid_input', true],
      async (w) => {
        const { name } = put(w, () => 'ran', { parameters: z.object({ n: z.number() }) });
        const result = await (
          w.session.tool(name) as { execute(input: unknown): Promise<ToolResult> }
        ).execute(input);
        return [outcome(result), /object/.test(result.error?.message ?? '')];
      },
    ],
  ),
  [
    30,
    'a member of the wrong type is named by its path',
    ['invalid_input', true],
    async (w) => {
      const result = await w.run(
        () => 1,
        { parameters: z.object({ user: z.object({ age: z.number() }) }) },
        { user: { age: 'SECRET VALUE' } },
      );
      return [
        outcome(result),
        /user\.age/.test(result.error?.message ?? '') &&
          !result.error?.message.includes('SECRET VALUE'),
      ];
    },
  ],

  ...(
    [
      ['empty', ''],
      ['of spaces', '  '],
      ['1 025 characters long', 'a'.repeat(1_025)],
      ['untrimmed', ' a'],
      ['with a newline', 'a\nb'],
      ['with NUL', 'a\0b'],
      ['with a right-to-left override', 'a\u202eb'],
      ['with a zero-width space', 'a\u200bb'],
      ['not NFC', 'e\u0301'],
      ['a number', 3],
      ['absent', undefined],
    ] as const
  ).map(
    ([what, name]): Row => [
      31,
      `a name ${what}`,
      'invalid_definition',
      () => misuse(() => tool(() => 1, { name })),
    ],
  ),
  ...(
    [
      ['a Cyrillic а', 'reаd_file'],
      ['another case', 'Read_File'],
      ['- for _', 'read-file'],
      ['fullwidth letters', 'ｒead_file'],
      ['a 1 for an l', 'read_fi1e'],
    ] as const
  ).map(
    ([what, name]): Row => [
      31,
      `a twin of another name, with ${what}`,
      'name_conflict',
      (w) => {
        put(w, () => 1, { name: 'read_file' });
        return misuse(() => put(w, () => 1, { name }));
      },
    ],
  ),

  [
    32,
    'names that are one name under the provider\u2019s rule',
    ['math_gcd', 'dotted', 'plain'],
    async (w) => {
      put(w, () => 'dotted', { name: 'math.gcd' });
      put(w, () => 'plain', { name: 'math_gcd' });
      const { toProvider, toTool } = toProviderNames(w.session.effectiveTools().names);
      const dotted = toProvider.get('math.gcd') as string;
      expect(dotted).toMatch(/^math_gcd_[0-9a-f]{8}$/);
      // A session that lists them the other way round shows the same names.
      expect(toProviderNames(['math_gcd', 'math.gcd']).toProvider.get('math.gcd')).toBe(dotted);
      const called = async (alias: string): Promise<unknown> =>
        outcome(await w.session.call(toTool.get(alias) ?? '', {}));
      return [toProvider.get('math_gcd'), await called(dotted), await called('math_gcd')];
    },
  ],

  [
    33,
    'two plugins bring one name',
    ['duplicate_name', 'first', 'second'],
    async (w) => {
      w.registry.scope('one').register(tool(() => 'first', { name: 'twin' }));
      const refused = misuse(() =>
        w.registry.scope('two').register(tool(() => 'second', { name: 'twin' })),
      );
      w.registry
        .scope('three', { prefix: 'three_' })
        .register(tool(() => 'second', { name: 'twin' }));
      return [
        refused,
        outcome(await w.session.call('twin')),
        outcome(await w.session.call('three_twin')),
      ];
    },
  ],
  [
    33,
    "a session's tool takes the name of a registry's, or its twin's",
    ['duplicate_name', 'name_conflict'],
    (w) => [
      misuse(() => w.session.register(tool(() => 1, { name: 'still_alive' }))),
      misuse(() => w.session.register(tool(() => 1, { name: 'Still-Alive' }))),
    ],
  ],

  [
    47,
    'the clock jumps an hour either way while a call runs',
    ['done', 'timeout'],
    async () => {
      let now = 1_000_000_000;
      const w = world({}, { now: () => now });
      const hold = gate();
      const running = w.run(
        async () => {
          await hold.promise;
          return 'done';
        },
        { timeoutMs: 1_000 },
      );
      const hanging = w.run(never, { timeoutMs: 1_000 });
      now += 3_600_000;
      await vi.advanceTimersByTimeAsync(500);
      now -= 7_200_000;
      hold.open();
      const first = await running;
      await vi.advanceTimersByTimeAsync(500);
      const second = await hanging;
      await w.settle();
      expect(first.metadata.durationMs).toBeLessThan(1_000);
      return [outcome(first), outcome(second)];
    },
  ],

  [58, 'a secret in arguments, output, error, prompt and knobs', [], async () => canary()],

  [
    64,
    'close during calls, in whatever stage they are',
    [
      ['session_closed', 'session_closed', 'session_closed', 'session_closed'],
      'session_closed',
      true,
    ],
    async (w) => {
      const hold = gate();
      const { name } = put(w, () => hold.promise, { maxConcurrency: 1 });
      const { name: asks } = put(w, () => 1, { requiresApproval: true });
      const { name: judges } = put(w, () => 1, { policy: { check: never } });
      const session = w.registry.createSession({ sessionId: 's', approver: never });
      const calls = [
        session.call(name),
        session.call(name),
        session.call(asks),
        session.call(judges),
      ];
      await turns();
      const closing = session.close();
      const again = session.close();
      const codes = (await Promise.all(calls)).map(outcome);
      await closing;
      hold.open();
      await turns();
      return [codes, outcome(await session.call(name)), closing === again];
    },
  ],
  [
    64,
    'close while a session-scoped handler cannot be disposed',
    [['session_closed'], 'closed'],
    async (w) => {
      const { name } = put(w, undefined as never, {
        handler: undefined,
        create: () => ({ handler: never, dispose: never }),
      });
      const session = w.registry.createSession({ sessionId: 's' });
      const called = session.call(name);
      await turns();
      let closed = 'waits';
      void session.close().then(() => {
        closed = 'closed';
      });
      const codes = [outcome(await called)];
      await vi.advanceTimersByTimeAsync(30_000);
      return [codes, closed];
    },
  ],
  [
    64,
    'close while a session-scoped handler is still being made',
    [['session_closed'], 'closed'],
    async (w) => {
      const { name } = put(w, undefined as never, { handler: undefined, create: never });
      const session = w.registry.createSession({ sessionId: 's' });
      const called = session.call(name);
      await turns();
      let closed = 'waits';
      void session.close().then(() => {
        closed = 'closed';
      });
      const codes = [outcome(await called)];
      await vi.advanceTimersByTimeAsync(30_000);
      return [codes, closed];
    },
  ],
  [64, 'close, settle and abort in any order: one end each', 'held', closeRaces],
];

describe('faults', () => {
  const unhandled: unknown[] = [];
  const collect = (reason: unknown): void => void unhandled.push(reason);

  beforeEach(() => {
    vi.useFakeTimers({
      toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'],
    });
    process.on('unhandledRejection', collect);
  });
  afterEach(async () => {
    vi.useRealTimers();
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', collect);
    expect(unhandled.splice(0), 'unhandled rejections').toEqual([]);
  });

  for (const [number, fault, expected, run] of rows) {
    test(`${number}: ${fault}`, async () => {
      const w = world();
      const came = await run(w);
      if (expected instanceof RegExp) expect(came).toMatch(expected);
      else expect(came).toEqual(expected);
      await w.settle();
    });
  }

  test('every row of this table is there', () => {
    const wanted = [
      1,
      2,
      3,
      4,
      ...Array.from({ length: 23 }, (_, place) => place + 6),
      29,
      30,
      31,
      32,
      33,
      47,
      58,
      64,
    ];
    expect([...new Set(rows.map(([number]) => number))]).toEqual(wanted);
  });
});

/** Registers a tool. */
function put(
  w: World,
  handler: (input: never, context: never) => unknown,
  more: Record<string, unknown> = {},
): { readonly name: string } {
  const made = tool(handler, more);
  w.registry.register(made);
  return made;
}

function suspending(): World {
  return world(
    { principal: 'ann', approvalMode: 'suspend' },
    { approvals: { secret: 'a key of thirty-two characters or more' } },
  );
}

async function create(w: World, make: () => unknown): Promise<ToolResult> {
  const made = defineTool({
    name: 'made',
    description: 'Made once a session.',
    parameters: object,
    create: make as never,
  });
  w.registry.register(made);
  return w.session.call('made');
}

async function executeText(w: World, text: string): Promise<ToolResult> {
  const { name } = put(w, () => 1);
  return (w.session.tool(name) as { execute(input: unknown): Promise<ToolResult> }).execute(text);
}

async function timed(w: World, handler: () => unknown): Promise<unknown> {
  const called = w.run(handler, { timeoutMs: 100 });
  let ended = false;
  void called.then(() => {
    ended = true;
  });
  await vi.advanceTimersByTimeAsync(99);
  expect(ended).toBe(false);
  await vi.advanceTimersByTimeAsync(51);
  expect(ended, 'ended within 50 ms of its limit').toBe(true);
  return outcome(await called);
}

async function late(
  w: World,
  how: 'resolves' | 'rejects',
  cause: 'timeout' | 'abort' | 'close',
): Promise<unknown> {
  const hold = gate<unknown>();
  const { name } = put(w, () => hold.promise, { timeoutMs: 100 });
  const session = w.registry.createSession({ sessionId: 'late' });
  const controller = new AbortController();
  const called = session.call(name, {}, { signal: controller.signal });
  if (cause === 'abort') controller.abort();
  else if (cause === 'close') await session.close();
  else await vi.advanceTimersByTimeAsync(100);
  const result = await called;
  if (how === 'resolves') hold.open('too late');
  else hold.fail(new Error('too late'));
  await turns();
  const [event] = w.of('tool:late');
  return [outcome(result), event?.settled, session.metrics().lateSettles];
}

async function settleRaces(): Promise<unknown> {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.constantFrom('resolves', 'rejects'),
      async (scheduler, how) => {
        const w = world();
        const hold = gate<unknown>();
        const controller = new AbortController();
        const { name } = put(w, () => hold.promise, { timeoutMs: 50 });
        const called = w.session.call(name, {}, { signal: controller.signal });
        void scheduler.schedule(Promise.resolve('abort')).then(() => controller.abort());
        void scheduler
          .schedule(Promise.resolve('timeout'))
          .then(() => void vi.advanceTimersByTime(50));
        void scheduler
          .schedule(Promise.resolve('settle'))
          .then(() => (how === 'resolves' ? hold.open('value') : hold.fail(new Error('reason'))));
        await scheduler.waitAll();
        const result = await called;
        await turns();
        expect(['value', 'handler_error', 'timeout', 'cancelled']).toContain(outcome(result));
        const ran = result.success || result.error.code === 'handler_error';
        expect(w.of('tool:late').length).toBe(ran ? 0 : 1);
        expect(w.session.metrics()).toMatchObject({ calls: 1, lateSettles: ran ? 0 : 1 });
        await w.settle();
      },
    ),
    { numRuns: 60 },
  );
  return 'held';
}

async function closeRaces(): Promise<unknown> {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(fc.constantFrom('runs', 'waits', 'asks', 'judges'), { minLength: 1, maxLength: 6 }),
      async (scheduler, kinds) => {
        const w = world();
        const runs = gate<unknown>();
        const judges = gate<unknown>();
        const asks = gate<ApprovalAnswer>();
        let handled = 0;
        put(
          w,
          () => {
            handled++;
            return runs.promise;
          },
          { name: 'runs' },
        );
        put(
          w,
          () => {
            handled++;
            return runs.promise;
          },
          { name: 'waits', maxConcurrency: 1 },
        );
        put(
          w,
          () => {
            handled++;
            return 1;
          },
          { name: 'asks', requiresApproval: true },
        );
        put(
          w,
          () => {
            handled++;
            return 1;
          },
          { name: 'judges', policy: { check: () => judges.promise } },
        );
        const session = w.registry.createSession({ sessionId: 's', approver: () => asks.promise });
        const controller = new AbortController();
        const calls = kinds.map((kind, index) =>
          session.call(kind, {}, index % 2 === 0 ? { signal: controller.signal } : {}),
        );
        const doings: (() => unknown)[] = [
          () => runs.open(1),
          () => judges.open(allow()),
          () => asks.open('allow_once'),
          () => controller.abort(),
          () => session.close(),
          () => session.close(),
        ];
        for (const doing of doings) void scheduler.schedule(Promise.resolve()).then(doing);
        await scheduler.waitAll();
        const results = await Promise.all(calls);
        await turns();
        for (const result of results)
          expect([1, 'session_closed', 'cancelled']).toContain(outcome(result));
        expect(handled).toBeGreaterThanOrEqual(results.filter(({ success }) => success).length);
        expect(outcome(await session.call('runs'))).toBe('session_closed');
        expect(stateOf(session)).toMatchObject({ calls: { inFlight: 0, queued: 0 } });
        await w.settle();
      },
    ),
    { numRuns: 60 },
  );
  return 'held';
}

async function reentrantSlots(): Promise<unknown> {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.integer({ min: 1, max: 3 }),
      fc.array(fc.constantFrom('outer', 'middle', 'inner'), { minLength: 2, maxLength: 8 }),
      async (scheduler, width, names) => {
        const w = world({ limits: { maxConcurrentCalls: width } });
        const step = (): Promise<unknown> => scheduler.schedule(Promise.resolve());
        const through =
          (next: string) =>
          async (_: never, context: ToolContext): Promise<unknown> => {
            await step();
            const { success, output, error } = await context.tools.call(next);
            await step();
            return success ? output : error.reason;
          };
        put(w, through('middle'), {
          name: 'outer',
          uses: ['middle'],
          maxConcurrency: 2,
          ...noTimeout,
        });
        put(w, through('inner'), {
          name: 'middle',
          uses: ['inner'],
          maxConcurrency: 1,
          resourceKey: 'file',
          ...noTimeout,
        });
        put(
          w,
          async () => {
            await step();
            return 'leaf';
          },
          { name: 'inner', maxConcurrency: 1, resourceKey: 'file', ...noTimeout },
        );
        const calls = names.map((name) => w.session.call(name));
        const all = Promise.all(calls);
        await scheduler.waitFor(all);
        // A wait that could never end is refused at once; nothing hangs.
        for (const result of await all)
          expect(['leaf', 'deadlock']).toContain(
            result.success ? result.output : result.error.reason,
          );
        await w.settle();
      },
    ),
    { numRuns: 60 },
  );
  return 'held';
}

async function listened(w: World, listener: () => unknown): Promise<unknown> {
  w.session.events.on('tool:pre', listener);
  w.session.events.on('*', (event) => (event.type === 'tool:post' ? listener() : undefined));
  const result = await w.run(() => 'done');
  await turns();
  return [
    outcome(result),
    w.warnings.filter((warning) => warning === 'an event listener failed').length,
  ];
}

async function judged(w: World, check: () => unknown, own: boolean): Promise<unknown> {
  const handler = vi.fn();
  const { name } = put(w, handler, own ? { policy: { check } } : {});
  const session = w.registry.createSession({
    sessionId: 's',
    policies: own ? [] : [{ id: 'bad', check: check as never }],
  });
  const called = session.call(name);
  await vi.advanceTimersByTimeAsync(5_000);
  return [withReason(await called), handler.mock.calls.length];
}

function shown(result: ToolResult): unknown {
  return [result.output, serializeOutput(result)];
}

/**
 * How long the text was cut to, what it was, whether that is exact; and that making it held no
 * memory.
 */
async function big(w: World, make: () => unknown, maxOutputChars: number): Promise<unknown> {
  const result = await w.run(make, { maxOutputChars });
  if (!result.success) return result.error;
  const text = serializeOutput(result);
  expect(text).toMatch(/cut/);
  expect(text.length).toBeLessThanOrEqual(maxOutputChars);
  expect(result.output).toBe(text);
  const { originalChars, exact } = result.metadata.truncated ?? {};
  expect(originalChars).toBeGreaterThan(maxOutputChars);
  return [text.length, originalChars, exact];
}

/** Where a canary was seen that should be nowhere. */
async function canary(): Promise<unknown> {
  const secret = 'canary-5f2a-secret';
  const w = world(
    {
      approver: (request) => {
        told.push(request);
        return 'allow_once';
      },
    },
    { redact: ['password'] },
  );
  const told: unknown[] = [];
  const parameters = z.object({ key: z.string().meta({ secret: true }), mode: z.string() });
  const knobs = z.object({ token: z.string().meta({ secret: true }).default(secret) });
  put(
    w,
    ({ key, mode }: { key: string; mode: string }, context: ToolContext) => {
      context.progress(1, 2, `using ${key}`);
      context.emit('used', { key, nested: [`${key}!`] });
      context.log('info', { password: secret });
      if (mode === 'throw') throw new Error(`bad key ${key}`);
      if (mode === 'hang') return never();
      return ok({ key: 'x' }, { used: key });
    },
    {
      name: 'uses_secret',
      parameters,
      policy: { knobs, check: () => ({ effect: 'ask', prompt: `use ${secret}?` }) },
      timeoutMs: 50,
    },
  );
  const results: ToolResult[] = [];
  for (const mode of ['ok', 'throw', 'hang']) {
    const called = w.session.call('uses_secret', { key: secret, mode });
    await vi.advanceTimersByTimeAsync(50);
    results.push(await called);
  }
  results.push(await w.session.call('uses_secret', { key: secret }));
  results.push(await w.session.call('uses_secret', { key: { password: secret }, mode: 3 }));
  await w.settle();
  const errors = results.filter(({ success }) => !success).map(({ error }) => error);
  return Object.entries({ events: w.events, prompts: told, errors, warnings: w.warnings })
    .filter(([, value]) => JSON.stringify(value).includes(secret))
    .map(([place]) => place);
}
