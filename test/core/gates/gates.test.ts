/** Gates of a host's own: where they run, what they may answer, and what happens if they fail. */
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import {
  type CallGate,
  defineGate,
  defineTool,
  type Gate,
  HostToolRegistry,
  type OutputGate,
  type RegistryOptions,
  type SessionOptions,
  type ToolResult,
} from '../../../src/index.ts';

const logged: object[] = [];
const logger = { warn: () => {}, error: (data: object) => logged.push(data) };

function setUp(
  options: RegistryOptions = {},
  more: Partial<SessionOptions> = {},
  handler: (input: { n: number }) => unknown = ({ n }) => n + 1,
) {
  logged.length = 0;
  const registry = new HostToolRegistry({ logger, ...options });
  const ran = vi.fn(handler);
  registry.register(
    defineTool({
      name: 'add',
      description: 'Adds one.',
      parameters: z.object({ n: z.number() }),
      handler: ran,
    }),
  );
  registry.register(
    defineTool({
      name: 'read',
      description: 'Reads.',
      parameters: z.object({ n: z.number() }),
      annotations: { readOnly: true },
      handler: ({ n }) => n,
    }),
  );
  const session = registry.createSession({ sessionId: 's', principal: 'user:ann', ...more });
  return { registry, session, ran, add: () => session.call('add', { n: 1 }) };
}

const denial = { code: 'policy_denied', reason: 'not_now' } as const;
const errorOf = (result: ToolResult) => {
  if (result.success) return { success: true, output: result.output };
  const { code, reason, ruleId, source } = result.error;
  return { code, reason, ruleId, source, status: result.metadata.status };
};
const at = (place: 'judge' | 'start', run: CallGate['run'], name = 'mine'): Gate =>
  defineGate({ name, at: place, run });
const onOutput = (run: OutputGate['run'], name = 'mine'): Gate =>
  defineGate({ name, at: 'output', run });

