/**
 * Resource keys hold wherever calls come from: groups, batches that overlap, direct calls, and with
 * `locks: "registry"` other sessions.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  HostToolRegistry,
  type RegistryOptions,
  type ToolCall,
  type ToolSession,
} from '../../../src/index.ts';
import { gate, outcome, tool, turns, type World, world } from '../call/world.ts';

const call = (id: string, name: string, args?: unknown): ToolCall => ({
  id,
  name,
  arguments: args,
});
const byFile = { parallelSafe: true, resourceKey: ({ file }: { file: string }) => file };

/** A tool that locks its `file`, and stays inside until its `id` is let go. */
function doors(): {
  readonly inside: string[];
  readonly went: string[];
  readonly made: ReturnType<typeof tool>;
  open(id: string): Promise<void>;
} {
  const gates = new Map<string, ReturnType<typeof gate<void>>>();
  const inside: string[] = [];
  const went: string[] = [];
  const gateOf = (id: string): ReturnType<typeof gate<void>> => {
    const known = gates.get(id) ?? gate<void>();
    gates.set(id, known);
    return known;
  };
  const made = tool(
    async ({ id }: { id: string }) => {
      inside.push(id);
      await gateOf(id).promise;
      inside.splice(inside.indexOf(id), 1);
      went.push(id);
      return id;
    },
    { name: 'edit', ...byFile },
  );
  return {
    inside,
    went,
    made,
    open: async (id) => {
      gateOf(id).open();
      await turns(40);
    },
  };
}

const edit = (id: string, file: string): ToolCall => call(id, 'edit', { id, file });

