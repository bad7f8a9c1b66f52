import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import type { AnyEvent, Hook } from '../../../src/index.ts';
import { outcome, tool, turns, world } from './world.ts';

describe('rule 15: listeners and sinks never affect a call', () => {
  test.each([
    [
      'throws',
      () => {
        throw new Error('mine');
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('mine');
      },
    ],
    [
      'changes what it is given',
      (event: AnyEvent) => {
        (event as { input?: unknown }).input = 'changed';
      },
    ],
  ])('one that %s', async (_, listener) => {
    const w = world();
    w.session.events.on('*', listener as () => void);
    w.registry.events.on('*', listener as () => void);
    expect(outcome(await w.run(() => 'done'))).toBe('done');
    await turns();
    expect(w.warnings.length).toBeGreaterThan(0);
    expect(new Set(w.warnings)).toEqual(new Set(['an event listener failed']));
    await w.settle();
  });

  test.each([undefined, null, 5, {}])(
    'one that is no function throws where it is given: %j',
    (listener) => {
      const { session, registry } = world();
      for (const { events } of [session, registry])
        expect(() => events.on('tool:pre', listener as never)).toThrow(
          expect.objectContaining({ name: 'MisuseError', code: 'invalid_option' }),
        );
    },
  );

  test('one that fails is reported once an event, with its stack', async () => {
    const told: object[] = [];
    const w = world({}, { logger: { warn: () => {}, error: (data) => void told.push(data) } });
    const thrown = new RangeError('no');
    w.session.events.on('tool:pre', () => {
      throw thrown;
    });
    await w.run(() => 1);
    expect(told).toEqual([{ err: thrown, event: 'tool:pre', source: 'listener' }]);
  });

  test('events of a call come in order, also when a listener causes further calls', async () => {
    const w = world();
    const seen: string[] = [];
    w.add(
      tool(() => 1, { name: 'a' }),
      tool(() => 1, { name: 'b' }),
    );
    w.session.events.on(
      'tool:pre',
      ({ toolName }) => void (toolName === 'a' && w.session.call('b')),
    );
    w.session.events.on(
      '*',
      (event) => void ('toolName' in event && seen.push(`${event.type} ${event.toolName}`)),
    );
    await w.session.call('a');
    await turns();
    for (const name of ['a', 'b'])
      expect(seen.indexOf(`tool:pre ${name}`)).toBeLessThan(seen.indexOf(`tool:post ${name}`));
    const seqs = w.events
      .filter((event) => 'seq' in event)
      .map((event) => (event as { seq: number }).seq);
    expect(new Set(seqs).size).toBe(seqs.length);
  });

  test('unsubscribing twice removes no other listener', async () => {
    const w = world();
    const other = vi.fn();
    const listener = vi.fn();
    const off = w.session.events.on('tool:post', listener);
    w.session.events.on('tool:post', other);
    off();
    off();
    await w.run(() => 1);
    expect([listener.mock.calls.length, other.mock.calls.length]).toEqual([0, 1]);
  });
});

describe('rule 15: before hooks', () => {
  const withHook = async (
    hook: Hook['before'],
    input: unknown = { x: 1 },
  ): Promise<{ result: unknown; ran: unknown[] }> => {
    const ran: unknown[] = [];
    const w = world({ hooks: [{ before: hook as never }] });
    w.add(tool((given: never) => void ran.push(given), { name: 'a' }));
    const { error, success } = await w.session.call('a', input);
    return { result: success ? 'ran' : [error.code, error.reason, error.source], ran };
  };

  test.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('no');
      },
    ],
    ['answers nonsense', () => 'yes'],
    ['answers an unknown action', () => ({ action: 'allow' })],
    ['denies without a reason', () => ({ action: 'deny' })],
    ['denies with a reason that is none', () => ({ action: 'deny', reason: 'Not Now' })],
    ['modifies to what is no object', () => ({ action: 'modify', input: [1] })],
    ['modifies to what is no JSON', () => ({ action: 'modify', input: { f: () => 1 } })],
    [
      'answers what cannot be read',
      async () =>
        Object.defineProperty({}, 'action', {
          get: () => {
            throw new Error('no');
          },
        }),
    ],
  ])('one that %s denies: `policy_error`', async (_, hook) => {
    expect(await withHook(hook as never)).toEqual({
      result: ['policy_error', 'hook_failed', 'hook'],
      ran: [],
    });
  });

  test('one that hangs denies after the policy timeout', async () => {
    vi.useFakeTimers();
    const called = withHook(() => new Promise(() => {}));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await called).toEqual({ result: ['policy_error', 'hook_failed', 'hook'], ran: [] });
    vi.useRealTimers();
  });

  test("a hook's deny is `policy_denied` with its reason, after a violation event", async () => {
    const w = world({
      hooks: [{ before: () => ({ action: 'deny', reason: 'not_now', message: 'Later.' }) }],
    });
    expect((await w.session.call('still_alive')).error).toMatchObject({
      code: 'policy_denied',
      reason: 'not_now',
      message: 'Later.',
      source: 'hook',
    });
    expect(w.events.map(({ type }) => type)).toEqual([
      'tool:pre',
      'policy:violation',
      'tool:error',
    ]);
  });

  test('a hook that returns nothing, or `continue`, lets the call continue', async () => {
    for (const hook of [() => undefined, () => ({ action: 'continue' }), async () => undefined])
      expect((await withHook(hook as never)).result).toBe('ran');
  });

  test('a modified input is validated, judged and run; the hook keeps no hold of it', async () => {
    const kept = { x: 2 };
    const { ran } = await withHook(() => {
      queueMicrotask(() => {
        kept.x = 3;
      });
      return { action: 'modify', input: kept };
    });
    expect(ran).toEqual([{ x: 2 }]);
    const w = world({ hooks: [{ before: () => ({ action: 'modify', input: { x: 'bad' } }) }] });
    w.add(
      tool(() => 1, {
        name: 'typed',
        parameters: { type: 'object', properties: { x: { type: 'number' } } },
      }),
    );
    expect(outcome(await w.session.call('typed', { x: 1 }))).toBe('invalid_input');
  });

  test(
    "an own __proto__ in a modified input is refused before a vendor's validator sees it, and " +
      'nothing is polluted',
    async () => {
      const handler = vi.fn();
      const w = world({
        hooks: [
          {
            before: () => ({
              action: 'modify',
              input: JSON.parse('{"x":1,"__proto__":{"polluted":true}}'),
            }),
          },
        ],
      });
      w.add(tool(handler, { name: 'typed', parameters: z.looseObject({ x: z.number() }) }));
      expect(await w.session.call('typed', { x: 1 })).toMatchObject({
        error: { code: 'invalid_input', reason: 'unsafe_key' },
      });
      expect(handler).not.toHaveBeenCalled();
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    },
  );

  test(
    'hooks see what those before them left, in the order in which they came; a removed one is ' +
      'gone',
    async () => {
      const w = world({
        hooks: [
          { before: ({ input }) => ({ action: 'modify', input: { ...input, first: true } }) },
        ],
      });
      const seen: unknown[] = [];
      const off = w.session.use({ before: ({ input }) => void seen.push(input) });
      await w.session.call('still_alive', { x: 1 });
      off();
      off();
      await w.session.call('still_alive', { x: 2 });
      expect(seen).toEqual([{ x: 1, first: true }]);
    },
  );
});