describe.each(['judge', 'start'] as const)('a gate at `%s`', (place) => {
  test('lets a call pass if it answers nothing, now or later', async () => {
    for (const run of [() => undefined, async () => undefined]) {
      const { add, ran } = setUp({ gates: [at(place, run)] });
      expect(errorOf(await add())).toEqual({ success: true, output: 2 });
      expect(ran).toHaveBeenCalledTimes(1);
    }
  });

  test('refuses a call with its reason and its text, and the handler does not run', async () => {
    for (const run of [
      () => ({ ...denial, message: 'Wait.' }),
      async () => ({ ...denial, message: 'Wait.' }),
    ]) {
      const { add, ran } = setUp({ gates: [at(place, run)] });
      const result = await add();
      expect(errorOf(result)).toEqual({
        code: 'policy_denied',
        reason: 'not_now',
        ruleId: 'mine',
        source: 'registry',
        status: 'rejected',
      });
      expect(result.error?.message).toBe('Wait.');
      expect(ran).not.toHaveBeenCalled();
    }
  });

  test('sees the tool, its own copy of the input, the session and the id of the call', async () => {
    const run = vi.fn<CallGate['run']>();
    const { session } = setUp({ gates: [at(place, run)] }, { facts: { open: true } });
    await session.call('add', { n: 1 }, { callId: 'c1' });
    const [call] = run.mock.calls[0] ?? [];
    expect(call).toMatchObject({
      tool: { name: 'add' },
      input: { n: 1 },
      callId: 'c1',
      session: { sessionId: 's', principal: 'user:ann', facts: { open: true } },
    });
    expect(Object.isFrozen(call)).toBe(true);
  });

  test.each<[what: string, run: () => unknown, reason: string]>([
    [
      'throws',
      () => {
        throw new Error('broken');
      },
      'policy_threw',
    ],
    ['rejects', async () => Promise.reject(new Error('broken')), 'policy_threw'],
    ['answers a text', () => 'no', 'policy_nonsense'],
    ['answers false', () => false, 'policy_nonsense'],
    ['answers another code', () => ({ code: 'internal', reason: 'x' }), 'policy_nonsense'],
    ['denies without a reason', () => ({ code: 'policy_denied' }), 'policy_nonsense'],
    ['has a reason that is no word', () => ({ ...denial, reason: 'No!' }), 'policy_nonsense'],
    ['answers an output', () => ({ output: 1 }), 'policy_nonsense'],
    ['answers a denial of its class', () => Object.create(denial), 'policy_nonsense'],
  ])('that %s denies the call, and the logger hears why', async (_, run, reason) => {
    const { add, ran } = setUp({ gates: [at(place, run as CallGate['run'])] });
    expect(errorOf(await add())).toMatchObject({
      code: 'policy_error',
      reason,
      ruleId: 'mine',
      status: 'rejected',
    });
    expect(ran).not.toHaveBeenCalled();
    expect(logged).toHaveLength(1);
  });

  test('that takes too long denies the call', async () => {
    vi.useFakeTimers();
    try {
      const { add, ran } = setUp({
        gates: [at(place, () => new Promise(() => {}))],
        policyTimeoutMs: 100,
      });
      const result = add();
      await vi.advanceTimersByTimeAsync(100);
      expect(errorOf(await result)).toMatchObject({
        code: 'policy_error',
        reason: 'policy_timeout',
      });
      expect(ran).not.toHaveBeenCalled();
    } finally {
      vi.useRealTimers();
    }
  });

  test("is asked in order, the registry's before the session's, until one denies", async () => {
    const asked: string[] = [];
    const gate = (name: string, answer?: typeof denial): Gate =>
      at(
        place,
        () => {
          asked.push(name);
          return answer;
        },
        name,
      );
    const { add } = setUp(
      { gates: [gate('a'), gate('b')] },
      { gates: [gate('c', denial), gate('d', denial)] },
    );
    expect(errorOf(await add())).toMatchObject({ ruleId: 'c', source: 'session' });
    expect(asked).toEqual(['a', 'b', 'c']);
  });

  test('that changes the rules while it is asked does not let the call slip through', async () => {
    const { registry, add, ran } = setUp({
      gates: [
        at(place, async () => {
          registry.addRules([{ id: 'late', tools: 'add', effect: 'deny' }]);
        }),
      ],
    });
    expect(errorOf(await add())).toMatchObject({ code: 'policy_denied', ruleId: 'late' });
    expect(ran).not.toHaveBeenCalled();
  });
});

describe('`applies`', () => {
  test('is asked once for a tool, and a gate that does not apply is not run', async () => {
    const applies = vi.fn(({ annotations }) => annotations.readOnly !== true);
    const run = vi.fn();
    const gate = defineGate({ name: 'mine', at: 'judge', applies, run });
    const { session } = setUp({ gates: [gate] });
    for (let time = 0; time < 3; time++) await session.call('read', { n: time });
    expect(applies.mock.calls.map(([{ name }]) => name)).toEqual(['read']);
    expect(run).not.toHaveBeenCalled();
    await session.call('add', { n: 1 });
    expect(run).toHaveBeenCalledTimes(1);
  });

  test('is asked once for a tool that a part brings to a session', async () => {
    const applies = vi.fn((_: { name: string }) => true);
    const gate = defineGate({ name: 'mine', at: 'start', applies, run: () => undefined });
    const registry = new HostToolRegistry({ gates: [gate] });
    const session = registry.createSession({ sessionId: 's', discovery: {} });
    await session.call('find_tools', { query: 'add' });
    expect(applies.mock.calls.map(([{ name }]) => name)).toEqual(['find_tools']);
  });

  test.each(['judge', 'start', 'output'] as const)(
    'of a gate at `%s` that throws makes the gate deny',
    async (place) => {
      const applies = (): boolean => {
        throw new Error('broken');
      };
      const gate = defineGate({
        name: 'mine',
        at: place,
        applies,
        run: () => undefined,
      } as CallGate);
      const { add } = setUp({ gates: [gate] });
      expect(errorOf(await add())).toMatchObject({ code: 'policy_error', ruleId: 'mine' });
      expect(logged).toHaveLength(1);
    },
  );
});