describe('inside one session', () => {
  const start = (): World & ReturnType<typeof doors> => {
    const w = world();
    const room = doors();
    w.add(room.made);
    return { ...w, ...room };
  };

  test("a call's own key holds too: in its batch, over batches and for a direct call", async () => {
    const w = start();
    const one = w.session.executeBatch([{ ...edit('1', 'x'), resourceKey: 'mine' }]);
    const two = w.session.executeBatch([
      { ...edit('2', 'y'), resourceKey: 'mine' },
      edit('3', 'q'),
    ]);
    const direct = w.session.call('edit', { id: '4', file: 'z' }, { resourceKey: 'mine' });
    await turns(40);
    expect(w.inside).toEqual(['1', '3']);
    await w.open('1');
    expect(w.inside).toEqual(['3', '2']);
    await w.open('2');
    await w.open('3');
    await w.open('4');
    expect(
      [(await one).results, (await two).results].flat().every(({ result }) => result.success) &&
        (await direct).success,
    ).toBe(true);
    expect(w.went).toEqual(['1', '2', '3', '4']);
    // The tool's key is not left out: `5` waits for `6`, which holds the file.
    const six = w.session.call('edit', { id: '6', file: 'w' });
    const five = w.session.executeBatch([{ ...edit('5', 'w'), resourceKey: 'other' }]);
    await turns(40);
    expect(w.inside).toEqual(['6']);
    await w.open('6');
    await w.open('5');
    expect((await six).success && (await five).results[0]?.result.success).toBe(true);
    expect(
      await w.session.call('edit', { id: '7', file: 'z' }, { resourceKey: 1 as never }),
    ).toMatchObject({
      error: { code: 'invalid_input', reason: 'invalid_option' },
    });
  });

  test("a call's own key locks a tool without a key, slots and limits", async () => {
    let inside = 0;
    let most = 0;
    const free = tool(
      async () => {
        most = Math.max(most, ++inside);
        await turns(5);
        inside--;
      },
      { name: 'free', parallelSafe: true },
    );
    const registry = new HostToolRegistry();
    registry.register(free);
    const session = registry.createSession({ sessionId: 'free' });
    const direct = ['1', '2'].map(() => session.call('free', {}, { resourceKey: 'mine' }));
    const batches = ['a', 'b'].map((id) =>
      session.executeBatch([{ ...call(id, 'free', {}), resourceKey: 'mine' }]),
    );
    await Promise.all([...direct, ...batches]);
    expect(most).toBe(1);
    await Promise.all(['1', '2'].map((resourceKey) => session.call('free', {}, { resourceKey })));
    expect(most).toBe(2);
  });

  test('a key that one batch holds delays only the same key in another batch', async () => {
    const w = start();
    const one = w.session.executeBatch([edit('1x', 'x'), edit('1y', 'y')]);
    const two = w.session.executeBatch([edit('2x', 'x'), edit('2z', 'z')]);
    await turns(40);
    expect(w.inside).toEqual(['1x', '1y', '2z']);
    await w.open('1y');
    expect(w.inside).toEqual(['1x', '2z']);
    await w.open('1x');
    expect(w.inside).toEqual(['2z', '2x']);
    await w.open('2z');
    await w.open('2x');
    expect((await one).results.map(({ result }) => outcome(result))).toEqual(['1x', '1y']);
    expect((await two).results.map(({ result }) => outcome(result))).toEqual(['2x', '2z']);
    await w.settle();
  });

  test('three batches get one key in the order in which they came', async () => {
    const w = start();
    const all = ['1', '2', '3'].map((id) => w.session.executeBatch([edit(id, 'x')]));
    for (const id of ['1', '2', '3']) {
      await turns(40);
      expect(w.inside).toEqual([id]);
      await w.open(id);
    }
    await Promise.all(all);
    expect(w.went).toEqual(['1', '2', '3']);
    await w.settle();
  });

  test('inside one batch a conflict is a barrier, in order', async () => {
    const w = start();
    const batch = w.session.executeBatch([
      edit('1', 'x'),
      edit('2', 'y'),
      edit('3', 'x'),
      edit('4', 'z'),
    ]);
    await turns(40);
    expect(w.inside).toEqual(['1', '2']);
    await w.open('1');
    // The whole group has to end, also what has another key.
    expect(w.inside).toEqual(['2']);
    await w.open('2');
    expect(w.inside).toEqual(['3', '4']);
    await w.open('3');
    await w.open('4');
    expect((await batch).plan.groups).toEqual([
      ['1', '2'],
      ['3', '4'],
    ]);
    await w.settle();
  });

  test('a direct call waits for a batch, and a batch for a direct call', async () => {
    const w = start();
    const batch = w.session.executeBatch([edit('1', 'x')]);
    const direct = w.session.call('edit', { id: '2', file: 'x' });
    const last = w.session.executeBatch([edit('3', 'x')]);
    await turns(40);
    expect(w.inside).toEqual(['1']);
    await w.open('1');
    expect(w.inside).toEqual(['2']);
    await w.open('2');
    expect(w.inside).toEqual(['3']);
    await w.open('3');
    await Promise.all([batch, direct, last]);
    await w.settle();
  });

  test('one key of two tools is one lock', async () => {
    const w = start();
    w.add(tool(() => 'read', { name: 'read', parallelSafe: true, resourceKey: 'x' }));
    const batch = w.session.executeBatch([edit('1', 'x')]);
    const other = w.session.executeBatch([call('2', 'read')]);
    await turns(40);
    expect(w.inside).toEqual(['1']);
    let read = false;
    void other.then(() => {
      read = true;
    });
    await turns(40);
    expect(read).toBe(false);
    await w.open('1');
    expect((await other).results.map(({ result }) => outcome(result))).toEqual(['read']);
    await batch;
    await w.settle();
  });

  test('the lock is of the final input: what a hook changes counts', async () => {
    const w = start();
    w.session.use({
      before: ({ callId, input }) =>
        callId === '2'
          ? { action: 'modify', input: { ...(input as object), file: 'x' } }
          : { action: 'continue' },
    });
    const one = w.session.executeBatch([edit('1', 'x')]);
    const two = w.session.executeBatch([edit('2', 'y')]);
    await turns(40);
    expect(w.inside).toEqual(['1']);
    await w.open('1');
    expect(w.inside).toEqual(['2']);
    await w.open('2');
    await Promise.all([one, two]);
    await w.settle();
  });

  test('a call that is aborted while it waits never runs, and gives up its place', async () => {
    const w = start();
    const controller = new AbortController();
    const one = w.session.executeBatch([edit('1', 'x')]);
    const two = w.session.executeBatch([edit('2', 'x')], { signal: controller.signal });
    const three = w.session.executeBatch([edit('3', 'x')]);
    await turns(40);
    controller.abort();
    expect((await two).results.map(({ result }) => outcome(result))).toEqual(['cancelled']);
    await w.open('1');
    expect(w.inside).toEqual(['3']);
    await w.open('3');
    await Promise.all([one, three]);
    expect(w.went).toEqual(['1', '3']);
    await w.settle();
  });

  test('a call that fails lets its key go', async () => {
    const w = start();
    w.add(
      tool(
        () => {
          throw new Error('x');
        },
        { name: 'fails', ...byFile },
      ),
    );
    const [one, two] = await Promise.all([
      w.session.executeBatch([call('1', 'fails', { file: 'x' })]),
      w.session.executeBatch([call('2', 'fails', { file: 'x' })]),
    ]);
    expect([...one.results, ...two.results].map(({ result }) => outcome(result))).toEqual([
      'handler_error',
      'handler_error',
    ]);
    await w.settle();
  });

  test.each(['', '__proto__', 'constructor', 'x'.repeat(10_000)])(
    'any text is a key: %j',
    async (key) => {
      const w = start();
      const one = w.session.executeBatch([edit('1', key)]);
      const two = w.session.executeBatch([edit('2', key)]);
      await turns(40);
      expect(w.inside).toEqual(['1']);
      await w.open('1');
      await w.open('2');
      await Promise.all([one, two]);
      expect(w.session.plan([edit('1', key), edit('2', key)]).groups).toEqual([['1'], ['2']]);
      await w.settle();
    },
  );
});