describe('a gate at `start`', () => {
  test('runs after rules and quotas, and what was reserved is given back if it denies', async () => {
    let isOpen = false;
    const gate = at('start', () => (isOpen ? undefined : denial));
    const { add } = setUp({
      gates: [gate],
      quotas: [{ id: 'one', max: 1, per: 'day', by: 'registry' }],
    });
    expect(errorOf(await add())).toMatchObject({ reason: 'not_now' });
    isOpen = true;
    expect(errorOf(await add())).toMatchObject({ success: true });
    expect(errorOf(await add())).toMatchObject({ reason: 'quota_exceeded' });
  });

  test('that answers later is asked once about an input', async () => {
    const run = vi.fn(async () => undefined);
    const { add } = setUp({ gates: [at('start', run)] });
    expect(errorOf(await add())).toMatchObject({ success: true });
    expect(run).toHaveBeenCalledTimes(1);
  });

  test('is not asked about a call that a rule denies', async () => {
    const run = vi.fn();
    const { add } = setUp({ gates: [at('start', run)], rules: [{ tools: 'add', effect: 'deny' }] });
    await add();
    expect(run).not.toHaveBeenCalled();
  });
});

describe('a gate at `output`', () => {
  test('sees its own copy of the output, and may replace it, now or later', async () => {
    for (const later of [false, true]) {
      const run: OutputGate['run'] = ({ output }) => {
        (output as { list: number[] }).list.push(9);
        return later ? Promise.resolve({ output: 'short' }) : { output: 'short' };
      };
      const { add } = setUp({ gates: [onOutput(run)] }, {}, () => ({ list: [1] }));
      expect(errorOf(await add())).toEqual({ success: true, output: 'short' });
      const looks = onOutput(({ output }) => void (output as { list: number[] }).list.push(9));
      const other = setUp({ gates: [looks] }, {}, () => ({ list: [1] }));
      expect(errorOf(await other.add())).toEqual({ success: true, output: { list: [1] } });
    }
  });

  test('gets what the gate before it returned', async () => {
    const double = onOutput(({ output }) => ({ output: (output as number) * 2 }), 'double');
    const { add } = setUp({ gates: [double] }, { gates: [double] });
    expect(errorOf(await add())).toEqual({ success: true, output: 8 });
  });

  test('withholds an output; the call has failed, since its handler has run', async () => {
    const { add, ran } = setUp({ gates: [onOutput(() => denial)] });
    const result = await add();
    expect(errorOf(result)).toMatchObject({
      code: 'policy_denied',
      reason: 'not_now',
      ruleId: 'mine',
      status: 'failed',
    });
    expect(result.error?.message).toMatch(/has run, but its output was withheld/);
    expect(ran).toHaveBeenCalledTimes(1);
  });

  test('that throws withholds the output', async () => {
    const { add } = setUp({
      gates: [
        onOutput(() => {
          throw new Error('broken');
        }),
      ],
    });
    expect(errorOf(await add())).toMatchObject({ code: 'policy_error', status: 'failed' });
  });

  test('is not asked about a failed call', async () => {
    const run = vi.fn();
    const { add } = setUp({ gates: [onOutput(run)] }, {}, () => {
      throw new Error('no');
    });
    await add();
    expect(run).not.toHaveBeenCalled();
  });

  test('does not get around the output schema', async () => {
    const { registry, session } = setUp({ gates: [onOutput(() => ({ output: 'text' }))] });
    registry.register(
      defineTool({
        name: 'number',
        description: 'A number.',
        parameters: z.object({}),
        outputSchema: z.number(),
        handler: () => 1,
      }),
    );
    expect(errorOf(await session.call('number', {}))).toMatchObject({ code: 'invalid_output' });
  });
});

describe('`explain`', () => {
  test('runs gates that judge, and names them', async () => {
    const start = vi.fn();
    const { session } = setUp({ gates: [at('judge', () => denial), at('start', start, 'later')] });
    const explanation = await session.explain('add', { n: 1 });
    expect(explanation).toMatchObject({
      code: 'policy_denied',
      ruleId: 'mine',
      source: 'registry',
    });
    expect(explanation.steps).toContainEqual({
      source: 'registry',
      ruleId: 'mine',
      effect: 'deny',
      reason: 'not_now',
    });
    expect(start).not.toHaveBeenCalled();
  });

  test('names a gate that lets the call pass, and one that needs an input', async () => {
    const { session } = setUp({ gates: [at('judge', () => undefined)] });
    expect((await session.explain('add', { n: 1 })).steps).toContainEqual({
      source: 'registry',
      ruleId: 'mine',
      note: 'passed',
    });
    expect((await session.explain('add')).steps).toContainEqual({
      source: 'registry',
      ruleId: 'mine',
      note: 'no input was given',
    });
  });
});

describe('`defineGate` refuses', () => {
  const run = () => undefined;
  test.each<[what: string, gate: unknown, message: RegExp]>([
    ['nothing', undefined, /expected `name`/],
    ['a gate without a name', { at: 'judge', run }, /expected `name` to be a non-blank string/],
    ['a blank name', { name: ' ', at: 'judge', run }, /expected `name`/],
    ['another place', { name: 'a', at: 'end', run }, /expected `at` to be/],
    ['a gate without `run`', { name: 'a', at: 'judge' }, /expected `run`/],
    ['`applies` that is no function', { name: 'a', at: 'judge', run, applies: true }, /`applies`/],
    ['an unknown field', { name: 'a', at: 'judge', run, when: {} }, /unknown field `when`/],
    ['a field of its class', Object.create({ name: 'a', at: 'judge', run }), /inherited/],
  ])('%s', (_, gate, message) => {
    expect(() => defineGate(gate as CallGate)).toThrow(message);
  });

  test('and so do registries and sessions, for what it has not made', () => {
    const gates = [{ name: 'a', at: 'judge', run }] as never;
    expect(() => new HostToolRegistry({ gates })).toThrow(/HostToolRegistry: expected `gates`/);
    expect(() => new HostToolRegistry().createSession({ sessionId: 's', gates })).toThrow(
      /createSession: expected `gates`/,
    );
  });
});

test('a call runs if and only if no gate of any place objects', async () => {
  const answer = fc.constantFrom('pass', 'deny', 'throw', 'late pass', 'late deny');
  const gate = fc.record({ place: fc.constantFrom('judge', 'start', 'output'), answer });
  await fc.assert(
    fc.asyncProperty(
      fc.array(gate, { maxLength: 5 }),
      fc.array(gate, { maxLength: 3 }),
      async (ofRegistry, ofSession) => {
        const make = ({ place, answer: how }: (typeof ofRegistry)[number], index: number): Gate => {
          const give = (): unknown => {
            if (how === 'throw') throw new Error('broken');
            return how.endsWith('deny') ? denial : undefined;
          };
          const run = how.startsWith('late') ? async () => give() : give;
          return defineGate({ name: `g${index}`, at: place, run } as unknown as CallGate);
        };
        const { add, ran } = setUp({ gates: ofRegistry.map(make) }, { gates: ofSession.map(make) });
        const all = [...ofRegistry, ...ofSession];
        const objects = (one: (typeof all)[number]): boolean => !one.answer.endsWith('pass');
        const result = await add();
        expect(result.success).toBe(!all.some(objects));
        const stopped = all.some((one) => one.place !== 'output' && objects(one));
        expect(ran).toHaveBeenCalledTimes(stopped ? 0 : 1);
      },
    ),
  );
});