describe('over sessions', () => {
  const start = (
    options: RegistryOptions,
  ): { readonly one: ToolSession; readonly two: ToolSession } & ReturnType<typeof doors> => {
    const registry = new HostToolRegistry(options);
    const room = doors();
    registry.register(room.made);
    return {
      one: registry.createSession({ sessionId: 'one' }),
      two: registry.createSession({ sessionId: 'two' }),
      ...room,
    };
  };

  test.each([
    ['by default', {}],
    ['with `locks: "session"`', { locks: 'session' }],
  ] as const)(
    '%s two sessions hold one key at once: handlers that wait for one another both come through',
    async (_, options) => {
      const { one, two, inside, open } = start(options);
      const both = [one.executeBatch([edit('1', 'x')]), two.executeBatch([edit('2', 'x')])];
      await turns(40);
      expect(inside).toEqual(['1', '2']);
      await open('1');
      await open('2');
      expect(
        (await Promise.all(both)).flatMap(({ results }) =>
          results.map(({ result }) => outcome(result)),
        ),
      ).toEqual(['1', '2']);
    },
  );

  test('with `locks: "registry"` a key is held over all its sessions', async () => {
    const { one, two, inside, open } = start({ locks: 'registry' });
    const both = [
      one.executeBatch([edit('1', 'x'), edit('1y', 'y')]),
      two.executeBatch([edit('2', 'x'), edit('2z', 'z')]),
    ];
    await turns(40);
    expect(inside).toEqual(['1', '1y', '2z']);
    await open('1');
    expect(inside).toEqual(['1y', '2z', '2']);
    for (const id of ['1y', '2z', '2']) await open(id);
    await Promise.all(both);
  });

  test('a closing session releases its locks, and its waiting calls do not run', async () => {
    const { one, two, inside, went, open } = start({ locks: 'registry' });
    const batches = [
      two.executeBatch([edit('2', 'x')]),
      one.executeBatch([edit('1', 'x')]),
    ] as const;
    await turns(40);
    void one.close();
    expect((await batches[1]).results.map(({ result }) => outcome(result))).toEqual([
      'session_closed',
    ]);
    await open('2');
    await batches[0];
    expect(inside).toEqual([]);
    expect(went).toEqual(['2']);
  });

  test('property: calls with the same key never overlap, in any batches and sessions', async () => {
    const files = fc.array(fc.constantFrom('x', 'y', 'z'), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('session', 'registry'),
        fc.array(fc.tuple(fc.boolean(), files), { maxLength: 5 }),
        async (locks, batches) => {
          const registry = new HostToolRegistry({ locks });
          const running = new Set<string>();
          let clashes = 0;
          registry.register(
            tool(
              async ({ file }: { file: string }, { sessionId }: { sessionId: string }) => {
                const key = locks === 'session' ? `${sessionId} ${file}` : file;
                if (running.has(key)) clashes++;
                running.add(key);
                await turns(3);
                running.delete(key);
              },
              { name: 'edit', ...byFile } as never,
            ),
          );
          const sessions = [
            registry.createSession({ sessionId: 'one' }),
            registry.createSession({ sessionId: 'two' }),
          ] as const;
          const answers = await Promise.all(
            batches.map(([second, names], batch) =>
              sessions[second ? 1 : 0].executeBatch(
                names.map((file, index) => edit(`${batch}/${index}`, file)),
              ),
            ),
          );
          expect(
            answers.flatMap(({ results }) => results).every(({ result }) => result.success),
          ).toBe(true);
          expect(clashes).toBe(0);
        },
      ),
      { numRuns: 50 },
    );
  });
});
